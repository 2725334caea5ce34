"""One generation of a dataset: its manifest, its shards and its statistics, each opened on first use.

A generation never changes: refresh() moves on to a newer one.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from ragfile.errors import CorruptError, FormatError
from ragfile.file.row_segment import RowSegment
from ragfile.ground.urls import is_remote
from ragfile.shards import dataset_commit
from ragfile.shards import manifest as manifests
from ragfile.shards.manifest import sha256
from ragfile.shards.messages import ShardFailure
from ragfile.shards.query_plan import LITTLE, UNSIGNED, window_of
from ragfile.shards.shards import opened
from ragfile.shards.statistics import Whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.search.question import Notes
    from ragfile.shards.shards import Shard
    from ragfile.shards.stores import Store


class DatasetSnapshot:
    """One generation of a dataset."""

    def __init__(
        self, store: Store, *, generation: int = 0, cache: str | None = None,
        trusted: Sequence[str] | None = None, allow_partial: bool = False,
    ) -> None:  # fmt: skip
        raw, number = dataset_commit.raw(store, generation)
        self.store, self.cache, self.hash = store, cache, sha256(raw)
        self.allow_partial = allow_partial
        self.contents: dict[str, str] | None = None  # digests by path, if trusted keys are given
        if trusted is not None:
            self.contents = self._signed(number, trusted)
        name = manifests.name_of(number)
        self.manifest = manifests.parse(raw, f"{store.root}: {name}", number)
        self.path, self.bases = store.root, self.manifest.bases
        self.is_far = is_remote(store.root)
        shards = self.manifest.shards
        self.urls = [store.url(shard.path) for shard in shards]
        self.windows = [window_of(shard) for shard in shards] if self.is_far else []
        self._segments: dict[int, list[RowSegment]] = {}

    def _signed(self, generation: int, trusted: Sequence[str]) -> dict[str, str]:
        """Return the digests that a trusted key signed; raise SignatureError if there are none."""
        from ragfile.ground.signing_keys import PublicKey
        from ragfile.shards import dataset_signatures

        keys = [PublicKey.of(key) for key in trusted]
        return dataset_signatures.required(self.store, self.hash, generation, keys, self.store.root)

    def content(self, path: str) -> str:
        """Return the digest that an object must have, "" without trusted keys."""
        return "" if self.contents is None else self.contents.get(path, UNSIGNED)

    def number(self, row: int) -> int:
        """Return the number of the shard that has a row."""
        return bisect.bisect_right(self.bases, row) - 1

    def note(self, failure: ShardFailure, notes: Notes | None) -> None:
        """Note that a shard failed; raise its error unless allow_partial is set."""
        if not self.allow_partial:
            raise failure.error
        if notes is not None:
            notes.failed[failure.shard] = failure.reason

    def shards(self) -> list[Shard | None]:
        """Return all shards, open; None for a missing one if allow_partial is set."""
        return [self.shard(number) for number in range(len(self.urls))]

    def shard(self, number: int, notes: Notes | None = None) -> Shard | None:
        """Return an open shard; None for a missing one if allow_partial is set."""
        record = self.manifest.shards[number]
        try:
            window = self.windows[number] if self.windows else 0
            shard = opened(self.urls[number], self.cache, self.content(record.path), window)
            shard.check_identity(record.identity, record.rows)
            return shard
        except (OSError, FormatError) as error:
            name = record.path.rpartition("/")[2]
            self.note(ShardFailure(number, f"{name}: {error}", error), notes)
            return None

    def segments_of(self, number: int, notes: Notes | None = None) -> list[RowSegment]:
        """Return the segments of a shard, with row numbers of the dataset; none of a missing one."""
        found = self._segments.get(number)
        if found is None and (shard := self.shard(number, notes)) is not None:
            base = self.bases[number]
            found = list[RowSegment]()
            snapshot = shard.rows.snapshot
            for record, segment in zip(snapshot.reader.segments, snapshot.segments, strict=True):
                one = RowSegment(snapshot.reader, record, base + segment.base)
                one.metric, one.room = segment.metric, segment.room
                found.append(one)
            self._segments[number] = found
        return found or []

    def whole(self) -> Whole:
        """Open the statistics of the dataset."""
        stored = self.manifest.statistics
        assert stored is not None
        url, content = self.store.url(stored.path), self.content(stored.path)
        window = stored.bytes if self.is_far and stored.bytes <= LITTLE else 0
        found = Whole(url, self.cache, content, window)
        if found.frequencies is not None and found.stats.rows != self.manifest.live:
            raise CorruptError(f"{self.path}: {stored.path} is of another generation")
        return found
