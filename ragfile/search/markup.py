"""Remove the markup of a passage, for people: links become their text, emphasis, tags and templates go.

The rules are few and cautious: a sign that may not be markup stays. Code is never altered, inline code with its marks
included.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAGS = (
    "a|abbr|b|blockquote|br|caption|code|col|colgroup|dd|del|details|div|dl|dt|em|figure|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|q|s|small"
    "|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|u|ul"
)
_FENCE = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
# Parts without text: comments, rules, references of links.
_BLOCK = re.compile(
    r"<!--.*?-->|^[ \t]*(?:[-=*_ \t]{3,}|\[[^]\n]+\]:[ \t][^\n]*)$", re.MULTILINE | re.DOTALL
)
# Signs that are removed: templates, tags, pictures, the marks of quotations and directives, URLs of links.
_SIGN = re.compile(
    r"\{\{[<%].*?[%>]\}\}|\{%.*?%\}"
    rf"|(?:</?(?:{_TAGS})(?:[ \t\n](?:\{{\{{[<%].*?[%>]\}}\}}|[^<>])*)?/?>)+"
    r"|!\[[^]\n]*\]\([^()\n]*\)"
    r"|^[ \t]*(?:>+[ \t]+|:{3,}[ \t]*)"
    r"|(?<!\\)\[(?=[^][]*\]\()|(?<=[^\s\[])\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)",
    re.MULTILINE | re.DOTALL,
)
# Signs that are removed in pairs around the text of a group.
_PAIRS = (
    re.compile(r"(?<![*\w\\])\*\*(?=[^\s*])((?:(?!\n[ \t]*\n)[^*])+?)(?<=[^\s*\\])\*\*(?!\*)"),
    re.compile(r"(?<![*\w\\])\*(?=[^\s*])((?:(?!\n[ \t]*\n)[^*])+?)(?<=[^\s*\\])\*(?![*\w])"),
    re.compile(r"(?<![\w\\])_(?=[^\s_])((?:(?!\n[ \t]*\n)[^_])+?)(?<=[^\s_\\])_(?!\w)"),
)
_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));")
# The entities that documents have; a rarer one stays.
_NAMED = {
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "quot": '"',
    "apos": "'",
    "nbsp": " ",
    "ensp": " ",
    "emsp": " ",
    "thinsp": " ",
    "ndash": "–",
    "mdash": "—",
    "hellip": "…",
    "lsquo": "‘",
    "rsquo": "’",
    "ldquo": "“",
    "rdquo": "”",
    "laquo": "«",
    "raquo": "»",
    "copy": "©",
    "reg": "®",
    "trade": "™",
    "deg": "°",
    "times": "×",
    "middot": "·",
    "bull": "•",
    "larr": "←",
    "rarr": "→",
    "uarr": "↑",
    "darr": "↓",
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "plusmn": "±",
    "micro": "µ",
    "euro": "€",
    "pound": "£",
    "sect": "§",
    "para": "¶",
    "check": "✓",
    "lbrace": "{",
    "rbrace": "}",
    "lbrack": "[",
    "rbrack": "]",
    "lpar": "(",
    "rpar": ")",
    "vert": "|",
    "ast": "*",
    "lowbar": "_",
    "grave": "`",
    "num": "#",
}
# Characters that stand for inline code while signs are removed.
_FIRST, _STAND_INS = 0xE000, 6400
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_TEXT = re.compile(r'\btext="([^"\n]*)"')
_CELL = re.compile(
    r"</?(?:blockquote|br|caption|dd|div|dl|dt|h[1-6]|hr|li|p|table|td|th|tr)\b"
)  # tags between words
_SPACES = re.compile(r"\s+")


def readable(text: str, *, keeps_code_marks: bool = True) -> str:
    """Return Markdown without its markup, except for the marks of inline code, unless they go, too. Lines stay."""
    codes = [code[0] for code in _INLINE.finditer(text)]
    if _PRIVATE.search(_unescaped(text)) or len(codes) > _STAND_INS:
        return text
    number = count(_FIRST)
    masked = _INLINE.sub(lambda _: chr(next(number)), text)
    masked = _unescaped(_SIGN.sub(_left, _BLOCK.sub("", masked)))
    for pair in _PAIRS:
        masked = pair.sub(r"\1", masked)
    shown = codes if keeps_code_marks else [_unmarked(code) for code in codes]
    return _PRIVATE.sub(lambda sign: shown[ord(sign[0]) - _FIRST], masked)


def _unescaped(text: str) -> str:
    """Return a text with characters for entities, except for those that no text has."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    if entity[3]:
        return _NAMED.get(entity[3], entity[0])
    code = int(entity[1]) if entity[1] else int(entity[2], 16)
    is_character = 32 <= code < 0xD800 or 0xE000 <= code < 0x110000
    return chr(code) if is_character and not 127 <= code < 160 else entity[0]


def _unmarked(code: str) -> str:
    """Return inline code without its marks, and without the blanks that separate it from them."""
    inside = code.strip("`")
    is_padded = inside.startswith(" ") and inside.endswith(" ") and inside.strip()
    return inside[1:-1] if is_padded else inside


def one_line(text: str) -> str:
    """Return a text in one line."""
    return _SPACES.sub(" ", text).strip()


def _left(sign: re.Match[str]) -> str:
    """Return the text that remains of a sign: that of a Hugo template, a blank for tags between words."""
    if sign[0].startswith("<"):
        start, end = sign.span()
        words = (
            sign.string[max(0, start - 1) : start].strip() and sign.string[end : end + 1].strip()
        )
        return " " if words and _CELL.search(sign[0]) else ""
    shown = _TEXT.search(sign[0]) if sign[0].startswith("{{") else None
    return shown[1] if shown else ""


def code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of fenced code, fences included. A passage can begin or end inside one."""
    opened = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif _closes(fence, opened):
            yield opened.start(), fence.end()
            opened = None
        elif _language(fence):  # opens, so the one before closed what began before the passage
            yield 0, opened.end()
            opened = fence
    if opened is not None:
        is_end = not _language(opened) and text[opened.end() :].lstrip(" \t").startswith("\n\n")
        yield (0, opened.end()) if is_end else (opened.start(), len(text))


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    is_like = fence[1][0] == opened[1][0] and len(fence[1]) >= len(opened[1])
    return is_like and not _language(fence)


def _language(fence: re.Match[str]) -> str:
    """Return the text after the signs of a fence; only an opening fence has one."""
    return fence[0].partition(fence[1])[2].strip("`~ \t")
