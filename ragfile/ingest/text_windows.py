"""Cut a text into windows: spans within a size that end at a pause and overlap.

    for start, end in windows(text, 0, len(text), 1000, 200, blocks(text, 0, len(text), 1000)): ...

`blocks` finds the spans that a window should not cut: code fences and tables.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias, cast

from ragfile.records import Span

Blocks: TypeAlias = Sequence[Span]
SHARE = 5  # a window or section below a fifth of the size is small


class TotalPattern(Protocol):
    """A pattern that matches at every offset, if only the empty string."""

    def match(self, text: str, start: int = 0, end: int = sys.maxsize, /) -> re.Match[str]: ...


def always(pattern: str) -> TotalPattern:
    """Compile a pattern that matches at every offset where it is used."""
    return cast("TotalPattern", re.compile(pattern))


GAP = always(r"[ \t\n]*")
_MARKED = re.compile(r"^[ \t]*+(?:(?P<fence>`{3,}(?=[^`\n]*+$)|~{3,})|[^\n|]*+\|)", re.MULTILINE)
_SIGNS = ("|", "```", "~~~")  # every fence and table has one
_LINE_END = always(r"[^\n]*+")
_ROWS = always(r"(?:\n[^\n|]*+\|[^\n]*+)*+")


def blocks(text: str, start: int, end: int, size: int) -> list[Span]:
    """Return the fences and tables in text[start:end] that fit in a window of `size`.

    The line of `start` has nothing but blanks before it.
    """
    if all(text.find(sign, start, end) < 0 for sign in _SIGNS):
        return []
    found = (Span(max(first, start), last) for first, last in _all_blocks(text, start, end))
    return [block for block in found if block.end - block.start <= size]


def _all_blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield each fence up to its closing line, and each run of two or more lines with "|", in
    order.
    """
    at = text.rfind("\n", 0, start) + 1
    while m := _MARKED.search(text, at, end):
        first = m.start()
        if m["fence"]:
            at = _closed(text, m["fence"], m.end(), end)
            yield first, at
        else:
            line = _LINE_END.match(text, m.end(), end).end()
            at = _ROWS.match(text, line, end).end()
            if at > line:
                yield first, at


def _closed(text: str, fence: str, at: int, end: int) -> int:
    close = re.compile(
        rf"^[ \t]*+{re.escape(fence[0])}{{{len(fence)},}}+[ \t]*+$", re.MULTILINE
    ).search(text, at, end)
    return close.end() if close else end


def windows(
    text: str, start: int, end: int, size: int, overlap: int, whole: Blocks = ()
) -> Iterator[tuple[int, int]]:
    """Yield spans of at most `size` in text[start:end], without the blanks around them.

    A block in `whole` is cut only if the window before it would otherwise be small.
    """
    while end > start and text[end - 1] in " \t\n":
        end -= 1
    start = GAP.match(text, start, end).end() if end > start else end
    shown = start
    while start < end:
        stop = end if end - start <= size else _cut(text, start, size, whole)
        visible = _rstrip(text, start, stop)
        if visible > shown:  # otherwise only blanks are new
            shown = visible
            yield start, visible
        if stop == end:
            return
        start = _restart(text, start, stop, overlap, whole)


def _rstrip(text: str, start: int, stop: int) -> int:
    while stop > start + 1 and text[stop - 1] in " \t\n":
        stop -= 1
    return stop


def _cut(text: str, start: int, size: int, whole: Blocks) -> int:
    """Return the best end of a window.

    It is before a block that the window would cut; else, in its second half, after a paragraph, line,
    sentence, CJK stop or word.
    """
    limit, middle = start + size, start + (size + 1) // 2
    block = _around(whole, limit)
    if block is not None and block.start - start >= size // SHARE:
        return block.start
    for mark in ("\n\n", "\n", ". ", "。", " "):
        stop = _last(text, mark, middle, limit, whole, block)
        if stop:
            return stop
    return _whole_cluster(text, start, limit)


def _last(text: str, mark: str, middle: int, limit: int, whole: Blocks, cut: Span | None) -> int:
    """Return the end of the last mark that is in no block other than `cut`, or 0."""
    while (at := text.rfind(mark, middle, max(middle, limit))) >= 0:
        stop = at + len(mark)
        block = _around(whole, stop)
        if block is None or block == cut:
            return stop
        limit = block.start
    return 0


def _around(whole: Blocks, at: int) -> Span | None:
    """Return the block that a cut at this offset would divide."""
    i = bisect_left(whole, (at,)) - 1
    return whole[i] if i >= 0 and at < whole[i].end else None


_JOINING = re.compile(
    "[\u0300-\u036f\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)


def _whole_cluster(text: str, start: int, limit: int) -> int:
    """Step back up to 16 characters to keep a character and its marks, or an emoji, in one piece."""
    for at in range(limit, max(start + 1, limit - 16), -1):
        if not _JOINING.match(text, at) and text[at - 1] != "\u200d":
            return at
    return limit


def _restart(text: str, start: int, stop: int, overlap: int, whole: Blocks) -> int:
    """Return the start of the next window: of a line or word, at most `overlap` before the last end.

    A block that it would cut is left to the window before.
    """
    earliest = max(stop - overlap, start + 1)
    if earliest >= stop:
        return GAP.match(text, stop).end()
    again = GAP.match(text, _paused(text, earliest, stop)).end()
    block = _around(whole, again)
    if block is not None and block.end <= stop:
        return GAP.match(text, block.end).end()
    return again


def _paused(text: str, earliest: int, stop: int) -> int:
    for mark in ("\n", " "):
        at = text.find(mark, earliest - 1, stop - 1)
        if at >= 0:
            return at
    return earliest
