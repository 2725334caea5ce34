"""Extract the sentences of a passage: remove markup; skip code, tables and headings.

Skipped parts are replaced by blanks of the same length, so each sentence keeps its exact place in the source; only its
displayed text is cleaned. The rules are few and cautious: a sign that may not be markup stays.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from ragfile.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAGS = (
    "a|abbr|b|blockquote|br|code|dd|del|details|div|dl|dt|em|figure|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|q|s|small"
    "|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|u|ul"
)
_FENCE = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
# Parts without sentences: comments, headings, rows and rules of tables, rules, references of links.
_BLOCK = re.compile(
    r"<!--.*?-->|^[ \t]*(?:#{1,6}[ \t][^\n]*|\|[^\n]*\|[ \t]*|[-=*_ \t]{3,}|\[[^]\n]+\]:[ \t][^\n]*)$",
    re.MULTILINE | re.DOTALL,
)
# Signs removed from a displayed sentence: templates, tags, pictures, the signs of lists and quotations, URLs of links,
# emphasis, marks of code.
_SIGN = re.compile(
    r"\{\{[<%].*?[%>]\}\}|\{%.*?%\}"
    rf"|</?(?:{_TAGS})(?:[ \t\n][^<>]*)?/?>"
    r"|!\[[^]\n]*\]\([^()\n]*\)"
    r"|^[ \t]*(?:[-*+]|\d{1,9}[.)]|>+)[ \t]+"
    r"|(?<!\\)\[(?=[^][\n]*\]\()|(?<=[^\s\[])\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)"
    r"|\*\*(?=\S)|(?<=\S)\*\*|(?<![*\w])\*(?=[^\s*])|(?<=[^\s*])\*(?![*\w])"
    r"|(?<!\w)_(?=[^\s_])|(?<=[^\s_])_(?!\w)|`+",
    re.MULTILINE | re.DOTALL,
)
_TEXT = re.compile(r'\btext="([^"\n]*)"')
_BLANK = re.compile(r"[^\n]")
_SPACES = re.compile(r"\s+")


def prose(text: str, is_continued: bool = False) -> str:
    """Return a text of the same length with blanks for all that is not a sentence.

    A continued text may begin with the end of a sentence, which is blanked, too.
    """
    for start, end in _code(text):
        text = _blanked(text, start, end)
    for pattern in (_BLOCK, _SIGN):
        text = pattern.sub(lambda m: _BLANK.sub(" ", m[0]), text)
    first = next(iter(sentences(text)), (0, 0)) if is_continued else (0, 0)
    return _blanked(text, *first) if text[first[0] : first[1]][:1].islower() else text


def cleaned(text: str, *, is_code: bool = False) -> str:
    """Return a part of a passage in one line without markup, and without code unless `is_code`."""
    if not is_code:
        for start, end in _code(text):
            text = _blanked(text, start, end)
        text = _BLOCK.sub(" ", text)
    text = _SIGN.sub(_left, _FENCE.sub(" ", text))
    return _SPACES.sub(" ", html.unescape(text)).strip()


def _left(sign: re.Match[str]) -> str:
    """Return the text that remains of a sign: that of a Hugo template."""
    shown = _TEXT.search(sign[0]) if sign[0].startswith("{{") else None
    return shown[1] if shown else ""


def _code(text: str) -> Iterator[tuple[int, int]]:
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


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + _BLANK.sub(" ", text[start:end]) + text[end:]
