"""Divide source code into segments: one for each definition, or for several small ones in a row.

    outline("python")(text)      [(start, end, "Class > method"), …], in order

A segment is named by the scopes around it. Definitions are found by indentation (Python), by braces,
or by the word at the beginning of a line, in one pass over the text. A parser for every language would be a dependency for each, would
fail on code that it does not know, and would cut the files of another version differently. Strings
and comments are skipped; code that is not recognised stays in the segment around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ragfile.ingest.loaders.braces import braced
from ragfile.ingest.loaders.code_scopes import Scope
from ragfile.ingest.loaders.contract import Outline
from ragfile.ingest.loaders.indents import indented
from ragfile.ingest.loaders.leading_words import LANGUAGES, worded

TOGETHER = 1000  # characters: a definition up to this size is one segment with everything in it
NAMES = 200  # characters of names in one segment's title
DEPTH = 20  # nested scopes


def outline(language: str) -> Outline:
    """Return a function that finds the segments of a text in a language."""
    find = _finder(language)
    return lambda text: _merged(text, list(_pieces(find(text))))


def _finder(language: str) -> Callable[[str], Scope]:
    if language in LANGUAGES:
        return worded(language)
    return {"python": indented, "shell": shell}.get(language) or braced(language)


_FUNCTION = re.compile(
    r"^(?:function[ \t]++(?P<a>[\w.:-]++)|(?P<b>[\w.:-]++)[ \t]*+\([ \t]*+\))[^\n]*+$", re.MULTILINE
)
_CLOSED = re.compile(r"^[})]", re.MULTILINE)


def shell(text: str) -> Scope:
    """Find the functions of a shell script, whose names and closing braces are in the first column."""
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
    names: list[str] = field(default_factory=list[str])


def _pieces(scope: Scope, above: tuple[str, ...] = ()) -> Iterator[_DefinitionPiece]:
    """Divide a scope into its inner scopes, small ones whole, and the text between them."""
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


def _merged(text: str, pieces: Iterable[_DefinitionPiece]) -> list[tuple[int, int, str]]:
    """Return the (start, end, symbol) of pieces, with small neighbours in one scope joined."""
    found: list[_DefinitionPiece] = []
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


def _symbol(piece: _DefinitionPiece) -> str:
    names = ", ".join(dict.fromkeys(piece.names))[:NAMES]
    return " > ".join([*piece.above, names] if names else piece.above)
