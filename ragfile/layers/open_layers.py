"""Open layers, with the interface of a file (their rows are in layers/layered_rows.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ragfile.knowledge_base import KnowledgeBase
from ragfile.layers.layered_rows import layers_of, rows_of_layers
from ragfile.search.current import Current, Embedding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.file.row_segment import RowSegment
    from ragfile.layers.agreement import Layer
    from ragfile.search.file_rows import FileRows


class Layers(KnowledgeBase):
    """Files that are open as one, as ragfile.open() returns them for several paths.

    `generation` is the sum of the layers' generations: it rises when any of them changes.
    """

    def __init__(self, opener: LayersOpener, embedding: Embedding) -> None:
        self.__setstate__(Current(opener, embedding))

    @property
    def paths(self) -> list[str]:
        """The paths and URLs of the layers, the lowest first."""
        return [layer.path for layer in layers_of(self.rows)]


class LayersOpener:
    """Opens the newest rows of layers; only those that changed are opened again.

    Args:
        parts: The layers, open, the lowest first.
        kept: Those that stay open when the view is closed, because the caller opened them.
    """

    def __init__(self, parts: Sequence[KnowledgeBase], kept: Sequence[KnowledgeBase] = ()) -> None:
        self.parts, self._kept = list(parts), list(kept)
        self.path = " + ".join(part.path for part in parts)
        self._segments: Sequence[RowSegment] = ()  # of the last view

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_segments": ()}

    def open(self) -> FileRows:
        rows = rows_of_layers([cast("Layer", part.rows) for part in self.parts], self._segments)
        self._segments = rows.segments
        return rows

    def seen(self, rows: FileRows) -> object:
        return None

    def has_newer(self, rows: FileRows, seen: object) -> bool:
        for part in self.parts:
            part.refresh()
        return not self._are_rows_of(layers_of(rows))

    def _are_rows_of(self, layers: Sequence[Layer]) -> bool:
        """Return whether these are the rows that the parts have open."""
        return all(part.rows is one for part, one in zip(self.parts, layers, strict=True))

    def is_same(self, rows: FileRows, fresh: FileRows) -> bool:
        return all(one is two for one, two in zip(layers_of(rows), layers_of(fresh), strict=True))

    def close(self, rows: FileRows) -> None:
        self._segments = ()
        for part in self.parts:
            if not any(part is one for one in self._kept):
                part.close()
