"""A shard that is open in this process: a file that ranks with the statistics of the whole dataset.

Shards are named by their content, so an open one never becomes stale. The last few thousand stay open.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ragfile import _core
from ragfile.errors import CorruptError, SignatureError
from ragfile.file import exact_retrievers, filters, remote_prefetch, row_sets
from ragfile.file.row_sets import RowSet
from ragfile.file.snapshot import Snapshot
from ragfile.file.source import OpenBytes, decrypted, opened_map
from ragfile.ground.encryption_keys import KeyChoice, current_key
from ragfile.ground.fork_safe_lock import ForkSafeLock
from ragfile.ground.json_values import is_object
from ragfile.ground.lru import Lru
from ragfile.ground.urls import is_remote, shown
from ragfile.search.file_rows import FileRows
from ragfile.shards.stores import place

if TYPE_CHECKING:
    from ragfile.search.rows_protocol import Found
    from ragfile.shards.messages import Match, Score
    from ragfile.types import Float32s, Int64s, TagFilter

SEALS = "seals/"
OPEN = 4096  # shards that stay open in a process
ROOM = 1 << 20  # bytes of unpacked blocks that each stream of a shard caches
FILTERS = 4  # filters for which a shard caches the rows

_opened: dict[tuple[str, str], Shard] = {}  # oldest first
_swap = ForkSafeLock()
_opening: dict[tuple[str, str], ForkSafeLock] = {}


class ChosenRows(NamedTuple):
    """The rows that pass a filter, None for all, and the keys of the filter that no row has."""

    rows: RowSet | None
    unknown: list[str]


class ShardSource:
    """The bytes of a shard, which never change. `window` bytes at the end of a remote shard are fetched first."""

    __slots__ = ("_cache", "_key", "_window", "path", "url")
    format, is_watched = "1.0", False

    def __init__(self, url: str, cache: str | None = None, window: int = 0) -> None:
        self.url, self._cache, self._window = url, cache, window
        self._key: KeyChoice = current_key()
        self.path = shown(url) if is_remote(url) else url

    def open(self) -> OpenBytes:
        if not is_remote(self.url):
            found = opened_map(self.url, self._key)
            return OpenBytes(found, (), len(found))
        from ragfile.net.fetcher import WINDOW, mapped

        far = decrypted(mapped(self.url, self._cache, window=self._window or WINDOW), self._key)
        return OpenBytes(far, (), len(far), far.fetcher)

    def identity(self, opened: OpenBytes) -> tuple[object, ...]:
        return ()

    def is_same_file(self, opened: OpenBytes, other: OpenBytes) -> bool:
        return True

    def stat(self) -> None:
        """Return None: a shard never changes."""
        return


class Shard:
    """An open shard; its rows count from 0."""

    def __init__(
        self, url: str, cache: str | None = None, content: str = "", window: int = 0
    ) -> None:
        self._url, self._cache, self._content, self._window = url, cache, content, window
        source = ShardSource(url, cache, window)
        opened = source.open()
        reader = _core.Reader(opened.map)
        if content:
            self._trust(reader, source.path)
        # The dataset warns of unknown keys: another shard may have a key that this one lacks.
        self.rows = FileRows(Snapshot(source, opened, reader), warns=False)
        for segment in self.rows.segments:
            segment.room = ROOM
        self._identity = f"{self.rows.snapshot.commit['identity']:016x}"
        self._filters: Lru[str, ChosenRows] = Lru(FILTERS)

    def __reduce__(self) -> tuple[object, ...]:
        return opened, (self._url, self._cache, self._content, self._window)

    def _trust(self, reader: _core.Reader, path: str) -> None:
        """Check the content's digest now; blocks are checked when they are first read."""
        from ragfile.file.signatures import Content

        root, kind, name = re.split(r"[/\\](?=[^/\\]+[/\\][^/\\]+$|[^/\\]+$)", self._url)
        content, refused = (
            Content(reader),
            f"{path}: differs from the signed content, or its seal does",
        )
        try:
            seal = place(root).read(seal_name(f"{kind}/{name}"))
            digest = content.digest(seal)
        except (FileNotFoundError, ValueError):
            raise SignatureError(refused) from None
        if digest != self._content:
            raise SignatureError(refused)
        for entry, leaves in zip(content.entries, content.split(seal), strict=True):
            reader.seal(entry["name"], entry["segment"], leaves)

    def check_identity(self, identity: str, rows: int) -> None:
        """Raise CorruptError unless this is the file that the manifest lists."""
        if self._identity != identity or self.rows.count != rows:
            raise CorruptError(f"{self.rows.path}: not the shard that the manifest lists")

    def chosen(
        self,
        where: object,
        tags_any: TagFilter,
        tags_all: TagFilter,
    ) -> ChosenRows:
        """Return the rows that pass a filter; the last results are cached."""
        if where is None and not tags_any and not tags_all:
            return ChosenRows(None, [])
        key = row_sets.spelled((where, list(tags_any), list(tags_all)))
        known = self._filters.get(key) if isinstance(key, str) else None
        if known is None:
            rows = self.rows.select(where, tags_any, tags_all)
            known = ChosenRows(rows, self._unknown(where))
            if isinstance(key, str):
                self._filters.put(key, known)
        return known

    def _unknown(self, where: object) -> list[str]:
        if where is None or not is_object(where):
            return []
        paths = set(filters.compile(where).paths)
        return sorted(path for path in paths if not self.rows.has_values_at(path))

    def match_whole(self, ask: Match, rows: RowSet | None) -> Found:
        """Find the best rows by words, with term frequencies of the whole dataset."""
        segments = self._of_fields(ask.queries)
        sets = segments.living if rows is None else rows.words(segments)
        return exact_retrievers.match_queries(
            segments,
            ask.queries,
            min(ask.k, self.rows.live),
            sets,
            ask.threads,
            ask.stats,
            ask.k1,
            ask.b,
        )

    def _of_fields(self, queries: _core.Queries | None) -> exact_retrievers.Segments:
        """Return the segments, with the postings of fields if the queries have field weights."""
        segments = self.rows.searched("rag.terms")
        if self.rows.is_elsewhere:
            remote_prefetch.terms(segments)
        if queries is None or queries.weights:
            segments.attach_fields(self.rows.path)
        return segments

    def field_lengths(self) -> list[int]:
        """Return the summed length of the rows in each field that has postings of its own."""
        return self._of_fields(None).all_lexicons.field_lengths()

    def frequencies(self, queries: _core.Queries) -> list[list[int]]:
        """Return the number of rows with each term of the queries, under their field weights."""
        self._of_fields(queries).all_lexicons.count(queries)
        return queries.frequencies()

    def word_scores(self, rows: Int64s, ask: Score, of: int) -> Float32s:
        """Return the BM25 scores of rows for query number `of`."""
        assert ask.queries is not None
        segments = self._of_fields(ask.queries)
        return exact_retrievers.query_scores(
            segments, rows, ask.queries, of, ask.stats, ask.k1, ask.b
        )


def seal_name(path: str) -> str:
    """Return the name of the object with the hashes of a shard's blocks."""
    return f"{SEALS}{path.rpartition('/')[2].removesuffix('.ragfile')}.seal"


def opened(url: str, cache: str | None = None, content: str = "", window: int = 0) -> Shard:
    """Return the open shard at a path or URL; concurrent threads open it once. `content` is the digest that a trusted key
    signed, `window` the bytes at the end of a remote shard to fetch first."""
    name = url, content
    found = _opened.get(name)
    if found is not None:
        return found
    with _swap:
        turn = _opening.setdefault(name, ForkSafeLock())
    with turn:
        found = _opened.get(name)
        if found is None:
            found = Shard(url, cache, content, window)
            with _swap:
                _opened[name] = found
                _opening.pop(name, None)
                if len(_opened) > OPEN:
                    del _opened[next(iter(_opened))]
    return found


def forget() -> None:
    """Close the cache: every shard is reopened on its next use."""
    with _swap:
        _opened.clear()
