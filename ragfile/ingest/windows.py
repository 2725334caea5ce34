"""Windows of a text: spans within a size that end where reading pauses and share some text.

    for start, end in windows(text, 0, len(text), 1000, 200, blocks(text, 0, len(text), 1000)): ...

`blocks` are what a window shall not cut in the middle: fences of code, and tables.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

Blocks = Sequence[tuple[int, int]]
SHARE = 5  # below a fifth of the size a window or a section is small


def always(pattern: str) -> Any:
    """A pattern that matches wherever it is asked for here."""
    return re.compile(pattern)


GAP = always(r"[ \t\n]*")
_MARKED = re.compile(r"^[ \t]*+(?:(?P<fence>`{3,}(?=[^`\n]*+$)|~{3,})|[^\n|]*+\|)", re.MULTILINE)
_SIGNS = ("|", "```", "~~~")  # without which nothing is marked
_LINE_END = always(r"[^\n]*+")
_ROWS = always(r"(?:\n[^\n|]*+\|[^\n]*+)*+")


def blocks(text, start, end, size):
    """The fences and tables in text[start:end] that a window of `size` can hold. Before start
    there is nothing but blanks on its line.
    """
    if all(text.find(sign, start, end) < 0 for sign in _SIGNS):  # most text has none of them
        return []
    found = ((max(first, start), last) for first, last in _all_blocks(text, start, end))
    return [(first, last) for first, last in found if last - first <= size]


def _all_blocks(text, start, end):
    """Spans in order: from a fence to the line that closes it; two or more lines with "|"."""
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


def _closed(text, fence, at, end):
    close = re.compile(
        rf"^[ \t]*+{re.escape(fence[0])}{{{len(fence)},}}+[ \t]*+$", re.MULTILINE
    ).search(text, at, end)
    return close.end() if close else end


def windows(text, start, end, size, overlap, whole: Blocks = ()):
    """Spans of at most `size` in text[start:end], blanks left out around. None of the blocks in
    `whole` is cut where that leaves more than a small window before it.
    """
    while end > start and text[end - 1] in " \t\n":
        end -= 1
    start = GAP.match(text, start, end).end() if end > start else end
    shown = start
    while start < end:
        stop = end if end - start <= size else _cut(text, start, size, whole)
        visible = _rstrip(text, start, stop)
        if visible > shown:  # else only blanks are new
            shown = visible
            yield start, visible
        if stop == end:
            return
        start = _restart(text, start, stop, overlap, whole)


def _rstrip(text, start, stop):
    while stop > start + 1 and text[stop - 1] in " \t\n":
        stop -= 1
    return stop


def _cut(text, start, size, whole):
    """The best end in the second half of a window: before a block that would be cut; else after a
    paragraph, line, sentence, CJK stop or word.
    """
    limit, middle = start + size, start + (size + 1) // 2
    block = _around(whole, limit)
    if block is not None and block[0] - start >= size // SHARE:
        return block[0]
    for mark in ("\n\n", "\n", ". ", "。", " "):
        stop = _last(text, mark, middle, limit, whole, block)
        if stop:
            return stop
    return _whole_cluster(text, start, limit)


def _last(text, mark, middle, limit, whole, cut):
    """The end of the last mark that ends in no block but `cut`, 0 without one."""
    while (at := text.rfind(mark, middle, max(middle, limit))) >= 0:
        stop = at + len(mark)
        block = _around(whole, stop)
        if block is None or block == cut:
            return stop
        limit = block[0]
    return 0


def _around(whole, place):
    """The block that a cut at this place would cut."""
    i = bisect_left(whole, (place,)) - 1
    return whole[i] if i >= 0 and place < whole[i][1] else None


_JOINING = re.compile(
    "[\u0300-\u036f\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)


def _whole_cluster(text, start, limit):
    """Steps back, a little, from between a character and its marks or the parts of an emoji."""
    for at in range(limit, max(start + 1, limit - 16), -1):
        if not _JOINING.match(text, at) and text[at - 1] != "\u200d":
            return at
    return limit


def _restart(text, start, stop, overlap, whole):
    """The start of the next window: of a line or word, up to `overlap` before the end of the last
    one, after a block that it would cut.
    """
    earliest = max(stop - overlap, start + 1)
    if earliest >= stop:
        return GAP.match(text, stop).end()
    again = GAP.match(text, _paused(text, earliest, stop)).end()
    block = _around(whole, again)
    if block is not None and block[1] <= stop:
        return GAP.match(text, block[1]).end()
    return again


def _paused(text, earliest, stop):
    for mark in ("\n", " "):
        at = text.find(mark, earliest - 1, stop - 1)
        if at >= 0:
            return at
    return earliest
