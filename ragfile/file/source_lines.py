"""The lines of passages of source code, in the file that was read.

Normalisation removes empty lines, so places in a document's text are led back to the original first. A
line ends with LF, CR LF or CR, as in editors.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from ragfile import text as texts

if TYPE_CHECKING:
    from ragfile.records import Document

_ENDS = re.compile("\r\n?|\n")


class SourceLines:
    """The lines of one document; `doc_id` is its id."""

    __slots__ = ("_ends", "_normal", "doc_id")

    def __init__(self, document: Document) -> None:
        self.doc_id = document.id
        original = document.original
        is_changed = original != document.text
        self._normal = texts.normalize(original) if is_changed else None
        self._ends = [found.end() for found in _ENDS.finditer(original)]

    def of(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and last line, from 1, of a span of the document's text."""
        last = max(start, end - 1)
        if self._normal is not None:
            start, last = (self._normal.raw_span(at, at + 1)[0] for at in (start, last))
        return bisect_right(self._ends, start) + 1, bisect_right(self._ends, last) + 1
