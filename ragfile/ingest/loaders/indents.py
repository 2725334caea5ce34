"""Find the definitions of Python by indentation.

A class or function ends before the first line that is indented no more than it is. The comments and
decorators directly above belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ragfile.ingest.loaders.code_scopes import Scope
from ragfile.ingest.text_windows import always

# Strings, comments and brackets are skipped: no logical line begins inside one.
_TOKEN = re.compile(
    r'"""|\'\'\'|"(?:[^"\\\n]++|\\.)*+"?|\'(?:[^\'\\\n]++|\\.)*+\'?|#[^\n]*+|[(\[{)\]}]|\\\n|\n',
    re.DOTALL,
)
_REST = {
    '"""': re.compile(r'(?:[^\\"]++|\\.|"(?!""))*+"""', re.DOTALL),
    "'''": re.compile(r"(?:[^\\']++|\\.|'(?!''))*+'''", re.DOTALL),
}
_BLANKS = always(r"[ \t]*+")
_PLAIN = re.compile(r"(?:async[ \t]++)?(?:def|class)[ \t]++(\w++)")
_TYPED = re.compile(r"cp?def[ \t]++[^(:=\n]{0,200}")  # Cython's
_LEFT = re.compile(r"(?:async[ \t]+)?(?:def|class)[ \t]")
HEAD = 300  # characters of a line that are searched for a name


class _OpenScope(NamedTuple):
    """A scope that has not ended, and the indentation of its first line."""

    width: int
    scope: Scope


class _Preamble(NamedTuple):
    """The comments and decorators above a line: their start and indentation."""

    start: int
    width: int


def indented(text: str) -> Scope:
    """Find the Scope of a whole text."""
    top = Scope("", 0, len(text))
    stack, above = [_OpenScope(-1, top)], None
    for start in _lines(text):
        at = _BLANKS.match(text, start).end()
        if text[at : at + 1] in ("", "\n"):
            continue
        width = at - start
        first = above.start if above and above.width == width else start
        if text[at] not in "#)]}":
            while stack[-1].width >= width:
                stack.pop().scope.end = first
        if (name := _name(text, at)) is not None:
            stack[-1].scope.inner.append(scope := Scope(name, first, len(text)))
            stack.append(_OpenScope(width, scope))
        above = _Preamble(first, width) if text[at] in "@#" else None
    return top


def _lines(text: str) -> Iterator[int]:
    """Yield the start of each logical line."""
    yield 0
    at = depth = 0
    while m := _TOKEN.search(text, at):
        at, token = m.end(), m[0]
        if token in _REST:
            closed = _REST[token].match(text, at)
            at = closed.end() if closed else len(text)
        elif token == "\n":
            if depth and _LEFT.match(text, at):
                depth = 0  # a bracket that was never closed
            if not depth:
                yield at
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(depth - 1, 0)


def _name(text: str, at: int) -> str | None:
    """Return the name that the line at an offset defines, None for other lines."""
    if m := _PLAIN.match(text, at):
        return m[1]
    if (m := _TYPED.match(text, at)) and text[m.end() : m.end() + 1] in ("(", ":"):
        return m[0].split()[-1].strip("*&")
    return None
