"""Passages that are read on first use.

Reading the texts and metadata of rows takes longer than finding the rows. So a hit keeps its row and
reads a part at a time on first use: its identity, its text, its labels. It reads the commit that was
searched, also after a refresh() or close(): the map stays open while a hit needs it.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.file.row_segment import copied
from ragfile.records import ALL_PARTS, PARTS, Hit, Stretch

if TYPE_CHECKING:
    from typing import Any, TypeVar

    import numpy as np
    from numpy.typing import NDArray

    from ragfile.file.source_lines import SourceLines
    from ragfile.file.stored_rows import StoredRows
    from ragfile.types import Floats, Int64s

    Found = TypeVar("Found")

TOGETHER = 0.01  # seconds


class Passages:
    """The rows of one commit, as the hits of an answer read them."""

    __slots__ = ("_checked", "_lines", "rows")

    def __init__(self, rows: StoredRows) -> None:
        self.rows, self._checked = rows, 0.0
        self._lines: SourceLines | None = None  # of the last document

    def hits(
        self, rows: Int64s, scores: Floats, score_type: str, parts: dict[str, Floats], skips_nan: bool = False
    ) -> list[Hit]:  # fmt: skip
        """Return unread hits of live rows from arrays of their scores; -1 is no row.

        skips_nan leaves out scores that are NaN: those of rows without a vector.
        """
        return _core.unread_hits(
            Hit, (self, ALL_PARTS), rows, scores, score_type, list(parts.items()), skips_nan
        )

    def read(self, row: int, part: str) -> tuple[Any, ...]:
        """Return the fields of a part of a row's hit (records.PARTS), or of all parts ("whole")."""
        self._check()
        try:
            return self._checked_after(self.rows.read(row, part))
        except CorruptError as error:
            error.name_file(self.rows.path)
            raise

    def _check(self) -> None:
        """Check that the file was not overwritten, once for hits that are read together."""
        now = monotonic()
        if now - self._checked > TOGETHER:
            self.rows.check_unchanged()
            self._checked = now

    def _checked_after(self, found: Found) -> Found:
        """Return the passages, after another check of a file with trusted keys."""
        if self.rows.is_sealed:
            self.rows.check_unchanged()
        return found

    def ids(self, rows: list[int]) -> dict[int, str]:
        """Return the ids of rows, by row."""
        self._check()
        try:
            return self._checked_after(self.rows.looked_at("ids", rows))
        except CorruptError as error:
            error.name_file(self.rows.path)
            raise

    def stretch(self, row: int, before: int, after: int) -> Stretch:
        """Return the text of a row with that of its neighbours."""
        self._check()
        segment, local = self.rows.place(row)
        return self._checked_after(segment.stretch(local, before, after))

    def lines(self, row: int, hit: Hit) -> tuple[int, int] | None:
        """Return the first and last line of a row of source code, of which `hit` has the place; None for other rows."""
        if hit.start < 0 or not _core.is_code(hit.doc_id):
            return None
        lines = self._lines
        if lines is None or lines.doc_id != hit.doc_id:
            document = self.rows.document(hit.doc_id)
            if document is None:
                return None
            from ragfile.file.source_lines import SourceLines

            lines = self._lines = SourceLines(document)
        return self._checked_after(lines.of(hit.start, hit.end))

    def vector(self, row: int) -> NDArray[np.floating[Any]] | None:
        """Return the stored vector of a row, or None where it has none."""
        self._check()
        segment, local = self.rows.place(row)
        if segment.has_bare_rows and segment.bare_mask()[local]:
            return None
        vector: NDArray[np.floating[Any]] = segment.stored_vectors(local, 1)[0]
        return self._checked_after(vector)


class KeptPassages:
    """Hits of a cached answer: each caller gets a copy of the fields read so far."""

    __slots__ = ()

    def read(self, hit: Hit, part: str) -> tuple[Any, ...]:
        """Return a copy of the fields of a part of a kept hit."""
        found = hit.read().whole() if part == "whole" else hit.part(part)
        return tuple(copied(value) for value in found)

    def stretch(self, hit: Hit, before: int, after: int) -> Stretch:
        """Return the text around a kept hit."""
        return hit.context(before=before, after=after)

    def lines(self, hit: Hit, copy: Hit) -> tuple[int, int] | None:
        """Return the lines of a kept hit."""
        return hit.lines

    def vector(self, hit: Hit) -> NDArray[np.floating[Any]] | None:
        """Return the stored vector of a kept hit."""
        return hit.vector


KEPT = KeptPassages()


def copy_of(hit: Hit) -> Hit:
    """Return a copy of a kept hit that its caller can change."""
    waiting = hit.found_in[2]
    if waiting:
        copy = Hit.unread(KEPT, hit, hit.score, hit.score_type, dict(hit.scores))
        for part in PARTS if waiting != ALL_PARTS else ():
            if part not in waiting:  # the next caller probably reads the same parts
                for name, value in zip(PARTS[part], KEPT.read(hit, part), strict=True):
                    setattr(copy, name, value)
        copy.found_in = KEPT, hit, waiting
        return copy
    copy = Hit(
        hit.id, hit.doc_id, hit.chunk_index, hit.text, hit.score, hit.score_type, dict(hit.scores),
        hit.tags, copied(hit.metadata), hit.source, hit.start, hit.end,
    )  # fmt: skip
    copy.found_in = KEPT, hit, ()
    return copy
