"""One shard, open in this process: a file that is asked with the statistics of the whole dataset.

Shards are named by their content, so that one that is open stays right for good; the last few hundred stay open.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.errors import CorruptError, SignatureError
from ragfile.file import exact, filters, prefetch, row_sets
from ragfile.file.archive import Archive
from ragfile.file.row_sets import RowSet
from ragfile.ground.fork_safe_lock import ForkSafeLock
from ragfile.ground.lru import Lru
from ragfile.ground.urls import is_remote, shown
from ragfile.shards.stores import place

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from ragfile.shards.messages import Match, Score

SEALS = "seals/"
OPEN = 4096  # shards that stay open in a process
ROOM = 1 << 20  # bytes of unpacked blocks that each stream of a shard keeps
FILTERS = 4  # whose rows a shard keeps

_opened, _swap = Lru(OPEN), ForkSafeLock()
_opening: dict[tuple[str, str], ForkSafeLock] = {}


class Shard(Archive):
    """A shard. Its rows count from 0; it never changes."""

    def __init__(
        self, url: str, cache: str | None = None, content: str = "", window: int = 0
    ) -> None:
        self._url, self._cache_folder, self._content = url, cache, content
        self._window = window
        super().__init__(shown(url) if is_remote(url) else url)
        self._filters = Lru(FILTERS)

    def _read(self, reader):
        if self._content:
            self._trust(reader)
        super()._read(reader)
        for segment in self.segments:
            segment.room = ROOM

    def __reduce__(self) -> Any:
        return opened, (self._url, self._cache_folder, self._content, self._window)

    def _trust(self, reader):
        """Refuses what was not signed, here or block by block when one is first read."""
        from ragfile.file.signatures import Content

        root, kind, name = re.split(r"[/\\](?=[^/\\]+[/\\][^/\\]+$|[^/\\]+$)", self._url)
        content, refused = Content(reader), f"{self.path}: not what was signed, or its seal is not"
        try:
            seal = place(root).read(seal_name(f"{kind}/{name}"))
            digest = content.digest(seal)
        except (FileNotFoundError, ValueError):
            raise SignatureError(refused) from None
        if digest != self._content:
            raise SignatureError(refused)
        for entry, leaves in zip(content.entries, content.split(seal), strict=True):
            reader.seal(entry["name"], entry["segment"], leaves)

    def _mapped(self) -> Any:
        if is_remote(self._url):
            from ragfile.net.fetcher import WINDOW, mapped

            return mapped(self._url, self._cache_folder, window=self._window or WINDOW)
        return _core.Map(self._url)

    def _identity(self) -> Any:
        return ()

    def _is_untouched(self):
        return True

    def check_unchanged(self):
        """Objects of a dataset never change."""

    def _front_and_footer(self) -> Any:
        return None

    def check_identity(self, identity: str, rows: int) -> None:
        """Refuses another file than the one that the manifest lists."""
        if f"{self._commit['identity']:016x}" != identity or self.rows != rows:
            raise CorruptError(f"{self.path}: not the shard that the manifest lists")

    def _warn_of_unknown(self, paths):
        """The dataset warns: a key that this shard lacks can be in another one."""

    def chosen(self, where, tags_any, tags_all) -> tuple[RowSet | None, list[str]]:
        """(the rows that pass, the keys of the filter that no row has). The last filters' rows are kept."""
        if where is None and not tags_any and not tags_all:
            return None, []
        key = row_sets.spelled((where, list(tags_any), list(tags_all)))
        known = self._filters.get(key) if isinstance(key, str) else None
        if known is None:
            known = self.row_set(where, tags_any, tags_all), self._unknown(where)
            if isinstance(key, str):
                self._filters.put(key, known)
        return known

    def _unknown(self, where):
        if not isinstance(where, dict):
            return []
        paths = set(filters.compile(where).paths)
        return sorted(path for path in paths if not self.has_values_at(path))

    def match_whole(self, ask: Match, rows: RowSet | None) -> Any:
        """As match, of Queries whose terms know their frequency in the whole."""
        segments = self._of_fields(ask.queries)
        sets = (rows or RowSet(None)).words(segments)
        return exact.match_queries(
            segments,
            ask.queries,
            min(ask.k, len(self)),
            sets,
            ask.threads,
            ask.stats,
            ask.k1,
            ask.b,
        )

    def _of_fields(self, queries):
        """The segments, with the lists of fields where the queries bring weights for them."""
        segments = self._searched("rag.terms")
        prefetch.terms(segments)
        if queries is None or queries.weights:
            segments.attach_fields(self.path)
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
    with _swap:
        found = _opened.get(name)
        turn = _opening.setdefault(name, ForkSafeLock())
    if found is not None:
        return found
    with turn:
        with _swap:
            found = _opened.get(name)
        if found is None:
            found = Shard(url, cache, content, window)
            with _swap:
                _opened.put(name, found)
                _opening.pop(name, None)
    return found


def forget() -> None:
    """Opens every shard anew when it is next asked."""
    with _swap:
        _opened.clear()
