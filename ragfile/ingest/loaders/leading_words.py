"""Find the definitions of languages that begin them with a word: Ruby, Elixir, Lua, SQL and others.

Where blocks nest, a definition ends before the first line that is indented no more than it is; the
line with `end` or a closing brace belongs to it. In SQL and Haskell, a definition ends where the next
one begins. The comments directly above belong to a definition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ragfile.ingest.loaders.code_scopes import Scope

_NAME = r"(?P<name>[\w.:?!$@<>=~+*/%&|^\[\]\"`-]{1,200})"


class _Rule(NamedTuple):
    """How a language begins its definitions, closes them, and introduces them in the lines above."""

    begins: re.Pattern[str]
    closes: re.Pattern[str] | None  # None: definitions do not nest
    above: tuple[str, ...]


_RUBY = (
    rf"(?:(?:private|public|protected|module_function)[ \t]++)?(?:def|class|module)[ \t]++{_NAME}"
)
_ELIXIR = rf"(?:defmodule|defprotocol|defimpl|defmacrop?|defguardp?|defp?)[ \t]++{_NAME}"
_LUA = rf"(?:(?:local[ \t]++)?function[ \t]++{_NAME}|(?:local[ \t]++)?(?P<set>[\w.:]{{1,200}})[ \t]*+=[ \t]*+function\b)"
_POWERSHELL = rf"(?:function|filter|class|enum)[ \t]++{_NAME}"
_SQL = (
    r"create[ \t\n]++(?:(?:or[ \t]++replace|temp(?:orary)?|unlogged|unique|virtual|materialized|global)[ \t]++){0,3}"
    r"(?:table|view|function|procedure|trigger|index|type|schema|sequence|extension|role|database|policy)[ \t\n]++"
    rf"(?:if[ \t]++not[ \t]++exists[ \t]++)?{_NAME}"
)
_HASKELL = (
    r"(?:(?:data|newtype|type|class|instance)[ \t]++(?P<kind>(?:[^\n={]|=>){1,100})"
    r"|(?P<name>[\w']{1,200})[ \t]*+(?:,[ \t]*+[\w']++[ \t]*+){0,9}::)"
)
_END = re.compile(r"end\b")
_RULES = {
    "ruby": _Rule(re.compile(_RUBY), _END, ("#",)),
    "elixir": _Rule(re.compile(_ELIXIR), _END, ("#", "@")),
    "lua": _Rule(re.compile(_LUA), _END, ("--",)),
    "powershell": _Rule(re.compile(_POWERSHELL, re.IGNORECASE), re.compile(r"[})]"), ("#",)),
    "sql": _Rule(re.compile(_SQL, re.IGNORECASE), None, ("--",)),
    "haskell": _Rule(re.compile(_HASKELL), None, ("--", "{-#")),
}
LANGUAGES = frozenset(_RULES)
_LINE = re.compile(r"^([ \t]*+)(\S[^\n]*+)", re.MULTILINE)


class _OpenDefinition(NamedTuple):
    """A definition that has not ended, and its indentation."""

    width: int
    scope: Scope


class _WordedLine(NamedTuple):
    """A line with text: where its definition begins, with the comments above, and its parts."""

    first: int
    start: int
    width: int
    end: int


def worded(language: str) -> Callable[[str], Scope]:
    """Return a function that finds the Scope of a whole text in a language."""
    rule = _RULES[language]

    def find(text: str) -> Scope:
        top = Scope("", 0, len(text))
        stack = [_OpenDefinition(-1, top)]
        for line in _lines(text, rule.above):
            m = rule.begins.match(text, line.start + line.width)
            _close(stack, line, rule, text, is_definition=m is not None)
            if m and (rule.closes or not line.width):
                scope = Scope(_name(m), line.first, len(text))
                stack[-1].scope.inner.append(scope)
                stack.append(_OpenDefinition(line.width, scope))
        return top

    return find


def _close(
    stack: list[_OpenDefinition], line: _WordedLine, rule: _Rule, text: str, *, is_definition: bool
) -> None:
    """End the definitions that a line is no part of."""
    if rule.closes is None:
        if is_definition and not line.width and len(stack) > 1:
            stack.pop().scope.end = line.first
        return
    while stack[-1].width > line.width:
        stack.pop().scope.end = line.first
    if stack[-1].width == line.width:
        is_closed = rule.closes.match(text, line.start + line.width) is not None
        stack.pop().scope.end = line.end if is_closed else line.first


def _lines(text: str, above: tuple[str, ...]) -> Iterator[_WordedLine]:
    """Yield the lines with text, except comments, which belong to the line below them."""
    first: _WordedLine | None = None
    for m in _LINE.finditer(text):
        line = _WordedLine(m.start(), m.start(), len(m[1]), min(m.end() + 1, len(text)))
        is_next = first is not None and first.width == line.width and first.end == line.start
        if first is not None and is_next:
            line = line._replace(first=first.first)
        if m[2].startswith(above):
            first = line
            continue
        first = None
        yield line


def _name(m: re.Match[str]) -> str:
    """Return the name of a definition, whichever form it has."""
    found = m.groupdict()
    name = found.get("name") or found.get("set") or found.get("kind") or ""
    return " ".join(name.strip('"`').split()).removesuffix(" where")
