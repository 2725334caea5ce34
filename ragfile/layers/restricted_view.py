"""An open file as one reader may see it: the documents that pass a filter, as if there were no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ragfile.knowledge_base import KnowledgeBase
from ragfile.layers.restricted_rows import restricted_rows, whole_of
from ragfile.search.current import Current, Embedding

if TYPE_CHECKING:
    from ragfile.search.file_rows import FileRows
    from ragfile.search.rows_protocol import OpenRows
    from ragfile.types import StrPath, Where


class Restricted(KnowledgeBase):
    """A knowledge base with the documents alone whose every passage passes a filter.

    Every answer is that of a file from which all other documents were deleted, with the statistics of the
    visible rows. `refresh()` follows the file, and a pickle keeps the filter.
    """

    def __init__(
        self, whole: KnowledgeBase, where: Where, *, embedding_cache: StrPath | bool | None = None
    ) -> None:
        """Show the documents of `whole` that pass; `embedding_cache` is as for ragfile.open."""
        embedding = Embedding(whole.embedder, embedding_cache, False)
        self.__setstate__(Current(RestrictedOpener(whole, where), embedding, whole.counters))

    @property
    def whole_rows(self) -> OpenRows:
        """The rows of which the visible ones are a part."""
        return whole_of(self.rows)


class RestrictedOpener:
    """Opens the visible rows of a knowledge base."""

    def __init__(self, whole: KnowledgeBase, where: Where) -> None:
        self.whole, self.where, self.path = whole, where, whole.path

    def open(self) -> FileRows:
        return restricted_rows(self.whole.rows, self.where)

    def seen(self, rows: FileRows) -> object:
        return None

    def has_newer(self, rows: FileRows, seen: object) -> bool:
        self.whole.refresh()
        return not self.is_same(rows, rows)

    def is_same(self, rows: FileRows, fresh: FileRows) -> bool:
        return whole_of(rows) is cast("object", self.whole.rows)

    def close(self, rows: FileRows) -> None:
        """Leave the whole open: its owner closes it."""
