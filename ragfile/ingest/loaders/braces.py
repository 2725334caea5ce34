"""Find the definitions of languages with braces: C, Java, Go, Rust, JavaScript, Swift and others.

The text before an opening brace, back to the previous empty line, semicolon or brace, decides
whether the braces hold a class or the like (which is searched), a function (which is not), or
something else. Groups in parentheses and angle brackets are removed from it first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ragfile.ingest.loaders.code_scopes import Scope
from ragfile.ingest.text_windows import always

HEAD = 2000  # characters that are read before a brace

_COMMENT = r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
_QUOTED = r'"(?:[^"\\\n]++|\\.)*+"?'
_ONE = r"'(?:[^'\\\n]|\\[^\n']{0,9}\\?.)'"  # a character, not a lifetime
_MARKS = r"[{};]"
_TOKENS = {
    "c": rf"{_COMMENT}|R\"(?P<raw>[^()\\\s]{{0,16}})\(|{_QUOTED}|{_ONE}|^[ \t]*+\#(?:[^\\\n]++|\\.)*+|{_MARKS}",
    "java": rf'{_COMMENT}|(?P<block>""")|{_QUOTED}|{_ONE}|{_MARKS}',
    "go": rf"{_COMMENT}|(?P<tick>`)|{_QUOTED}|{_ONE}|{_MARKS}",
    "rust": rf'{_COMMENT}|\br(?P<hashes>\#{{0,16}})"|"(?:[^"\\]++|\\.)*+"?|{_ONE}|{_MARKS}',
    "js": rf"{_COMMENT}|(?P<tick>`)|{_QUOTED}|'(?:[^'\\\n]++|\\.)*+'?|{_MARKS}",
    "php": rf"{_COMMENT}|\#(?!\[)[^\n]*+|{_QUOTED}|'(?:[^'\\]++|\\.)*+'?|{_MARKS}",
    "zig": rf"{_COMMENT}|^[ \t]*+\\\\[^\n]*+|{_QUOTED}|{_ONE}|{_MARKS}",
}
for _language in ("csharp", "kotlin", "scala", "swift"):
    _TOKENS[_language] = _TOKENS["java"]
_TICKED = re.compile(r"(?:[^`\\]++|\\.)*+`", re.DOTALL)
_TAIL = always(r"[ \t]*+[;,)]?+")
_PARAGRAPH = re.compile(r"\n[ \t]*+\n")

_WORDS_OF_CONTROL = frozenset(
    """
    if for while switch catch else do try return synchronized using lock when match loop defer go
    select sizeof alignas decltype noexcept throw new await yield case default unsafe static
    foreach elseif declare guard
    """.split()  # noqa: SIM905 - a list of words is easier to read
)
_HOLDER = re.compile(
    r"\b(class|interface|trait|namespace|record|mod|module|enum|struct|union|impl)(?![\w.$])"
    r"[ \t\n]*+([^\n{(:=;]{0,200})"
)
_WIDER = re.compile(  # where such words are no names
    r"\b(class|interface|trait|enum|struct|object|protocol|extension|actor)(?![\w.$])"
    r"[ \t\n]*+([^\n{(:=;]{0,200})"
)
_HOLDERS: dict[str, re.Pattern[str]] = dict.fromkeys(("kotlin", "scala", "swift"), _WIDER)
_CALLED = re.compile(r"([~\w$#:]++)[ \t\n]*+\(\)")
_OPERATOR = re.compile(r"\boperator[ \t]*+[^\s\w(]{1,3}")
_GO = re.compile(
    r"^func[ \t]++(?:\([ \t]*+(?:\w++[ \t]++)?+\*?+(\w++)[^)\n]{0,100}\)[ \t]*+)?+(\w++)", re.M
)
_GO_TYPE = re.compile(r"^type[ \t]++(\w++)", re.M)
_RUST = re.compile(r"\b(?:fn[ \t]++|macro_rules![ \t]*+)(\w++)")
_ZIG = re.compile(
    r"\bconst[ \t]++(\w++)[ \t]*+=[ \t]*+(?:(?:packed|extern)[ \t]++)?(?:struct|enum|union|opaque)\b"
)
_ARROW = re.compile(
    r"([\w$.#]++)[ \t]*+(?::[^=\n]{0,200})?[=:][ \t]*+(?:async\b[ \t]*+)?"
    r"(?:function\b[ \t*]*+[\w$]*+[ \t]*+\(\)|(?:\(\)|[\w$]++)[^=\n]{0,200}=>)"
)
_PAST = ")],; \t\n"  # remains of the previous statement
_COMMENTS = re.compile(rf"{_COMMENT}|{_QUOTED}|{_ONE}|^[ \t]*+\#[^\n]*+|->", re.M)
_COMMENTS_JS = re.compile(rf"{_COMMENT}|{_QUOTED}|'[^'\n]*+'", re.M)
_GROUPS = re.compile(r"\([^()]*+\)"), re.compile(r"<[^<>()=]*+>"), re.compile(r"\[[^\[\]]*+\]")
_NOTES = re.compile(r"@[\w.]++(?:[ \t]*+\(\))?+|\b__\w++(?:[ \t]*+\(\))?+")


