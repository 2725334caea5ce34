"""Titles in Markdown, read in time that is linear in the text, whatever the text is.

A pattern that lets two neighbouring parts match the same blanks tries every way of sharing them
out, so one line of blanks can hold up a build for minutes. Here a pattern finds the line and
everything after that is done by stripping its ends.
"""

import re

LIMIT = 500  # characters of one title
PATH = 1000  # characters of a header path

_BLANKS = " \t"
_TITLE_LINE = re.compile(r"^title:([ \t]*+)([^\n]*+)$", re.MULTILINE)
_FRONT = re.compile(r"\A---[ \t]*+\r?\n(?:(?!---).*+\n)*+")
_TOP_HEADER = re.compile(r"^#([ \t]++)([^\r\n]*+)\r?$", re.MULTILINE)


def front_title(text, start, end):
    """The title that the front matter in text[start:end] names; "" without one."""
    for line in _TITLE_LINE.finditer(text, start, end):
        title = _named(*line.groups())
        if title is not None:
            return title
    return ""


def markdown_title(text):
    """The title of a Markdown text: that of its front matter, else its first top header, else
    "".
    """
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


def _named(blanks, value):
    """The value of a `title:` without the quotes around it; None where there is no value, or too
    long a one.
    """
    value = value.rstrip(_BLANKS)
    if len(value) > 2 and value[0] == value[-1] and value[0] in "\"'" and len(value) <= LIMIT + 2:
        value = value[1:-1]
    if len(value) > LIMIT or not (value or blanks):
        return None
    return value.strip(_BLANKS)


def _headed(blanks, content):
    """The text of a header that begins after its marks and blanks, without its closing marks."""
    if not content:
        return "" if len(blanks) > 1 else None
    kept = content.rstrip(_BLANKS).rstrip("#").rstrip(_BLANKS) or content[0]
    return kept if len(kept) <= LIMIT else None


def without_closing(title):
    """A header's text without its closing marks: `## Title ##`."""
    title = title.rstrip(_BLANKS)
    kept = title.rstrip("#")
    return kept.rstrip(_BLANKS) if not kept or kept[-1] in _BLANKS else title


def without_anchor(title):
    """A header's text without the anchor at its end: `Title {#anchor}`."""
    kept = title.rstrip(_BLANKS)
    opened = kept.rfind("{")
    is_anchor = (
        kept.endswith("}")
        and kept[opened : opened + 2] == "{#"
        and kept.find("}", opened) == len(kept) - 1
    )
    return kept[:opened].rstrip(_BLANKS) if is_anchor and opened >= 0 else title


def path_of(titles):
    """Titles as a header path. What is too long loses the ends of titles, then the outermost of
    them.
    """
    titles = [title[:LIMIT] for title in titles if title]
    while sum(map(len, titles)) + 3 * len(titles) > PATH + 3 and len(titles) > 1:
        titles.pop(0)
    return " > ".join(titles)
