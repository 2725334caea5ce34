"""A segment of a layer: the rows that one commit added, without those that layers above hide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.file.row_segment import RowSegment

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray


class LayerSegment(RowSegment):
    """A segment with row numbers of the view. `hidden` are the numbers of live documents to hide."""

    def __init__(self, stored: RowSegment, base: int, hidden: Collection[int]) -> None:
        record = stored.number, stored.rows, stored.live, stored.generation
        super().__init__(stored.reader, _core.SegmentRecord(*record), base)
        self.metric, self.is_pinned, self.room = stored.metric, stored.is_pinned, stored.room
        self.stored, self._hidden = stored, frozenset(hidden)
        if hidden:
            self._hide(hidden)

    def of(self, base: int, hidden: frozenset[int]) -> LayerSegment | None:
        """Return the segment for another view, with all that is open; None if that hides other documents."""
        moved = self.moved(base) if hidden == self._hidden else None
        return moved if isinstance(moved, LayerSegment) else None

    def _hide(self, hidden: Iterable[int]) -> None:
        mask = self.live_mask()
        for number in hidden:
            rows = self.records.document(number).rows
            mask[rows.start : rows.stop] = False
        self._alive, self.live = _core.row_set(mask, self.rows), int(mask.sum())

    def is_gone(self, number: int) -> bool:
        return number in self._hidden or super().is_gone(number)

    @property
    def has_deletions(self) -> bool:
        return bool(self._hidden) or super().has_deletions

    def document_count(self) -> int:
        """Return the number of live documents."""
        if not self._hidden:
            return super().document_count()
        return self.records.live_documents(self.alive, self.section("rag.gone")) - sum(
            not self.records.document(number).rows for number in self._hidden
        )


def live_numbers(segment: RowSegment) -> NDArray[np.bool_]:
    """Return bool[documents]: whether a document is live."""
    found = np.zeros(segment.records.documents, bool)
    documents = segment.records.documents_of_rows()
    found[documents[segment.live_mask()]] = True
    empty = np.ones(len(found), bool)
    empty[documents] = False
    for number in np.flatnonzero(empty).tolist():
        found[number] = segment.document(number).is_live
    return found


def hidden_by(
    segment: RowSegment, above: Sequence[RowSegment], ids: Iterable[str]
) -> frozenset[int]:
    """Return the live documents of a segment that segments above have, too, or that ids name."""
    records, found = segment.records, set[int]()
    for other in above:
        numbers = records.numbers_of(other.records)
        found.update(numbers[(numbers >= 0) & live_numbers(other)].tolist())
    found.update(number for each in ids if (number := records.find(each)) is not None)
    return frozenset(number for number in found if segment.document(number).is_live)