class _OpenBrace(NamedTuple):
    """The scope inside an opening brace."""

    scope: Scope
    is_searched: bool
    ends_scope: bool  # its closing brace ends the scope


class _Head(NamedTuple):
    """The definition that ends in an opening brace; None for none, "" for one without a name."""

    name: str | None
    is_searched: bool = False


def braced(language: str) -> Callable[[str], Scope]:
    """Return a function that finds the Scope of a whole text in a language."""
    token = re.compile(_TOKENS[language], re.MULTILINE | re.DOTALL)

    def find(text: str) -> Scope:
        top = Scope("", 0, len(text))
        stack, since, at = [_OpenBrace(top, True, False)], 0, 0
        while m := token.search(text, at):
            at, mark = _ended(text, m), m[0]
            if mark == "{":
                stack.append(_opened(text, since, m.start(), stack[-1], language))
            elif mark == "}" and len(stack) > 1:
                closed = stack.pop()
                if closed.ends_scope:
                    at = closed.scope.end = _TAIL.match(text, at).end()
            elif mark not in ("}", ";") and not mark.lstrip().startswith("#"):
                continue
            since = at
        return top

    return find


def _ended(text: str, m: re.Match[str]) -> int:
    """Return the end of a token, including a string that it begins."""
    groups = m.groupdict()
    if groups.get("raw") is not None:
        return _after(text, f'){m["raw"]}"', m.end())
    if groups.get("hashes") is not None:
        return _after(text, f'"{m["hashes"]}', m.end())
    if groups.get("block"):
        return _after(text, '"""', m.end())
    if groups.get("tick"):
        closed = _TICKED.match(text, m.end())
        return closed.end() if closed else len(text)
    return m.end()


def _after(text: str, mark: str, at: int) -> int:
    found = text.find(mark, at)
    return len(text) if found < 0 else found + len(mark)


def _opened(text: str, since: int, brace: int, outer: _OpenBrace, language: str) -> _OpenBrace:
    """Add the scope that a brace opens to the one around it."""
    scope, is_searched, _ = outer
    if not is_searched:
        return _OpenBrace(scope, False, False)
    start = since
    for m in _PARAGRAPH.finditer(text, max(since, brace - HEAD), brace):
        start = m.end()
    if text[start:brace].isspace():
        start = since
    head = _head(text[max(start, brace - HEAD) : brace], language)
    if head.name is None:
        return _OpenBrace(scope, False, False)
    if not head.name:  # such as extern "C": its definitions belong to the scope around it
        return _OpenBrace(scope, head.is_searched, False)
    start = _line_start(text, start, since)
    scope.inner.append(made := Scope(head.name, start, len(text)))
    return _OpenBrace(made, head.is_searched, True)


def _line_start(text: str, start: int, since: int) -> int:
    """Return the beginning of a definition's line, after anything before `since` on it."""
    while start < len(text) and text[start] in " \t\n":
        start += 1
    line = text.rfind("\n", since, start) + 1
    return max(line, since)


def _head(head: str, language: str) -> _Head:
    """Read the text before a brace."""
    if language == "go":
        return _in_go(head)
    head = (_COMMENTS_JS if language == "js" else _COMMENTS).sub(" ", head).lstrip(_PAST)
    for pattern in _GROUPS:
        for _ in range(6):
            head, count = pattern.subn("()" if pattern is _GROUPS[0] else "", head)
            head = head.replace("()", "\1\2") if count and pattern is _GROUPS[0] else head
            if not count:
                break
        head = head.replace("\1\2", "()")
    head = _NOTES.sub(" ", head)
    if "(" in head.replace("()", "") or ")" in head.replace("()", ""):
        return _Head(None)
    return _reduced(head.strip(), language)


def _in_go(raw: str) -> _Head:
    found = None
    for m in _GO.finditer(raw):
        found = f"{m[1]}.{m[2]}" if m[1] else m[2]
    if found is None:
        for m in _GO_TYPE.finditer(raw):
            found = m[1]
    return _Head(found)


def _reduced(head: str, language: str) -> _Head:
    if language == "rust" and (m := _RUST.search(head)):
        return _Head(m[1])
    if language == "zig" and (m := _ZIG.search(head)):
        return _Head(m[1], True)
    m = _HOLDERS.get(language, _HOLDER).search(head)
    if m and not (m[1] in ("struct", "union", "enum") and "()" in head[m.end() :]):
        words = m[2].split()
        if m[1] == "impl":
            return _Head(" ".join(words) or None, True)
        return _Head(words[0] if words else "", m[1] != "enum" or language == "java")
    if language == "c" and head.startswith("extern") and "()" not in head:
        return _Head("", True)
    if language == "js":
        return _in_js(head)
    if operator := _OPERATOR.search(head):
        return _Head(operator[0])
    called = _CALLED.search(head)
    if called is None or "=" in head[: called.start()]:
        return _Head(None)
    return _Head(None if called[1] in _WORDS_OF_CONTROL else called[1])


def _in_js(head: str) -> _Head:
    last = head.rpartition("\n")[2]
    if m := _ARROW.search(last):
        return _Head(m[1])
    called = _CALLED.search(last)
    if called is None or "=" in last[: called.start()] or called[1] in _WORDS_OF_CONTROL:
        return _Head(None)
    return _Head("default" if called[1] == "function" else called[1])
