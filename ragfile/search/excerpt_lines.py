"""The excerpt of a passage as lines for people: the block with most of the question, and what follows while it fits.

Markup is removed: links and emphasis become their text, a table row names its columns, fences go. Code keeps its lines.
Text is cut between sentences. The question's words are marked in the excerpt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ragfile.records import Span
from ragfile.search.blocks import blocks, is_source_code, readable_text
from ragfile.search.highlight_spans import joined
from ragfile.search.markup import code_spans
from ragfile.text import sentences

if TYPE_CHECKING:
    from ragfile.search.blocks import Block
    from ragfile.search.question_terms import QuestionTerms
    from ragfile.types import Metadata

SIZE = 300  # characters
CODE_LINES = 8
_CELL = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])?[ \t]*(?:`{3,}|~{3,})[^\n]*")
_BULLET = re.compile(r"^([ \t]*)[-*+][ \t]+")


class ExcerptLine(NamedTuple):
    """A line to show: its marks, and for code its place in the passage, else -1."""

    text: str
    marks: list[Span]
    at: int = -1


class PassageExcerpt(NamedTuple):
    """The lines of an excerpt, and the span of the passage that they show."""

    lines: list[ExcerptLine]
    start: int
    end: int


def excerpt_lines(
    passage: str, metadata: Metadata, asked: QuestionTerms, size: int = SIZE
) -> PassageExcerpt:
    """Return the excerpt of a passage for a question."""
    found = blocks(passage, metadata)
    if not found:
        return PassageExcerpt([], 0, 0)
    weights = [asked.weight(asked.held(block.text(passage))) for block in found]
    first = last = weights.index(max(weights))
    start, end = _span(found[first])
    while last + 1 < len(found) and _span(found[last + 1]).end - start <= size:
        last, end = last + 1, _span(found[last + 1]).end
    if last == first:
        return _of_block(found[first], passage, metadata, asked, size)
    lines = [line for block in found[first : last + 1] for line in _lines(block, passage, metadata)]
    return PassageExcerpt([_marked(line, asked) for line in lines], start, end)


def whole_passage(passage: str, metadata: Metadata, asked: QuestionTerms) -> PassageExcerpt:
    """Return all lines of a passage, headings apart."""
    found = blocks(passage, metadata)
    lines = [line for block in found for line in _lines(block, passage, metadata)]
    start, end = (_span(found[0]).start, _span(found[-1]).end) if found else (0, 0)
    return PassageExcerpt([_marked(line, asked) for line in lines], start, end)


def _span(block: Block) -> Span:
    """Return the span of a block without the header that it brings."""
    return block.spans[-1]


def _of_block(
    block: Block, passage: str, metadata: Metadata, asked: QuestionTerms, size: int
) -> PassageExcerpt:
    """Return the excerpt of one block: rows whole, code by lines, text by sentences."""
    start, end = _span(block)
    lines = _lines(block, passage, metadata)
    if block.kind == "code" and lines:
        lines = _best_lines(lines, asked)
        placed = [line for line in lines if line.at >= 0]
        if placed and len(placed) == len(lines):
            start, end = placed[0].at, placed[-1].at + len(placed[-1].text)
    elif block.kind != "row" and end - start > size:
        cuts = [Span(start + a, start + b) for a, b in sentences(passage[start:end])]
        start, end = _window(cuts, [asked.weight(asked.held(passage[a:b])) for a, b in cuts], size)
        lines = _text_lines(passage[start:end], metadata)
    return PassageExcerpt([_marked(line, asked) for line in lines], start, end)


def _window(cuts: list[Span], weights: list[float], size: int) -> Span:
    """Return the best sentence and those after it that fit."""
    best = weights.index(max(weights))
    last = best
    while last + 1 < len(cuts) and cuts[last + 1].end - cuts[best].start <= size:
        last += 1
    return Span(cuts[best].start, cuts[last].end)


def _best_lines(lines: list[ExcerptLine], asked: QuestionTerms) -> list[ExcerptLine]:
    """Return CODE_LINES lines of code, from two above the one with most of the question."""
    weights = [asked.weight(asked.held(line.text)) for line in lines]
    first = max(0, min(weights.index(max(weights)) - 2, len(lines) - CODE_LINES))
    return lines[first : first + CODE_LINES]


def _lines(block: Block, passage: str, metadata: Metadata) -> list[ExcerptLine]:
    if block.kind == "row":
        return _row_lines(block, passage, metadata)
    if block.kind == "code":
        return _code_lines(_span(block), passage, metadata)
    return _text_lines(passage[slice(*_span(block))], metadata)


def _text_lines(text: str, metadata: Metadata) -> list[ExcerptLine]:
    plain = readable_text(text, metadata, is_plain=True)
    return [ExcerptLine(_BULLET.sub(r"\1• ", line), []) for line in plain.split("\n") if line]


def _row_lines(block: Block, passage: str, metadata: Metadata) -> list[ExcerptLine]:
    """Return a row in one line, each cell with the name of its column if there is a header."""
    if isinstance(metadata.get("row"), int):
        return [ExcerptLine(line, []) for line in block.text(passage).split("\n") if line.strip()]
    *header, row = (passage[start:end] for start, end in block.spans)
    cells, names = _cells(row, metadata), _cells(header[0], metadata) if header else []
    named = (
        f"{name}: {cell}" if name else cell
        for name, cell in zip([*names, *[""] * len(cells)], cells, strict=False)
        if cell
    )
    return [ExcerptLine(" · ".join(named), [])]


def _cells(row: str, metadata: Metadata) -> list[str]:
    return [
        readable_text(cell, metadata, is_plain=True) for cell in _CELL.split(row.strip().strip("|"))
    ]


def _code_lines(span: Span, passage: str, metadata: Metadata) -> list[ExcerptLine]:
    """Return the lines of code as they are, without fences; the text above fenced code as text."""
    start, end = span
    if not is_source_code(metadata):
        fence = next((at for at, _ in code_spans(passage[start:end])), 0)
        above = _text_lines(passage[start : start + fence], metadata)
        return above + _placed(passage, start + fence, end)
    return _placed(passage, start, end)


def _placed(passage: str, start: int, end: int) -> list[ExcerptLine]:
    lines: list[ExcerptLine] = []
    for line in passage[start:end].split("\n"):
        if line.strip() and not _FENCE.fullmatch(line):
            lines.append(ExcerptLine(line.rstrip(), [], start))
        start += len(line) + 1
    return lines


def _marked(line: ExcerptLine, asked: QuestionTerms) -> ExcerptLine:
    found = (Span(p.start, p.end) for p in asked.places(line.text) if p.term in asked.weights)
    return line._replace(marks=joined(found))
