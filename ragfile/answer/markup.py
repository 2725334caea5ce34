"""What a passage says in sentences, for people: markup is taken off, and code, tables and headings are passed over.

Stretches that are not said are found in the text as it is, so a sentence keeps its exact place in the source; only
what is shown of it is cleaned. Rules are few and cautious: a sign that is not markup stays.
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
# What is not a sentence: comments, a heading's line, a row or rule of a table, a rule, a reference of a link.
_BLOCK = re.compile(
    r"<!--.*?-->|^[ \t]*(?:#{1,6}[ \t][^\n]*|\|[^\n]*\|[ \t]*|[-=*_ \t]{3,}|\[[^]\n]+\]:[ \t][^\n]*)$",
    re.MULTILINE | re.DOTALL,
)
# What a sentence is shown without: templates, tags, pictures, the signs of lists and quotations, addresses of links,
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
    """A text of the same length in which all that is not a sentence, or not part of one, is blanks. A text that goes
    on from what was before can begin with the end of a sentence, which is none either.
    """
    for start, end in _code(text):
        text = _blanked(text, start, end)
    for pattern in (_BLOCK, _SIGN):
        text = pattern.sub(lambda m: _BLANK.sub(" ", m[0]), text)
    first = next(iter(sentences(text)), (0, 0)) if is_continued else (0, 0)
    return _blanked(text, *first) if text[first[0] : first[1]][:1].islower() else text


def cleaned(text: str, *, is_code: bool = False) -> str:
    """A stretch of a passage in one line, without its markup; its code stays if there is nothing else."""
    if not is_code:
        for start, end in _code(text):
            text = _blanked(text, start, end)
        text = _BLOCK.sub(" ", text)
    text = _SIGN.sub(_left, _FENCE.sub(" ", text))
    return _SPACES.sub(" ", html.unescape(text)).strip()


def _left(sign):
    """What stays of a sign: the text that a template of Hugo shows."""
    shown = _TEXT.search(sign[0]) if sign[0].startswith("{{") else None
    return shown[1] if shown else ""


def _code(text) -> Iterator[tuple[int, int]]:
    """The stretches between fences, with these. A passage can begin or end inside one."""
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


def _closes(fence, opened):
    is_like = fence[1][0] == opened[1][0] and len(fence[1]) >= len(opened[1])
    return is_like and not _language(fence)


def _language(fence):
    """What follows the signs of a fence; only one that opens has it."""
    return fence[0].partition(fence[1])[2].strip("`~ \t")


def _blanked(text, start, end):
    return text[:start] + _BLANK.sub(" ", text[start:end]) + text[end:]
