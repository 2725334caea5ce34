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
    from ragfile.shards.verification import Fault
    from ragfile.types import PairStrategy, SectionEntry


class DatasetContainer:
    """The sections of one generation. Its members match those of a file's container."""

    __slots__ = ("_rows", "_snapshot", "path")

    def __init__(self, rows: DatasetRows) -> None:
        self._rows, self._snapshot, self.path = rows, rows.snapshot, rows.path

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of the dataset."""
        return self._rows.config

    @property
    def has_lost_commit(self) -> bool:
        """False: a manifest is written as a whole."""
        return False

    @property
    def stale_records(self) -> list[dict[str, Any]]:
        """The stale records of all shards."""
        numbers = [
            number
            for number, shard in enumerate(self._snapshot.manifest.shards)
            if any(entry[0] == "rag.stale" for entry in shard.sections)
        ]
        shards = (self._snapshot.shard(number) for number in numbers)
        return [e for shard in shards if shard is not None for e in shard.rows.file.stale_records]

    @property
    def compaction(self) -> str:
        """The reason to compact, or ""."""
        dead = sum(shard.deletions for shard in self._snapshot.manifest.shards)
        return f"{dead:,} rows are deleted" if dead > self._rows.count // 4 else ""

    @property
    def strategies(self) -> list[str]:
        """The names of the sections of the shards."""
        shards = self._snapshot.manifest.shards
        return list(dict.fromkeys(entry[0] for shard in shards for entry in shard.sections))

    @property
    def signatures(self) -> list[Signature]:
        """The signatures of this generation, unchecked: `trusted=` of open() checks them."""
        from ragfile.shards.dataset_signatures import signatures_of

        return signatures_of(self._snapshot.store, self._snapshot.hash, self._rows.generation)

    @property
    def entries(self) -> list[SectionEntry]:
        """The sections of all shards. `segment` is the number of the shard, from 1; `at` is an offset in it."""
        found: list[SectionEntry] = []
        for number, shard in enumerate(self._snapshot.shards(), 1):
            if shard is not None:
                for entry in shard.rows.file.entries:
                    numbered: SectionEntry = {**entry, "segment": number}
                    found.append(numbered)
        return found

    def section(self, name: str, segment: int | None = None) -> _core.Section | None:
        """Return the section of a shard, by the number in `entries`; by default, the first of that name."""
        shards = range(len(self._snapshot.urls)) if segment is None else [segment - 1]
        opened = (self._snapshot.shard(number) for number in shards)
        found = (shard.rows.file.section(name) for shard in opened if shard is not None)
        return next((section for section in found if section is not None), None)

    @property
    def footer(self) -> tuple[int, int]:
        """Raise ValueError: only shards have footers."""
        raise ValueError(f"{self.path} is a dataset: open a shard for its footer")

    @property
    def reader(self) -> _core.Reader:
        """Raise ValueError: only shards have readers."""
        raise ValueError(f"{self.path} is a dataset: open a shard for its reader")

    def raw(self, at: int, size: int) -> bytes:
        """Raise ValueError: only shards have bytes."""
        raise ValueError(f"{self.path} is a dataset: open a shard for its bytes")

    def rows_in(self, start: int, end: int) -> list[int]:
        """Return the live rows from start to end, by row number: a dataset has no byte offsets."""
        rows = self._rows.live_rows()
        found: list[int] = rows[(rows >= start) & (rows < end)].tolist()
        return found

    def pairs(self, name: PairStrategy) -> Iterator[tuple[Any, str]]:
        """Yield (vector, reference) or (reference, text) of each pair, shard by shard."""
        for shard in self._snapshot.shards():
            if shard is not None:
                yield from shard.rows.file.pairs(name)

    def lookup(self, keyword: str) -> list[str]:
        """Return the texts of all `keyword` pairs with this key."""
        shards = (shard for shard in self._snapshot.shards() if shard is not None)
        return [text for shard in shards for text in shard.rows.file.lookup(keyword)]

    def verify(self, full: bool = True) -> tuple[list[Fault], dict[str, int]]:
        """Check all shards and statistics. Return (faults, counts)."""
        from ragfile.shards.verification import verify

        return verify(self.path, generation=self._rows.generation)

    @property
    def info(self) -> dict[str, Any]:
        """A summary of the dataset. Only shards with stale documents are opened."""
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
