"""Source code made into segments, one for each definition or a few small ones in a row.

    outline("python")(text)      [(start, end, "Class > method"), …], in order

A segment's name is that of what encloses it. Two ways find definitions, both in one pass over the
text: by indentation (Python), and by braces. A parser for every language would be a dependency for
each, would fail on what it does not know, and would cut another version's files in another way.
Strings and comments are stepped over; whatever is not understood stays in the segment around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ragfile.ingest.loaders.braces import braced
from ragfile.ingest.loaders.indents import indented
from ragfile.ingest.loaders.scopes import Scope

TOGETHER = 1000  # characters: a definition as large as that is one segment, with all that is in it
NAMES = 200  # characters of names in one segment's title
DEPTH = 20  # scopes in scopes


def outline(language):
    """What finds the segments in a text of that language."""
    find = indented if language == "python" else shell if language == "shell" else braced(language)
    return lambda text: _merged(text, list(_pieces(find(text))))


_FUNCTION = re.compile(
    r"^(?:function[ \t]++(?P<a>[\w.:-]++)|(?P<b>[\w.:-]++)[ \t]*+\([ \t]*+\))[^\n]*+$", re.MULTILINE
)
_CLOSED = re.compile(r"^[})]", re.MULTILINE)


def shell(text):
    """Functions of a shell script: from their name in the first column to the brace there."""
    top = Scope("", 0, len(text))
    at = 0
    while m := _FUNCTION.search(text, at):
        closed = (
            None if "{" in m[0] and m[0].rstrip().endswith("}") else _CLOSED.search(text, m.end())
        )
        at = m.end() if closed is None and "}" in m[0] else closed.end() if closed else len(text)
        top.inner.append(Scope(m["a"] or m["b"], m.start(), at))
    return top


@dataclass(slots=True)
class _DefinitionPiece:
    """A span with the scopes around it and the definitions that begin in it."""

    start: int
    end: int
    above: tuple[str, ...]
    names: list[str] = field(default_factory=list)


def _pieces(scope, above=()):
    """A scope as pieces: what is small whole, else each inner scope and what lies between them."""
    at = scope.start
    for inner in scope.inner:
        if inner.start > at:
            yield _DefinitionPiece(at, inner.start, above)
        path = (*above, inner.name)
        if inner.end - inner.start > TOGETHER and inner.inner and len(path) < DEPTH:
            yield from _pieces(inner, path)
        else:
            yield _DefinitionPiece(inner.start, inner.end, above, [inner.name])
        at = inner.end
    if scope.end > at:
        yield _DefinitionPiece(at, scope.end, above)


def _merged(text, pieces):
    """(start, end, symbol) of pieces, of which neighbours in one scope are together while they are
    small.
    """
    found = []
    for piece in pieces:
        if not text[piece.start : piece.end].strip():
            continue
        last = found[-1] if found else None
        if last and last.above == piece.above and piece.end - last.start <= TOGETHER:
            last.end = piece.end
            last.names += piece.names
        else:
            found.append(piece)
    return [(piece.start, piece.end, _symbol(piece)) for piece in found]


def _symbol(piece):
    names = ", ".join(dict.fromkeys(piece.names))[:NAMES]
    return " > ".join([*piece.above, names] if names else piece.above)
