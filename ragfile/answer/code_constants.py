"""Find the lines that define the constants in quoted code, which names a limit without its value.

The lines come from the same file, before the quotation. A constant is a name in capitals; its definition gives it a
value, or is a macro without parameters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ragfile.records import Span
from ragfile.search.blocks import fenced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.answer.best_blocks import Quotation
    from ragfile.records import Hit

MOST = 5  # definitions for one quotation
LINES = 5  # of a definition
CHUNKS_BEFORE = 200  # that are read
_NAME = re.compile(r"(?<![\w.\"'])_*[A-Z][A-Z0-9_]{2,}(?![\w\"'])")
# The names of a definition and what may stand beside them: modifiers, types, other names; then a value.
_DEFINITION = re.compile(
    r"^[ \t]{0,40}(?:#[ \t]{0,9}define[ \t]{1,9}(?P<macro>\w+)[ \t]|(?P<left>[\w \t,:<>&*\[\]]{3,100}?)=(?![=>]))",
    re.MULTILINE,
)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class Definition(NamedTuple):
    """The lines of a document that define constants: their text, and where they are."""

    text: str
    span: Span


def constants_before(hit: Hit, start: int, code: str) -> list[Definition]:
    """Return the lines of a document, before its character `start`, that define what code of one of its hits uses."""
    if hit.start < 0 or not (used := dict.fromkeys(_NAME.findall(code))):
        return []
    try:
        text, begin, _ = hit.context(before=min(hit.chunk_index, CHUNKS_BEFORE), after=0)
    except ValueError:  # of no open file
        return []
    found = definitions(text[: max(0, start - begin)], used)
    return [Definition(text[a:b], Span(begin + a, begin + b)) for a, b in found]


def with_constants(quotation: Quotation, hit: Hit, start: int, code: str) -> Quotation:
    """Return quoted code, which begins at character `start` of its document, below the constants that it uses."""
    found = constants_before(hit, start, code)
    if not found:
        return quotation
    shown = quotation.text.split("\n")[1:-1]  # without its fences
    lines = "\n".join([*(one.text for one in found), "", *shown])
    return quotation._replace(text=fenced(lines), constants=found)


def definitions(text: str, used: dict[str, None]) -> list[Span]:
    """Return the last definition of each name in a text, in order, for the names that are used first."""
    found: dict[str, Span] = {}
    for name, span in _defined(text):
        if name in used:
            found[name] = span
    kept = [found[name] for name in used if name in found][:MOST]
    return sorted(dict.fromkeys(kept))


def _defined(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the constants that a text defines, with the lines of each definition."""
    for match in _DEFINITION.finditer(text):
        names = [match["macro"]] if match["macro"] else _NAME.findall(match["left"])
        if names and (end := _end(text, match.end())) is not None:
            yield from ((name, Span(match.start(), end)) for name in names)


def _end(text: str, at: int) -> int | None:
    """Return where the lines of a definition end: the first line that leaves no bracket open."""
    depth = 0
    for _ in range(LINES):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        depth += sum((c in _OPENING) - (c in _CLOSING) for c in text[at:end])
        if depth <= 0:
            return end
        at = end + 1
    return None
