"""What a knowledge base has open, and how a newer commit takes its place.

There is one value at a time, which is exchanged by one assignment: whoever has read it goes on with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragfile.ground.fork_safe_lock import ForkSafeLock
from ragfile.ground.lru import Lru
from ragfile.search.question_vectors import QuestionVectors
from ragfile.search.retrieval import Retrieval

if TYPE_CHECKING:
    from ragfile.embedding.protocol import Embedder
    from ragfile.search.opener import Opener
    from ragfile.types import StrPath

REMEMBERED = 256  # whole answers


class Opened(NamedTuple):
    """What is open: the rows of a commit, what searches them, and the answers that are kept."""

    rows: Any  # FileRows or DatasetRows: the retrieval's, with what only these have
    retrieval: Retrieval
    answers: Lru
    seen: object  # what identified the source when it was last looked at


class Embedding(NamedTuple):
    """How questions become vectors, as open() was told."""

    embedder: str | Embedder | None
    cache: StrPath | bool | None
    offline: bool


class Current:
    """The commit that is open. `opened` is None once it is closed."""

    __slots__ = ("_embedding", "_opener", "counters", "opened", "path", "swap")

    def __init__(self, opener: Opener, embedding: Embedding) -> None:
        self._opener, self._embedding, self.path = opener, embedding, opener.path
        self.counters = {"searches": 0, "cached": 0, "embedding_calls": 0}
        self.swap = ForkSafeLock()
        self.opened: Opened | None = self._made(opener.open(), None)

    def __reduce__(self) -> tuple[object, ...]:
        return Current, (self._opener, self._embedding)

    def _made(self, rows: Any, before: Opened | None) -> Opened:
        """Return what is open with some rows. Vectors of questions are kept where the model is the same."""
        model = rows.config.get("model"), rows.dim
        vectors = None if before is None else before.retrieval.vectors
        if vectors is None or not vectors.is_for(*model):
            given, cache, offline = self._embedding
            vectors = QuestionVectors(
                self.path, *model, given=given, cache=cache, counters=self.counters, offline=offline
            )
        seen = self._opener.seen(rows)
        return Opened(rows, Retrieval(rows, vectors), Lru(REMEMBERED), seen)

    def refresh(self) -> bool:
        """Put the newest commit in the place of this one. Return whether there was a newer one."""
        is_newer, before = False, self.opened
        while before is not None:
            if not self._opener.has_newer(before.rows, before.seen):
                return is_newer
            rows = self._opener.open()
            is_same = self._opener.is_same(before.rows, rows)
            seen = self._opener.seen(rows)
            # What was read and kept stays good while a writer only prepares its commit.
            made = Opened(*before[:3], seen) if is_same else self._made(rows, before)
            with self.swap:
                now = self.opened
                if now is before:
                    self.opened = made
            if now is before:
                return is_newer or not is_same
            if now is None:  # closed meanwhile
                return False
            is_newer, before = (
                True,
                now,
            )  # another thread was faster, and may have seen an older one
        return is_newer

    def close(self) -> None:
        """Let go of what is open."""
        with self.swap:
            opened, self.opened = self.opened, None
        if opened is not None:
            self._opener.close(opened.rows)
