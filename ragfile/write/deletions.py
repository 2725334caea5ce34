"""The deletions of an edit: bitmaps and lists mark rows, and documents without rows; the bytes stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.file import sample_rows
from ragfile.write.segment_sections import add_bare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragfile.file.row_segment import RowSegment, StoredDocument
    from ragfile.search.file_rows import FileRows
    from ragfile.write.draft import Draft

# Segments with a list of deleted rows. A list of n rows is written n times at most before the next bitmap,
# so both together are shortest with n = sqrt(rows / 16): 79 rows for 100,000, 316 bytes instead of 12,500.
LISTED_FROM, ROWS_MOST = 1 << 14, 1 << 32
MUST_READ = 1  # the flag of a section that readers must understand


class Removals:
    """The documents of an open file that the next commit deletes."""

    def __init__(self, archive: FileRows) -> None:
        self._archive = archive
        self._rows: dict[int, set[int]] = {}  # by segment
        self._empty: dict[int, set[int]] = {}  # numbers of documents without rows
        self.left_out: set[int] = set()  # segments that write() dropped
        self.merged: dict[int, int] = {}  # rows moved to the commit's own segment, by segment

    def __bool__(self) -> bool:
        return bool(self._rows or self._empty)

    def __contains__(self, old: StoredDocument) -> bool:
        segment = old.segment.number
        if old.rows:
            return old.rows.start in self._rows.get(segment, ())
        return old.number in self._empty.get(segment, ())

    def add(self, old: StoredDocument) -> None:
        """Delete a document."""
        if old.rows:
            self._rows.setdefault(old.segment.number, set()).update(old.rows)
        else:
            self._empty.setdefault(old.segment.number, set()).add(old.number)

    def below(self, doc_id: str) -> StoredDocument | None:
        """Return a document of a layer below; a file has none."""
        return None

    def note_hidden(self, draft: Draft) -> None:
        """Add the list of documents that are hidden below; a file has none."""

    def left(self, segment: RowSegment) -> int:
        """Return the number of rows that remain of a segment."""
        return segment.live - len(self._rows.get(segment.number, ()))

    def leave_vectors(self) -> bool:
        """Return whether any row with a vector remains."""
        return any(
            segment.has("vector")
            and self.left(segment)
            and not (segment.has_bare_rows and not self._with_vectors(segment).any())
            for segment in self._archive.segments
        )

    def _with_vectors(self, segment: RowSegment) -> np.ndarray:
        """Return for each row whether it remains and has a vector."""
        mask: np.ndarray = segment.vector_mask()
        mask[list(self._rows.get(segment.number, ()))] = False
        return mask

    def mark_bare(self, file: _core.FileWriter) -> None:
        """Mark all rows of segments without vectors as bare, since other segments have vectors."""
        for segment in self._archive.segments:
            is_left = self.left(segment) and segment.number not in self.merged
            if is_left and not (segment.has("vector") or segment.has("rag.bare")):
                add_bare(file, segment.number, np.ones(segment.rows, bool))

    def write(self, file: _core.FileWriter) -> None:
        """Write the bitmaps of changed segments, and drop segments without live documents."""
        for segment in self._archive.segments:
            if segment.number in self.merged or self._is_emptied(segment):
                file.forget(segment.number)
                self.left_out.add(segment.number)
                continue
            if rows := self._rows.get(segment.number):
                self._write_rows(file, segment, rows)
            if empty := self._empty.get(segment.number):
                self._write_empty(file, segment, empty)

    def _is_emptied(self, segment: RowSegment) -> bool:
        """Return whether the commit deletes the last documents of a segment."""
        changed = segment.number in self._rows or segment.number in self._empty
        return changed and not self.left(segment) and not self._has_empty_documents(segment)

    def _has_empty_documents(self, segment: RowSegment) -> bool:
        return any(not old.rows and old not in self for old in segment.live_documents())

    def _write_rows(self, file: _core.FileWriter, segment: RowSegment, rows: set[int]) -> None:
        flags = ~segment.live_mask()
        flags[list(rows)] = True
        count = int(flags.sum())
        if not self._write_list(file, segment, flags):
            bitmap = _core.bitmap(flags, in_words=True)
            file.add("rag.tombs", bitmap, segment.number, items=count)
            if segment.has("rag.deleted"):  # dropping it would undo the segment's rag.sections
                file.add("rag.deleted", b"", segment.number, MUST_READ)
        file.rows(segment.number, segment.rows, segment.rows - count)
        if sample_rows.is_short(segment, ~flags):
            sample = sample_rows.written_anew(segment, ~flags)
            items = min(sample_rows.KEPT, segment.rows - count)
            file.add("rag.sample", sample, segment.number, items=items)

    def _write_list(
        self, file: _core.FileWriter, segment: RowSegment, flags: NDArray[np.bool_]
    ) -> bool:  # fmt: skip
        """Write the rows that the bitmap of a segment lacks as a list, unless that is too long."""
        if not LISTED_FROM <= segment.rows < ROWS_MOST:
            return False
        if (tombs := segment.section("rag.tombs")) is not None:
            flags = flags & _core.flags_of(_core.rows_outside(tombs, segment.rows), segment.rows)
        count = int(flags.sum())
        if 16 * count * count > segment.rows:
            return False
        listed = _core.row_list(_core.row_set(flags, segment.rows), segment.rows)
        file.add("rag.deleted", listed, segment.number, MUST_READ, count)
        return True

    def _write_empty(self, file: _core.FileWriter, segment: RowSegment, empty: set[int]) -> None:
        flags = np.zeros(segment.records.documents, dtype=bool)
        for old in map(segment.document, range(len(flags))):
            flags[old.number] = not old.rows and (old.number in empty or not old.is_live)
        count = int(flags.sum())
        file.add("rag.gone", _core.bitmap(flags), segment.number, items=count)
