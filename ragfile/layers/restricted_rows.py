"""The rows of an open file that one reader may see: as if all other documents had been deleted.

    filter ─ documents whose every row passes ─ segments in which all other rows count as deleted ─ FileRows

Statistics, spelling, links, facets and samples follow from the live rows. So no operation has to know the
filter, and none can forget it. The bytes of the file have no such bound: its container refuses them.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, cast

import numpy as np

from ragfile import _core
from ragfile.file.row_segment import RowSegment
from ragfile.layers.restricted_container import RestrictedContainer
from ragfile.search.file_rows import FileRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ragfile.file.container import Container
    from ragfile.file.snapshot import Snapshot
    from ragfile.search.rows_protocol import OpenRows
    from ragfile.types import Where


class RestrictedSegment(RowSegment):
    """A segment with `visible` of its documents (bool[documents])."""

    def __init__(self, stored: RowSegment, visible: NDArray[np.bool_]) -> None:
        record = stored.number, stored.rows, stored.live, stored.generation
        super().__init__(stored.reader, _core.SegmentRecord(*record), stored.base)
        self.metric, self.is_pinned, self.room = stored.metric, stored.is_pinned, stored.room
        self._visible = visible
        rows = visible[self.records.documents_of_rows()]
        self._alive, self.live = _core.row_set(rows, self.rows), int(rows.sum())

    def is_gone(self, number: int) -> bool:
        return not self._visible[number]

    @property
    def has_deletions(self) -> bool:
        return True

    def document_count(self) -> int:
        """Return the number of visible documents."""
        return int(self._visible.sum())


class RestrictedSnapshot:
    """The visible segments of open rows, with what FileRows asks of a snapshot."""

    def __init__(self, rows: OpenRows, segments: Sequence[RowSegment]) -> None:
        self.whole, self.segments = rows, list(segments)
        self.path, self.config, self.generation = rows.path, rows.config, rows.generation
        self.is_elsewhere, self.is_encrypted = rows.is_elsewhere, rows.is_encrypted
        self.sealed = rows if rows.is_sealed else None
        self.count = sum(segment.rows for segment in segments)
        self.live = sum(segment.live for segment in segments)

    def check_unchanged(self) -> None:
        """Raise ChangedError if the file was overwritten since it was opened."""
        self.whole.check_unchanged()

    def close(self) -> None:
        """Do nothing: the rows belong to the knowledge base that opened them."""


def whole_of(rows: FileRows) -> OpenRows:
    """Return the rows of which visible ones are a part."""
    return cast("RestrictedSnapshot", rows.snapshot).whole


def restricted_rows(rows: OpenRows, where: Where) -> FileRows:
    """Return the documents whose every row passes a filter; documents without rows are hidden."""
    if not where:
        raise ValueError("an empty filter hides nothing: give one with a condition")
    segments = _numbered(rows.segments)
    mask = _rows_of(rows, segments).mask(where)
    assert mask is not None
    return _rows_of(rows, [
        RestrictedSegment(segment, _visible(segment, mask[segment.base :][: segment.rows]))
        for segment in segments
    ])  # fmt: skip


def _rows_of(rows: OpenRows, segments: Sequence[RowSegment]) -> FileRows:
    snapshot: object = RestrictedSnapshot(rows, segments)
    container: object = RestrictedContainer(rows, segments)
    return FileRows(cast("Snapshot", snapshot), warns=False, file=cast("Container", container))


def _numbered(segments: Sequence[RowSegment]) -> list[RowSegment]:
    """Return the segments that have documents, with the numbers of their first rows."""
    kept = [segment for segment in segments if segment.has("rag.ids")]
    bases = accumulate((segment.rows for segment in kept), initial=0)
    return [segment.moved(base) for segment, base in zip(kept, bases, strict=False)]


def _visible(segment: RowSegment, passing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return bool[documents]: whether a document has live rows, and all of them pass."""
    found = np.zeros(segment.records.documents, bool)
    documents = segment.records.documents_of_rows()
    found[documents[passing]] = True
    found[documents[segment.live_mask() & ~passing]] = False
    return found
