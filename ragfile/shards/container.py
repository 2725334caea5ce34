"""A dataset as a container: the sections of its shards, signatures and sizes. `rf.file` of a dataset is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragfile.file.container import signature_fact
from ragfile.shards.manifest import sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile import _core
    from ragfile.file.signatures import Signature
    from ragfile.shards.dataset_rows import DatasetRows
    from ragfile.types import PairStrategy


class DatasetContainer:
    """The sections of one generation. Members are those of a file's container, as far as a dataset has them."""

    __slots__ = ("_rows", "_snapshot", "path")

    def __init__(self, rows: DatasetRows) -> None:
        self._rows, self._snapshot, self.path = rows, rows.snapshot, rows.path

    @property
    def config(self) -> dict[str, Any]:
        """What the dataset records of how it was made."""
        return self._rows.config

    @property
    def has_lost_commit(self) -> bool:
        """Never: a manifest is there as a whole, or not."""
        return False

    @property
    def stale_records(self) -> list[dict[str, Any]]:
        """Those of all shards."""
        numbers = [
            number
            for number, shard in enumerate(self._snapshot.manifest.shards)
            if any(entry[0] == "rag.stale" for entry in shard.sections)
        ]
        shards = (self._snapshot.shard(number) for number in numbers)
        return [e for shard in shards if shard is not None for e in shard.rows.file.stale_records]

    @property
    def compaction(self) -> str:
        """Why compaction would pay, or ""."""
        dead = sum(shard.deletions for shard in self._snapshot.manifest.shards)
        return f"{dead:,} rows are deleted" if dead > self._rows.count // 4 else ""

    @property
    def strategies(self) -> list[str]:
        """Names of the sections of the shards."""
        shards = self._snapshot.manifest.shards
        return list(dict.fromkeys(entry[0] for shard in shards for entry in shard.sections))

    @property
    def signatures(self) -> list[Signature]:
        """The signatures of this generation, unchecked: `trusted=` of open() checks them."""
        from ragfile.shards.dataset_signatures import signatures_of

        return signatures_of(self._snapshot.store, self._snapshot.hash, self._rows.generation)

    @property
    def entries(self) -> list[Any]:
        """The sections of all shards; each one's `at` counts in its shard, whose number from 1 is in `segment`."""
        found = []
        for number, shard in enumerate(self._snapshot.shards(), 1):
            if shard is not None:
                found += [{**entry, "segment": number} for entry in shard.rows.file.entries]
        return found

    def section(self, name: str, segment: int | None = None) -> _core.Section | None:
        """Return a section of a shard, by the number that `entries` gives it; else the first of that name."""
        shards = range(len(self._snapshot.urls)) if segment is None else [segment - 1]
        opened = (self._snapshot.shard(number) for number in shards)
        found = (shard.rows.file.section(name) for shard in opened if shard is not None)
        return next((section for section in found if section is not None), None)

    @property
    def footer(self) -> tuple[int, int]:
        """A dataset has none; its shards do."""
        raise ValueError(f"{self.path} is a dataset: its shards have footers")

    @property
    def reader(self) -> _core.Reader:
        """A dataset has none; its shards do."""
        raise ValueError(f"{self.path} is a dataset: its shards have readers")

    def raw(self, at: int, size: int) -> bytes:
        """A dataset is many files: open a shard for its bytes."""
        raise ValueError(f"{self.path} is a dataset: its bytes are those of its shards")

    def rows_in(self, start: int, end: int) -> list[int]:
        """Return the live rows that start and end divide by row number: a dataset has no bytes of its own."""
        rows = self._rows.live_rows()
        return rows[(rows >= start) & (rows < end)].tolist()

    def pairs(self, name: PairStrategy) -> Iterator[tuple[Any, str]]:
        """Yield (vector, reference) or (reference, text) of each pair, shard by shard."""
        for shard in self._snapshot.shards():
            if shard is not None:
                yield from shard.rows.file.pairs(name)

    def lookup(self, keyword: str) -> list[str]:
        """Return the texts of all `keyword` pairs with this key."""
        shards = (shard for shard in self._snapshot.shards() if shard is not None)
        return [text for shard in shards for text in shard.rows.file.lookup(keyword)]

    def verify(self, full: bool = True) -> Any:
        """Check all shards and statistics. Return (faults, counts)."""
        from ragfile.shards.verification import verify

        return verify(self.path, generation=self._rows.generation)

    @property
    def info(self) -> dict[str, Any]:
        """The dataset at a glance. Only shards with stale documents are opened."""
        rows, manifest, config = self._rows, self._snapshot.manifest, self._rows.config
        return {
            "path": self.path, "format": "dataset 1.0", "size": sum(s.bytes for s in manifest.shards),
            "generation": rows.generation, "created": manifest.created, "message": manifest.message,
            "chunks": rows.live, "deleted": rows.count - rows.live, "shards": len(manifest.shards),
            "documents": sum(shard.documents for shard in manifest.shards), "dim": rows.dim,
            "metric": config.get("metric"), "model": config.get("model"), "strategies": self.strategies,
            "assignment": manifest.assignment.get("by"), "compaction": self.compaction,
            "identity": sha256(manifest.dump())[:16], "segments": len(manifest.shards),
            "read_only": bool(manifest.writer_flags), "tail": 0, "recovered": False,
            "lost_generation": 0, "stale": sum(len(e["documents"]) for e in self.stale_records),
            "signatures": [signature_fact(signature) for signature in self.signatures],
        }  # fmt: skip
