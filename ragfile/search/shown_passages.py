"""A passage as people see it: its excerpt, and the lines of the file that the excerpt shows.

Every door has its excerpts from here: the command line, the server and its page, MCP and notebooks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ragfile.records import NUMBERED, Span
from ragfile.search.blocks import indent, shift_after
from ragfile.search.excerpt_lines import SIZE, excerpt_lines, whole_passage
from ragfile.search.file_lines import FileLines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragfile.records import Document, Hit, Hits
    from ragfile.search.excerpt_lines import ExcerptLine, PassageExcerpt
    from ragfile.search.file_lines import LineRange
    from ragfile.search.question_terms import QuestionTerms
    from ragfile.search.support import AskedQuestion
    from ragfile.types import Metadata


class ShownPassage(NamedTuple):
    """An excerpt, the lines of the file that it shows if they are known, and the number of each line of code."""

    excerpt: PassageExcerpt
    lines: LineRange | None
    numbers: list[int | None]

    def text(self) -> str:
        """Return the excerpt as text, with the numbers of lines of code where they are known."""
        numbered = zip(self.excerpt.lines, self.numbers, strict=True)
        return "\n".join(f"{n:>5}  {line.text}" if n else line.text for line, n in numbered)

    def to_dict(self) -> dict[str, Any]:
        """Return the excerpt as a dict, ready for JSON: places are characters of the passage or of a line."""
        shown = self.excerpt
        return {
            "start": shown.start,
            "end": shown.end,
            "lines": [
                {"text": line.text, "marks": [list(mark) for mark in line.marks],
                 "is_code": line.at >= 0, "number": number}
                for line, number in zip(shown.lines, self.numbers, strict=True)
            ],
            "in_file": list(self.lines) if self.lines else None,
        }  # fmt: skip


def located(name: str, metadata: Metadata, lines: tuple[int, int] | None) -> str:
    """Return a name with the page, slide or row of a passage, or with its lines."""
    for part in NUMBERED:
        if isinstance(number := metadata.get(part), int):
            return f"{name}, {part} {number}"
    if not lines:
        return name
    first, last = lines
    return f"{name}:{first}" + (f"-{last}" if last > first else "")


def viewer_of(
    hits: Hits, question: str, document: Callable[[str], Document | None]
) -> PassageViewer:
    """Return the viewer of a question's hits; hits by name or likeness are marked by the English stems of its words."""
    from ragfile.search.question_terms import plain_terms

    asked = cast("AskedQuestion | None", hits.asked)
    return PassageViewer(plain_terms(question) if asked is None else asked.terms, document)


def facts_of(hits: Hits, kept: Sequence[Hit]) -> dict[str, Any]:
    """Return the support of hits ready for JSON; of those kept, by id, the missing words and the lines of code.

    There is no support of a question without words to look for.
    """
    support = hits.support
    return {
        "support": support.to_dict() if support is not None and support.terms else None,
        "missing": {hit.id: words for hit in kept if (words := hit.missing)},
        "lines": {hit.id: list(lines) for hit in kept if (lines := hit.lines)},
    }


class PassageViewer:
    """Makes the excerpts of one question's passages; `document` returns a document by its id."""

    def __init__(self, terms: QuestionTerms, document: Callable[[str], Document | None]) -> None:
        self._terms, self._document = terms, document
        self._lines: dict[str, FileLines | None] = {}  # by document

    def shown(
        self, text: str, metadata: Metadata, doc_id: str, start: int, size: int = SIZE
    ) -> ShownPassage:
        """Return the excerpt of a passage that begins at a character of its document, or -1."""
        return self._with_lines(excerpt_lines(text, metadata, self._terms, size), doc_id, start)

    def whole(self, text: str, metadata: Metadata, doc_id: str, start: int) -> ShownPassage:
        """Return a whole passage in the same form."""
        return self._with_lines(whole_passage(text, metadata, self._terms), doc_id, start)

    def _with_lines(self, excerpt: PassageExcerpt, doc_id: str, start: int) -> ShownPassage:
        lines = self._lines_of(doc_id) if start >= 0 else None
        if lines is None:
            alone = excerpt._replace(lines=_aligned_alone(excerpt.lines))
            return ShownPassage(alone, None, [None] * len(excerpt.lines))
        numbers = [
            lines.range(start + line.at, start + line.at).first if line.at >= 0 else None
            for line in excerpt.lines
        ]
        shown = lines.range(start + excerpt.start, start + excerpt.end)
        aligned = _aligned(excerpt.lines, lines.normalized.text, start)
        return ShownPassage(excerpt._replace(lines=aligned), shown, numbers)

    def _lines_of(self, doc_id: str) -> FileLines | None:
        if doc_id not in self._lines:
            document = self._document(doc_id)
            self._lines[doc_id] = None if document is None else FileLines.of(document)
        return self._lines[doc_id]


def _aligned(lines: list[ExcerptLine], text: str, start: int) -> list[ExcerptLine]:
    """Return lines without the indentation that all lines of code share.

    A passage can begin after the indentation of its first line, which is in the text of the document before `start`.
    """
    leads = [_lead(line, text, start) if line.at >= 0 else "" for line in lines]
    code = [lead + line.text for line, lead in zip(lines, leads, strict=True) if line.at >= 0]
    margin = min((len(one) - len(one.lstrip(_kind_of_blank(code))) for one in code), default=0)
    return [
        line if line.at < 0 else _moved(line, lead, margin)
        for line, lead in zip(lines, leads, strict=True)
    ]


def _aligned_alone(lines: list[ExcerptLine]) -> list[ExcerptLine]:
    """Return lines without the indentation that all lines of code share, judged by this passage alone."""
    code = [line for line in lines if line.at >= 0]
    texts = [line.text for line in code]
    if not code:
        return lines
    if code[0].at == 0 and not indent(texts[0]):
        shift, moved = shift_after(texts[0], texts[1:]), code[1:]
    else:
        shift, moved = min(map(indent, texts)), code
    return [_moved(line, "", shift) if shift and line in moved else line for line in lines]


def _kind_of_blank(code: list[str]) -> str:
    """Return the blank that lines are indented with: a tab, or a space."""
    return "\t" if code[0].startswith("\t") else " "


def _lead(line: ExcerptLine, text: str, start: int) -> str:
    """Return the blanks of a line that are before its text."""
    at = start + line.at
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if before.isspace() else ""


def _moved(line: ExcerptLine, lead: str, margin: int) -> ExcerptLine:
    by = len(lead) - margin
    marks = [Span(start + by, end + by) for start, end in line.marks]
    return line._replace(text=(lead + line.text)[margin:], marks=marks, at=max(0, line.at - by))
