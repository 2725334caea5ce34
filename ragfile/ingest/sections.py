"""Markdown's sections: where headers are, what lies under each, and which small ones belong
together.

    sections(text, 0, len(text))        a Section for each header that has text of its own
    joined(text, 0, len(text), 1000)    the same, but small neighbours are one
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ragfile.ingest.titles import front_title, without_anchor, without_closing
from ragfile.ingest.windows import GAP, SHARE

NOT_BLANK = re.compile(r"[^ \t\n]")
_HEADER = re.compile(
    # a fence, an HTML comment, an ATX header, a setext header; front matter is looked for at the
    # start alone
    r"^ {0,3}(?:(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r"|(?P<comment><!--)"
    r"|(?P<marks>\#{1,6})(?:[ \t]+(?P<title>[^\n]*))?$"
    r"|(?P<line>[^ \t\n\-*+>|\#<`~=:][^\n]*)\n[ ]{0,3}(?P<under>={2,}|-{2,})[ \t]*$)",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:(?!---[ \t]*$).*\n)*+---[ \t]*$", re.MULTILINE)


def headers(text, start=0, end=None):
    """The headers of a Markdown text as (start, body, level, title), but none in fences and
    comments.
    """
    end = len(text) if end is None else end
    front = _FRONT_MATTER.match(text, start, end)
    at, found = front.end() if front else start, []
    while m := _HEADER.search(text, at, end):
        if m["fence"]:
            at = _fence_end(text, m, end)
        elif m["comment"]:
            at = text.find("-->", m.end(), end)
            at = end if at < 0 else at + 3
        else:
            found.append((m.start(), m.end(), *_level_and_title(m)))
            at = m.end()
    return found


def _fence_end(text, m, end):
    fence = m["fence"]
    close = re.compile(rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
    found = close.search(text, m.end(), end)
    return found.end() if found else end


def _level_and_title(m):
    if m["under"]:
        level, title = 1 if m["under"][0] == "=" else 2, m["line"]
    else:
        level, title = len(m["marks"]), without_closing(m["title"] or "")
    return level, without_anchor(title).strip(" \t")


class HeaderSection(NamedTuple):
    """A stretch of text under its header. `own` and `above` are the numbers of its header and of
    the one that encloses that, -1 where there is none; `titles` are the names on the way there.
    """

    start: int
    end: int
    titles: list[str]
    own: int = -1
    above: int = -1


def sections(text, start, end):
    """Each Section; one without a body is left to the headers below it."""
    found = headers(text, start, end)
    title = _front_title(text, start, end)
    yield HeaderSection(start, found[0][0] if found else end, [title])
    path = []
    for i, (begin, body, level, name) in enumerate(found):
        stop, below = (found[i + 1][0], found[i + 1][2]) if i + 1 < len(found) else (end, 0)
        path = [above for above in path if above[0] < level]
        outer = path[-1][2] if path else -1
        path.append((level, name, i))
        if below <= level or NOT_BLANK.search(text, body, stop):
            yield HeaderSection(begin, stop, [title, *(name for _, name, _ in path)], i, outer)


def _front_title(text, start, end):
    front = _FRONT_MATTER.match(text, start, end)
    return front_title(text, start, front.end()) if front else ""


def joined(text, start, end, size):
    """Sections of which neighbours are one where each is smaller than a fifth of `size`, they fit
    in it together, and they lie under the same header. The first can be the text of that header.
    """
    group, small = [], size // SHARE
    for section in _without_blanks(text, sections(text, start, end)):
        is_small = section.end - section.start < small
        if group and not (is_small and _belongs(group, section, size)):
            yield _whole(group)
            group = []
        if is_small:
            group.append(section)
        else:
            yield section
    if group:
        yield _whole(group)


def _without_blanks(text, found):
    """Sections without the blanks at their ends; those of blanks alone are left out."""
    for start, end, titles, own, above in found:
        start = GAP.match(text, start, end).end()
        while end > start and text[end - 1] in " \t\n":
            end -= 1
        if start < end:
            yield HeaderSection(start, end, titles, own, above)


def _belongs(group, section, size):
    """Whether a small section joins small ones before it."""
    first, last = group[0], group[-1]
    if section.end - first.start > size:
        return False
    if len(group) > 1:
        return section.above == last.above
    return section.above == first.above or section.above == first.own


def _whole(group):
    """One Section of several, whose titles are those of the header that they all lie under."""
    first, last = group[0], group[-1]
    titles = first.titles
    if first is not last and first.own >= 0 and last.above != first.own:
        titles = titles[:-1]
    return HeaderSection(first.start, last.end, titles)
