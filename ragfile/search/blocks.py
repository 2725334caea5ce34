"""Cut a passage into blocks that a reader understands alone: paragraphs, list items, table rows, fenced code.

A block is an exact span of its passage. Three kinds bring more with them: a row brings the header of its table, code
the paragraph that introduces it, and a paragraph that ends with a colon the list below it, if both are short. Headings
are not blocks; they are the context of the blocks below, as the sentence above a list is that of its items.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragfile.records import Span
from ragfile.search.markup import code_spans, one_line, readable
from ragfile.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.search.question_terms import QuestionTerms
    from ragfile.types import Metadata

LONGEST = 600  # characters of a text; a longer one is shown in part
JOINED = 1200  # characters of code with the text above it
INDENT = 4  # of a level; 2 where it divides no better
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
# Lines without anything to read: rules, templates, comments, references of links.
_MARKS = re.compile(
    r"[ \t]*(?:[-=*_ \t]{3,}|\{\{[<%][^\n]*[>%]\}\}|\{%[^\n]*%\}|<!--[^\n]*-->|\[[^]\n]+\]:[ \t][^\n]*)$"
)


_CLOSING = re.compile(r" *(?:[}\])]|end\b)")
_VERBATIM = frozenset(
    f"application/{name}" for name in ("json", "sql", "toml", "xml", "yaml", "x-php")
)


_STOPS = tuple(".!?…。！？")  # a paragraph that ends otherwise leads into the list below
_PLAIN = frozenset(("application/pdf", "text/plain"))  # texts without markup
# A line end inside a paragraph or item: before anything but another item or an empty line.
_SOFT = re.compile(r"[ \t]*\n(?![ \t]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|$))[ \t]*")


@dataclass(slots=True)
class Block:
    """One block of a passage: its kind, its spans in reading order, and the texts that name its subject."""

    kind: str  # text, item, row or code
    spans: list[Span]
    context: list[str] = field(default_factory=list[str])

    def text(self, passage: str) -> str:
        """Return the exact text of the block; a row's header is a line of its own."""
        return "\n".join(passage[start:end] for start, end in self.spans)


def blocks(text: str, metadata: Metadata) -> list[Block]:
    """Return the blocks of a passage. Rows of tables and source code are one block, whatever their text looks like."""
    if isinstance(metadata.get("row"), int):
        return _whole(text, "row")
    if is_source_code(metadata):
        return _whole(text, "code")
    return _joined(text, list(_MarkdownReader(text).blocks()))


def is_source_code(metadata: Metadata) -> bool:
    """Return whether a passage is source code, by its metadata."""
    return "symbol" in metadata or metadata.get("mime") in _VERBATIM


def _whole(text: str, kind: str) -> list[Block]:
    trimmed = text.strip("\n")
    start = text.find(trimmed)
    return [Block(kind, [Span(start, start + len(trimmed))])] if trimmed.strip() else []


class _MarkdownReader:
    """Reads Markdown line by line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._code = [Span(*span) for span in code_spans(text)]
        self._heading = ""
        self._lead = ""  # the last paragraph, which introduces what follows
        self._open: Block | None = None
        self._header: list[Span] = []  # of the table that is being read

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order."""
        at, code = 0, iter(self._code)
        fence = next(code, None)
        while at < len(self._text):
            if fence is not None and at >= fence.start:
                yield from self._closed()
                yield self._block("code", fence)
                at, fence = fence.end + 1, next(code, None)
                continue
            end = self._text.find("\n", at)
            end = len(self._text) if end < 0 else end
            yield from self._line(Span(at, end))
            at = end + 1
        yield from self._closed()

    def _line(self, line: Span) -> Iterator[Block]:
        text = self._text[line.start : line.end]
        if not text.strip() or _HEADING.match(text) or self._is_mark(text):
            yield from self._closed()
            self._end_table(text)
        elif _ROW.match(text):
            yield from self._closed()
            yield from self._row(line, text)
        elif (item := _ITEM.match(text)) and not self._is_nested(item):
            yield from self._closed()
            self._open = self._block("item", line)
        elif self._open is not None:
            self._open.spans[0] = Span(self._open.spans[0].start, line.end)
        else:
            self._open = self._block("text", line)

    def _is_mark(self, text: str) -> bool:
        return _MARKS.match(text) is not None

    def _is_nested(self, item: re.Match[str]) -> bool:
        return self._open is not None and self._open.kind == "item" and len(item[1]) >= 2

    def _end_table(self, text: str) -> None:
        self._header = []
        if _HEADING.match(text):
            self._heading, self._lead = text.strip("# \t"), ""

    def _row(self, line: Span, text: str) -> Iterator[Block]:
        """Take a row of a table: its header, its rule, or a block."""
        if _RULE.match(text):
            self._header.append(line)
        elif not self._header and self._rule_follows(line):
            self._header = [line]
        else:
            yield Block("row", [*self._header, line], self._context())

    def _rule_follows(self, line: Span) -> bool:
        end = self._text.find("\n", line.end + 1)
        following = self._text[line.end + 1 : end if end >= 0 else None]
        return bool(_RULE.match(following)) and "|" in following

    def _block(self, kind: str, span: Span) -> Block:
        return Block(kind, [span], self._context())

    def _context(self) -> list[str]:
        return [text for text in (self._heading, self._lead) if text]

    def _closed(self) -> Iterator[Block]:
        """Yield the open block; a paragraph becomes the context of what follows."""
        block, self._open = self._open, None
        if block is not None:
            if block.kind == "text":
                self._lead = block.text(self._text)
            yield block


