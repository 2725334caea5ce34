"""Read titles of Markdown, in time linear in any text.

A pattern in which two neighbouring parts match the same blanks tries every way to divide them, so
one line of blanks can hold up a build for minutes. Here a pattern finds the line, and stripping
does the rest.
"""

import re
from collections.abc import Iterable

LIMIT = 500  # characters of one title
PATH = 1000  # characters of a header path

_BLANKS = " \t"
_TITLE_LINE = re.compile(r"^title:([ \t]*+)([^\n]*+)$", re.MULTILINE)
_FRONT = re.compile(r"\A---[ \t]*+\r?\n(?:(?!---).*+\n)*+")
_TOP_HEADER = re.compile(r"^#([ \t]++)([^\r\n]*+)\r?$", re.MULTILINE)


def front_title(text: str, start: int, end: int) -> str:
    """Return the title in the front matter in text[start:end], or ""."""
    for line in _TITLE_LINE.finditer(text, start, end):
        title = _named(*line.groups())
        if title is not None:
            return title
    return ""


def markdown_title(text: str) -> str:
    """Return the title in the front matter of a Markdown text, else its first top header, else ""."""
    front = _FRONT.match(text)
    for line in _TITLE_LINE.finditer(text, 0, front.end()) if front else ():
        value = line[2].removesuffix("\r")
        title = None if "\r" in value else _named(line[1], value)
        if title is not None:
            return title.strip()
    for line in _TOP_HEADER.finditer(text):
        title = _headed(*line.groups())
        if title is not None:
            return title.strip()
    return ""


def _named(blanks: str, value: str) -> str | None:
    """Return the value of a `title:` without its quotes; None if it is missing or over LIMIT."""
    value = value.rstrip(_BLANKS)
    if len(value) > 2 and value[0] == value[-1] and value[0] in "\"'" and len(value) <= LIMIT + 2:
        value = value[1:-1]
    if len(value) > LIMIT or not (value or blanks):
        return None
    return value.strip(_BLANKS)


def _headed(blanks: str, content: str) -> str | None:
    """Return the text of a header without its closing marks; None if it is missing or over LIMIT."""
    if not content:
        return "" if len(blanks) > 1 else None
    kept = content.rstrip(_BLANKS).rstrip("#").rstrip(_BLANKS) or content[0]
    return kept if len(kept) <= LIMIT else None


def without_closing(title: str) -> str:
    """Return a header's text without its closing marks: `## Title ##`."""
    title = title.rstrip(_BLANKS)
    kept = title.rstrip("#")
    return kept.rstrip(_BLANKS) if not kept or kept[-1] in _BLANKS else title


def without_anchor(title: str) -> str:
    """Return a header's text without the anchor at its end: `Title {#anchor}`."""
    kept = title.rstrip(_BLANKS)
    opened = kept.rfind("{")
    is_anchor = (
        kept.endswith("}")
        and kept[opened : opened + 2] == "{#"
        and kept.find("}", opened) == len(kept) - 1
    )
    return kept[:opened].rstrip(_BLANKS) if is_anchor and opened >= 0 else title


def path_of(titles: Iterable[str]) -> str:
    """Join titles into a header path within PATH characters.

    Long titles lose their ends; then the outermost titles are dropped.
    """
    kept = [title[:LIMIT] for title in titles if title]
    while sum(map(len, kept)) + 3 * len(kept) > PATH + 3 and len(kept) > 1:
        kept.pop(0)
    return " > ".join(kept)
