"""The state of an open knowledge base, and its replacement by a newer commit.

All state is one value that a single assignment replaces: a call that has read it finishes with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragfile.ground.fork_safe_lock import ForkSafeLock
from ragfile.ground.lru import Lru
from ragfile.search.question_vectors import QuestionVectors
from ragfile.search.retrieval import Retrieval

if TYPE_CHECKING:
    from ragfile.embedding.protocol import Embedder
    from ragfile.records import Hits
    from ragfile.search.opener import Opener
    from ragfile.search.question import AnswerKey
    from ragfile.search.rows_protocol import OpenRows
    from ragfile.types import StrPath

REMEMBERED = 256  # answers


class Opened(NamedTuple):
    """The rows of a commit, their retrieval, and the cache of answers."""

    rows: OpenRows
    retrieval: Retrieval
    answers: Lru[AnswerKey, Hits]
    seen: object  # the identity of the source at the last check


class Embedding(NamedTuple):
    """The caller's choices about embedding questions."""

    embedder: str | Embedder | None
    cache: StrPath | bool | None
    offline: bool


class Current:
    """The open commit; `opened` is None after close()."""

    __slots__ = ("_embedding", "_opener", "counters", "opened", "path", "swap")

    def __init__(
        self, opener: Opener[Any], embedding: Embedding, counters: dict[str, int] | None = None
    ) -> None:
        """Open the newest rows; `counters` are those of another state, which also counts these calls."""
        self._opener, self._embedding, self.path = opener, embedding, opener.path
        new = {"searches": 0, "cached": 0, "embedding_calls": 0}
        self.counters = new if counters is None else counters
        self.swap = ForkSafeLock()
        self.opened: Opened | None = self._opened(opener.open(), None)

    @property
    def embedding_cache(self) -> StrPath | bool | None:
        """The chosen folder for the vectors of slow embedders; False for an encrypted file."""
        opened = self.opened
        return self._embedding.cache if opened is None else _cache_for(opened.rows, self._embedding)

    def __reduce__(self) -> tuple[object, ...]:
        return Current, (self._opener, self._embedding)

    def _opened(self, rows: OpenRows, before: Opened | None) -> Opened:
        """Return the state for new rows, with the known question vectors if the model is the same."""
        model = rows.config.get("model"), rows.dim
        vectors = None if before is None else before.retrieval.vectors
        if vectors is None or not vectors.is_for(*model):
            given, _, offline = self._embedding
            cache = _cache_for(rows, self._embedding)
            vectors = QuestionVectors(
                self.path, *model, given=given, cache=cache, counters=self.counters, offline=offline
            )
        seen = self._opener.seen(rows)
        return Opened(rows, Retrieval(rows, vectors), Lru(REMEMBERED), seen)

    def refresh(self) -> bool:
        """Switch to the newest commit. Return whether it is newer."""
        is_newer, before = False, self.opened
        while before is not None:
            if not self._opener.has_newer(before.rows, before.seen):
                return is_newer
            rows = self._opener.open()
            is_same = self._opener.is_same(before.rows, rows)
            seen = self._opener.seen(rows)
            # A writer that only prepares its commit changes bytes, not rows: caches stay valid.
            state = before._replace(seen=seen) if is_same else self._opened(rows, before)
            with self.swap:
                now = self.opened
                if now is before:
                    self.opened = state
            if now is before:
                return is_newer or not is_same
            if now is None:  # closed meanwhile
                return False
            is_newer, before = True, now  # another thread was faster, perhaps with an older commit
        return is_newer

    def close(self) -> None:
        """Release the open rows."""
        with self.swap:
            opened, self.opened = self.opened, None
        if opened is not None:
            self._opener.close(opened.rows)


def _cache_for(rows: OpenRows, embedding: Embedding) -> StrPath | bool | None:
    """Return where vectors of questions are cached; ValueError for a cache beside an encrypted file."""
    if not rows.is_encrypted:
        return embedding.cache
    if embedding.cache:
        raise ValueError(
            f"{rows.path}: an embedding cache is not encrypted: leave out embedding_cache="
        )
    return False
