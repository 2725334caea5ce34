"""The definitions of Python by their indentation: a class or function ends before the first line that
is indented no more than it is. The comments and decorators directly above belong to it.
"""

from __future__ import annotations

import re

from ragfile.ingest.loaders.scopes import Scope
from ragfile.ingest.windows import always

# Strings, comments and brackets are stepped over: no line begins in one of them.
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
HEAD = 300  # characters of a line in which a name is looked for


def indented(text):
    """The Scope of a whole text."""
    top = Scope("", 0, len(text))
    stack, above = [(-1, top)], None  # above is where comments and decorators begin, and how deep
    for start in _lines(text):
        at = _BLANKS.match(text, start).end()
        if text[at : at + 1] in ("", "\n"):
            continue
        width = at - start
        first = above[0] if above and above[1] == width else start
        if text[at] not in "#)]}":
            while stack[-1][0] >= width:
                stack.pop()[1].end = first
        if (name := _name(text, at)) is not None:
            stack[-1][1].inner.append(scope := Scope(name, first, len(text)))
            stack.append((width, scope))
        above = (first, width) if text[at] in "@#" else None
    return top


def _lines(text):
    """Where logical lines begin."""
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


def _name(text, at):
    """The name that the line at a place defines, None without one."""
    if m := _PLAIN.match(text, at):
        return m[1]
    if (m := _TYPED.match(text, at)) and text[m.end() : m.end() + 1] in ("(", ":"):
        return m[0].split()[-1].strip("*&")
    return None
