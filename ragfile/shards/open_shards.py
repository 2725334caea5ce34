"""An open dataset: its manifest, its shards that are opened when they are first needed, and what is in them.

Rows count through the shards in the order of the manifest. A generation never changes: refresh() goes on to a newer one.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

import numpy as np

from ragfile.errors import CorruptError, FormatError
from ragfile.file import exact
from ragfile.file.description import signature_fact
from ragfile.file.open_file import Closed
from ragfile.file.row_reader import RowPlace
from ragfile.file.row_segment import RowSegment, StoredDocument
from ragfile.ground.urls import is_remote
from ragfile.knowledge_base import KnowledgeBase
from ragfile.shards import manifest as manifests
from ragfile.shards import new_generation
from ragfile.shards.executors import executor_of
from ragfile.shards.manifest import sha256
from ragfile.shards.messages import (
    ShardFailure,
)
from ragfile.shards.query_plan import LITTLE, UNSIGNED, window_of
from ragfile.shards.shards import opened
from ragfile.shards.statistics import Whole
from ragfile.shards.stores import place

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ragfile.embedding.protocol import Embedder
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.shards.manifest import Manifest, ShardRecord
    from ragfile.types import (
        StrPath,
    )


class OpenDataset(KnowledgeBase):
    """One generation of a dataset, seen as the segments of one file."""

    manifest: Manifest
    has_filters_apart = True  # its files have no rows in common

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None, generation: int = 0,
        strict: bool = False, embedding_cache: StrPath | bool | None = None, offline: bool = False,
        cache: StrPath | None = None, executor: Any = None, allow_partial: bool = False,
        workers: int | None = None, trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    ) -> None:  # fmt: skip
        self.store = place(path)
        self._cache_folder = None if cache is None else str(cache)
        self._executor, self._allow_partial = executor_of(executor, workers), allow_partial
        self._failures: dict[int, ShardFailure] = {}
        self._skips: list[int] = []
        super().__init__(
            self.store.root, embedder=embedder, generation=generation, strict=strict,
            embedding_cache=embedding_cache, offline=offline, trusted=trusted,
        )  # fmt: skip
        self._options: dict[str, Any] = {
            "generation": generation, "strict": strict, "embedder": embedder,
            "embedding_cache": embedding_cache, "offline": offline, "cache": cache,
            "executor": executor, "allow_partial": allow_partial, "workers": workers,
            "trusted": self._options["trusted"],
        }  # fmt: skip

    def _open(self):
        raw, generation = new_generation.raw(self.store, self._options["generation"])
        self._contents, self._hash = None, sha256(raw)
        if self._options["trusted"] is not None:
            self._contents = self._signed_contents(generation)
        name = manifests.name_of(generation)
        self._read_manifest(manifests.parse(raw, f"{self.store.root}: {name}", generation))
        super()._open()

    def _signed_contents(self, generation):
        """What a trusted key says of the generation's objects; or it is refused."""
        from ragfile.ground.signing_keys import PublicKey
        from ragfile.shards import dataset_signatures

        keys = [PublicKey.of(key) for key in self._options["trusted"]]
        return dataset_signatures.required(
            self.store, self._hash, generation, keys, self.store.root
        )

    def _content(self, path):
        """What an object must contain, "" where everything is good."""
        return "" if self._contents is None else self._contents.get(path, UNSIGNED)

    def _read_manifest(self, manifest):
        self.manifest, self.rows = manifest, manifest.bases[-1]
        self._bases, self._is_shut = manifest.bases, False
        is_far = is_remote(self.store.root)
        self._windows = [window_of(shard) for shard in manifest.shards] if is_far else []

    def _mapped(self) -> Any:
        return None

    def _identity(self) -> Any:
        return ()

    def _reader_of(self, generation: int) -> Any:
        return None

    def _read(self, reader: Any) -> None:
        """In the place of a file's table there is the manifest."""
        self._config: Any = self.manifest.config
        self._made: dict[Any, Any] = {}

    def _pinned(self):
        if self._is_shut:
            raise ValueError(f"{self.path} is closed")
        view = super()._pinned()
        view._failures, view._skips = {}, []
        return view

    def _is_untouched(self):
        return True

    def check_unchanged(self):
        """Objects of a dataset never change."""

    def close(self) -> None:
        self._executor.close()
        super().close()
        self._is_shut = True

    @property
    def _is_closed(self):
        return self._is_shut

    def refresh(self) -> bool:
        """Goes on to the newest generation; True when there was a newer one."""
        if self._is_closed:
            raise ValueError(f"{self.path} is closed")
        if self._options["generation"]:
            return False
        name = self.store.newest(manifests.FOLDER)
        with self._swap:
            if (manifests.generation_of(name or "") or 0) <= self.manifest.generation:
                return False
        fresh = self._pinned()
        fresh._open()
        del fresh._is_pinned
        with self._swap:
            self.__dict__.update(fresh.__dict__)
        return True

    def _all_segments(self) -> Any:
        """The segments of all shards, as those of one file."""
        if self._is_shut:
            return Closed(self.path)
        found = self._made.get("segments")
        if found is None:
            numbers = range(len(self.manifest.shards))
            found = self._made["segments"] = [s for n in numbers for s in self.segments_of(n)]
        return found

    def _set_segments(self, value: Any) -> None:
        """A file's close() puts something in their place."""

    segments: Any = property(_all_segments, _set_segments)

    def segments_of(self, number) -> list[RowSegment]:
        """The segments of a shard, with the numbers that their rows have here; none of one that is missing."""
        found = self._made.get(number)
        if found is None and (shard := self._shard(number)) is not None:
            base, found = self._bases[number], []
            for record, segment in zip(shard.reader.segments, shard.segments, strict=True):
                one = RowSegment(shard.reader, record, base + segment.base)
                one.metric, one.room = segment.metric, segment.room
                found.append(one)
            self._made[number] = found
        return found or []

    def place(self, row: int) -> RowPlace:
        """Which segment has a row, and as what number; only its shard is opened."""
        if not 0 <= row < self.rows:
            raise IndexError(f"row {row} of {self.rows}")
        segments = self.segments_of(self._number(row))
        if not segments:
            raise IndexError(f"row {row} is in a shard that is missing")
        segment = segments[exact.place(segments, row)]
        return RowPlace(segment, int(row - segment.base))

    def find(self, doc_id: str) -> StoredDocument | None:
        """Where a live document lies. Only shards whose ids can include it are opened."""
        for number, shard in enumerate(self.manifest.shards):
            if not shard.first <= doc_id <= shard.last:
                continue
            found = (segment.find(doc_id) for segment in reversed(self.segments_of(number)))
            there = next((one for one in found if one is not None), None)
            if there is not None:
                return there
        return None

    def _shards(self):
        """All shards, open; None in the place of one that is missing, where that is allowed."""
        return [self._shard(number) for number in range(len(self.manifest.shards))]

    def _shard(self, number):
        record = self.manifest.shards[number]
        try:
            url, content = self.store.url(record.path), self._content(record.path)
            window = self._windows[number] if self._windows else 0
            shard = opened(url, self._cache_folder, content, window)
            shard.check_identity(record.identity, record.rows)
            return shard
        except (OSError, FormatError) as error:
            self._note(ShardFailure(number, f"{record.path.rpartition('/')[2]}: {error}", error))
            return None

    def shard_of(self, doc_id: str) -> ShardRecord | None:
        """The record of the shard in which a live document lies."""
        for number, shard in enumerate(self.manifest.shards):
            if shard.first <= doc_id <= shard.last:
                found = (segment.find(doc_id) for segment in self.segments_of(number))
                if any(there is not None for there in found):
                    return shard
        return None

    def __len__(self) -> int:
        return self.manifest.live

    def __repr__(self) -> str:
        if self._is_closed:
            return f"<Dataset {self.path}, closed>"
        shards = len(self.manifest.shards)
        return f"<Dataset {self.path}, {len(self):,} chunks in {shards:,} shards, generation {self.generation}>"

    @property
    def generation(self) -> int:
        """The number of the generation that is open."""
        return self.manifest.generation

    @property
    def has_lost_commit(self) -> bool:
        """Never: a manifest is there as a whole, or not."""
        return False

    @property
    def stale_records(self) -> list[dict[str, Any]]:
        numbers = [
            number
            for number, shard in enumerate(self.manifest.shards)
            if any(entry[0] == "rag.stale" for entry in shard.sections)
        ]
        there = (self._shard(number) for number in numbers)
        return [entry for shard in there if shard is not None for entry in shard.stale_records]

    @property
    def compaction(self) -> str:
        """Why compaction would pay, or ""."""
        dead = sum(shard.deletions for shard in self.manifest.shards)
        return f"{dead:,} rows are deleted" if dead > self.rows // 4 else ""

    @property
    def info(self) -> dict[str, Any]:
        """The dataset at a glance. Only shards with stale documents are opened."""
        manifest, config = self.manifest, self.manifest.config
        names = dict.fromkeys(entry[0] for s in manifest.shards for entry in s.sections)
        return {
            "path": self.path, "format": "dataset 1.0", "size": sum(s.bytes for s in manifest.shards),
            "generation": self.generation, "created": manifest.created, "message": manifest.message,
            "chunks": len(self), "deleted": self.rows - len(self), "shards": len(manifest.shards),
            "documents": sum(shard.documents for shard in manifest.shards), "dim": self.dim,
            "metric": config.get("metric"), "model": config.get("model"), "strategies": list(names),
            "assignment": manifest.assignment.get("by"), "compaction": self.compaction,
            "identity": sha256(manifest.dump())[:16], "segments": len(manifest.shards),
            "read_only": bool(manifest.writer_flags), "tail": 0, "recovered": False,
            "lost_generation": 0, "stale": sum(len(e["documents"]) for e in self.stale_records),
            "signatures": [signature_fact(signature) for signature in self.signatures],
        }  # fmt: skip

    @property
    def entries(self) -> list[Any]:
        """The sections of all shards; each one's `at` counts in its shard, whose number from 1 is in `segment`."""
        found = []
        for number, shard in enumerate(self._shards(), 1):
            if shard is not None:
                found += [{**entry, "segment": number} for entry in shard.entries]
        return found

    @property
    def strategies(self) -> list[str]:
        """Names of the sections of the shards."""
        return self.info["strategies"]

    def section(self, name: str, segment: int | None = None) -> Any:
        """A section of a shard, by the number that `entries` gives it; else the first of that name."""
        numbers = range(len(self.manifest.shards)) if segment is None else [segment - 1]
        shards = (self._shard(number) for number in numbers)
        found = (shard.section(name) for shard in shards if shard is not None)
        return next((section for section in found if section is not None), None)

    @property
    def signatures(self) -> list[Any]:
        """Who signed this generation, as far as they say so: `trusted=` of open() checks it."""
        from ragfile.shards.dataset_signatures import signatures_of

        return signatures_of(self.store, self._hash, self.generation)

    @property
    def footer(self) -> tuple[int, int]:
        """A dataset has none; its shards do."""
        raise ValueError(f"{self.path} is a dataset: its shards have footers")

    def raw(self, at: int, size: int) -> bytes:
        """A dataset is many files: open a shard for its bytes."""
        raise ValueError(f"{self.path} is a dataset: its bytes are those of its shards")

    def rows_in(self, start: int, end: int) -> list[int]:
        """The live rows that start and end divide by row number: a dataset has no bytes of its own."""
        rows = self.live_rows()
        return rows[(rows >= start) & (rows < end)].tolist()

    def verify(self, full: bool = True) -> Any:
        """(faults, counts) of all shards and statistics."""
        from ragfile.shards.verification import verify

        return verify(self.store.root, generation=self.generation)

    @property
    def has_vectors(self) -> bool:
        return bool(len(self)) and self._has("vector")

    @property
    def has_bare_rows(self) -> bool:
        shards = [{entry[0] for entry in shard.sections} for shard in self.manifest.shards]
        with_vectors = sum("vector" in names for names in shards)
        return any("rag.bare" in names for names in shards) or 0 < with_vectors < len(shards)

    def vector_mask(self) -> Any:
        masks = [
            np.zeros(record.rows, bool) if shard is None else shard.vector_mask()
            for shard, record in zip(self._shards(), self.manifest.shards, strict=True)
        ]
        return np.concatenate(masks) if masks else np.empty(0, bool)

    @property
    def has_bm25(self) -> bool:
        return bool(len(self)) and self._has("rag.terms")

    def _has(self, name):
        return any(entry[0] == name for s in self.manifest.shards for entry in s.sections)

    @property
    def whole(self) -> Whole:
        """The statistics of the dataset."""
        found = self._made.get("whole")
        if found is None:
            stored = self.manifest.statistics
            assert stored is not None
            url, content = self.store.url(stored.path), self._content(stored.path)
            window = stored.bytes if self._windows and stored.bytes <= LITTLE else 0
            found = Whole(url, self._cache_folder, content, window)
            if found.frequencies is not None and found.stats.rows != len(self):
                raise CorruptError(f"{self.path}: {stored.path} is of another generation")
            self._made["whole"] = found
        return found

    def _note(self, failure):
        if not self._allow_partial:
            raise failure.error
        self._failures[failure.shard] = failure

    def _number(self, row):
        """Which shard has a row."""
        return bisect.bisect_right(self._bases, row) - 1
