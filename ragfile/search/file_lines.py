"""The lines of a source file that a passage has.

A document is the text of its file only for some formats, and a normalised one. So lines are given only if the original
text has the checksum of the file that was read; they are then exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragfile.text import Normalized, normalize

if TYPE_CHECKING:
    from ragfile.records import Document


class LineRange(NamedTuple):
    """Lines of a file, from 1, both included."""

    first: int
    last: int


class FileLines(NamedTuple):
    """The text of a file as it is, and as it was normalised."""

    original: str
    normalized: Normalized

    @classmethod
    def of(cls, document: Document) -> FileLines | None:
        """Return the lines of a document's file, or None if the document is not the text of its file."""
        if (checksum := document.metadata.get("checksum")) is None:
            return None
        import hashlib  # takes 3 ms

        original = document.original
        raw = original.encode("utf-8", "surrogatepass")
        if hashlib.sha256(raw).hexdigest() != checksum:
            return None
        normalized = normalize(original)
        return cls(original, normalized) if normalized.text == document.text else None

    def range(self, start: int, end: int) -> LineRange:
        """Return the lines of the characters [start, end) of the document."""
        first, last = self.normalized.raw_span(start, max(end, start + 1))
        before, inside = self.original[:first], self.original[first:last].rstrip("\r\n")
        return LineRange(_ends(before) + 1, _ends(before + inside) + 1)


def _ends(text: str) -> int:
    """Return the number of line ends: LF, CR LF or CR."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")
