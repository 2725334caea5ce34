"""One shard, open in this process: a file that is asked with the statistics of the whole dataset.

Shards are named by their content, so that one that is open stays right for good; the last few hundred stay open.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.errors import CorruptError, SignatureError
from ragfile.file import exact, filters, prefetch, row_sets
from ragfile.file.row_sets import RowSet
from ragfile.file.snapshot import Snapshot
from ragfile.file.source import OpenBytes
from ragfile.ground.fork_safe_lock import ForkSafeLock
from ragfile.ground.lru import Lru
from ragfile.ground.urls import is_remote, shown
from ragfile.search.file_rows import FileRows
from ragfile.shards.stores import place

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from ragfile.shards.messages import Match, Score
    from ragfile.types import TagFilter

SEALS = "seals/"
OPEN = 4096  # shards that stay open in a process
ROOM = 1 << 20  # bytes of unpacked blocks that each stream of a shard keeps
FILTERS = 4  # whose rows a shard keeps

_opened: dict[tuple[str, str], Shard] = {}  # the oldest first
_swap = ForkSafeLock()
_opening: dict[tuple[str, str], ForkSafeLock] = {}


class ShardSource:
    """The bytes of a shard. Objects of a dataset never change. window is what the first request for a shard behind a URL
    brings."""

    __slots__ = ("_cache", "_window", "path", "url")
    format, is_watched = "1.0", False

    def __init__(self, url: str, cache: str | None = None, window: int = 0) -> None:
        self.url, self._cache, self._window = url, cache, window
        self.path = shown(url) if is_remote(url) else url

    def open(self) -> OpenBytes:
        if not is_remote(self.url):
            found = _core.Map(self.url)
            return OpenBytes(found, (), len(found))
        from ragfile.net.fetcher import WINDOW, mapped

        far = mapped(self.url, self._cache, window=self._window or WINDOW)
        return OpenBytes(far, (), len(far), far.fetcher)

    def identity(self, opened: OpenBytes) -> tuple[object, ...]:
        return ()

    def is_same_file(self, opened: OpenBytes, other: OpenBytes) -> bool:
        return True

    def stat(self) -> None:
        """Return None: nothing has to be compared."""
        return


class Shard:
    """A shard: the rows of a file that never changes, counted from 0."""

    def __init__(
        self, url: str, cache: str | None = None, content: str = "", window: int = 0
    ) -> None:
        self._url, self._cache, self._content, self._window = url, cache, content, window
        source = ShardSource(url, cache, window)
        opened = source.open()
        reader = _core.Reader(opened.map)
        if content:
            self._trust(reader, source.path)
        # The dataset warns of a key that no row has: one that this shard lacks can be in another one.
        self.rows = FileRows(Snapshot(source, opened, reader), warns=False)
        for segment in self.rows.segments:
            segment.room = ROOM
        self._identity = f"{self.rows.snapshot.commit['identity']:016x}"
        self._filters = Lru(FILTERS)

    def __reduce__(self) -> tuple[object, ...]:
        return opened, (self._url, self._cache, self._content, self._window)

    def _trust(self, reader: _core.Reader, path: str) -> None:
        """Refuse what was not signed, here or block by block when one is first read."""
        from ragfile.file.signatures import Content

        root, kind, name = re.split(r"[/\\](?=[^/\\]+[/\\][^/\\]+$|[^/\\]+$)", self._url)
        content, refused = Content(reader), f"{path}: not what was signed, or its seal is not"
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
        """Refuse another file than the one that the manifest lists."""
        if self._identity != identity or self.rows.count != rows:
            raise CorruptError(f"{self.rows.path}: not the shard that the manifest lists")

    def chosen(
        self, where: Any, tags_any: TagFilter, tags_all: TagFilter
    ) -> tuple[RowSet | None, list[str]]:
        """(the rows that pass, the keys of the filter that no row has). The last filters' rows are kept."""
        if where is None and not tags_any and not tags_all:
            return None, []
        key = row_sets.spelled((where, list(tags_any), list(tags_all)))
        known = self._filters.get(key) if isinstance(key, str) else None
        if known is None:
            known = self.rows.select(where, tags_any, tags_all), self._unknown(where)
            if isinstance(key, str):
                self._filters.put(key, known)
        return known

    def _unknown(self, where: Any) -> list[str]:
        if not isinstance(where, dict):
            return []
        paths = set(filters.compile(where).paths)
        return sorted(path for path in paths if not self.rows.has_values_at(path))

    def match_whole(self, ask: Match, rows: RowSet | None) -> Any:
        """As match, of Queries whose terms know their frequency in the whole."""
        segments = self._of_fields(ask.queries)
        sets = segments.living if rows is None else rows.words(segments)
        return exact.match_queries(
            segments,
            ask.queries,
            min(ask.k, self.rows.live),
            sets,
            ask.threads,
            ask.stats,
            ask.k1,
            ask.b,
        )

    def _of_fields(self, queries: _core.Queries | None) -> exact.Segments:
        """The segments, with the lists of fields where the queries bring weights for them."""
        segments = self.rows.searched("rag.terms")
        if self.rows.is_elsewhere:
            prefetch.terms(segments)
        if queries is None or queries.weights:
            segments.attach_fields(self.rows.path)
        return segments

    def field_lengths(self) -> list[int]:
        """For each field with lists of its own the summed length of the rows in it."""
        return self._of_fields(None).all_lexicons.field_lengths()

    def frequencies(self, queries: Any) -> list[list[int]]:
        """In how many rows each term of the queries occurs, by the weights that they bring."""
        self._of_fields(queries).all_lexicons.count(queries)
        return queries.frequencies()

    def word_scores(self, rows: np.ndarray, ask: Score, of: int) -> Any:
        """The BM25 scores of rows for one of the queries."""
        segments = self._of_fields(ask.queries)
        return exact.query_scores(segments, rows, ask.queries, of, ask.stats, ask.k1, ask.b)


def seal_name(path: str) -> str:
    """Where the hashes of an object's blocks are."""
    return f"{SEALS}{path.rpartition('/')[2].removesuffix('.ragfile')}.seal"


def opened(url: str, cache: str | None = None, content: str = "", window: int = 0) -> Shard:
    """The shard at a path or URL, open; each is opened once, by whichever thread asks first. content is the digest of what
    somebody who is trusted signed, window what the first request for a shard behind a URL brings."""
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
    """Opens every shard anew when it is next asked."""
    with _swap:
        _opened.clear()