def _joined(text: str, found: list[Block]) -> list[Block]:
    """Return blocks with code joined to the paragraph above it, and short lists to a sentence that ends with a colon."""
    kept: list[Block] = []
    for block in found:
        last = kept[-1] if kept else None
        if last is not None and _belongs(text, last, block):
            last.spans = [Span(last.spans[0].start, block.spans[-1].end)]
            last.kind = "code" if block.kind == "code" else last.kind
        else:
            kept.append(block)
    return kept


def _belongs(text: str, last: Block, block: Block) -> bool:
    """Return whether a block belongs to the one before it."""
    start, end = last.spans[0].start, block.spans[-1].end
    if last.kind == "code" or text[last.spans[-1].end : block.spans[0].start].strip():
        return False
    if block.kind == "code":
        return last.kind in ("text", "item") and end - start <= JOINED
    first = text[start:end].split("\n\n", 1)[0].rstrip()
    return (
        block.kind == "item"
        and last.kind == "text"
        and not first.endswith(_STOPS)
        and end - start <= LONGEST
    )


def shown(block: Block, passage: str, metadata: Metadata) -> str:
    """Return a block as Markdown for people: code and rows as they are, text without its markup."""
    text = block.text(passage)
    if block.kind == "row":
        return text
    if block.kind == "code":
        return fenced(_aligned(text)) if is_source_code(metadata) else _introduced(text)
    return readable_text(text, metadata)


def readable_text(text: str, metadata: Metadata, *, is_plain: bool = False) -> str:
    """Return text without its markup and its lines joined; `is_plain` removes the marks of inline code, too."""
    if metadata.get("mime") in _PLAIN:
        return one_line(text)
    return _unwrapped(readable(text, keeps_code_marks=not is_plain))


def _aligned(code: str) -> str:
    """Return code with its lines moved left, because a passage begins after the indentation of its first line."""
    first, *others = code.split("\n")
    shift = shift_after(first, [line for line in others if line.strip()])
    return "\n".join([first, *(line[shift:] if line.strip() else line for line in others)])


def shift_after(first: str, filled: list[str]) -> int:
    """Return how far the lines of code after the first of a passage, which has lost its indentation, move left."""
    least = min(map(indent, filled), default=0)
    if least == 0 or indent(first):
        return 0
    closes = indent(filled[-1]) == least and _CLOSING.match(filled[-1])  # the level of the first
    return least if closes else max(0, least - (INDENT if least % INDENT == 0 else INDENT // 2))


def indent(line: str) -> int:
    """Return the number of spaces at the start of a line."""
    return len(line) - len(line.lstrip(" "))


def fenced(code: str) -> str:
    """Return source code between fences that are longer than any of its own."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code}\n{fence}"


def _introduced(text: str) -> str:
    """Return fenced code with the text above it."""
    start = next((start for start, _ in code_spans(text)), len(text))
    above = _unwrapped(readable(text[:start]))
    return f"{above}\n\n{text[start:]}" if above else text[start:]


def _unwrapped(text: str) -> str:
    """Join the lines of each paragraph and list item."""
    joined = _SOFT.sub(" ", text.strip())
    return "\n".join(filter(None, (line.rstrip() for line in joined.split("\n"))))


def shortened(block: Block, passage: str, asked: QuestionTerms) -> Block:
    """Return a text block of at most LONGEST characters: its sentences around the one with most of the question."""
    start, end = block.spans[0]
    if block.kind not in ("text", "item") or end - start <= LONGEST:
        return block
    cuts = [Span(start + a, start + b) for a, b in sentences(passage[start:end])]
    weights = [asked.weight(asked.held(passage[a:b])) for a, b in cuts]
    return Block(block.kind, [_around(cuts, weights.index(max(weights)))], block.context)


def _around(cuts: list[Span], best: int) -> Span:
    """Return the sentences after and before the best one, in turn, while they fit into LONGEST."""
    first = last = best
    grown = True
    while grown:
        grown = False
        if last + 1 < len(cuts) and cuts[last + 1].end - cuts[first].start <= LONGEST:
            last, grown = last + 1, True
        if first > 0 and cuts[last].end - cuts[first - 1].start <= LONGEST:
            first, grown = first - 1, True
    return Span(cuts[first].start, cuts[last].end)
