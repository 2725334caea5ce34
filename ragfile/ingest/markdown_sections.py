"""Find the sections of a Markdown text, and join small neighbours.

sections(text, 0, len(text))        a HeaderSection for each header that has text of its own
joined(text, 0, len(text), 1000)    the same, with small neighbours as one
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ragfile.ingest.markdown_titles import front_title, without_anchor, without_closing
from ragfile.ingest.text_windows import GAP, SHARE

NOT_BLANK = re.compile(r"[^ \t\n]")
_HEADER = re.compile(
    # a fence, an HTML comment, an ATX header, a setext header
    r"^ {0,3}(?:(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r"|(?P<comment><!--)"
    r"|(?P<marks>\#{1,6})(?:[ \t]+(?P<title>[^\n]*))?$"
    r"|(?P<line>[^ \t\n\-*+>|\#<`~=:][^\n]*)\n[ ]{0,3}(?P<under>={2,}|-{2,})[ \t]*$)",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:(?!---[ \t]*$).*\n)*+---[ \t]*$", re.MULTILINE)


class MarkdownHeader(NamedTuple):
    """A header: its span in the text, its level from 1 to 6, and its title."""

    start: int
    body: int
    level: int
    title: str


class _OpenHeader(NamedTuple):
    """A header that encloses the current section, and its number."""

    level: int
    title: str
    number: int


def headers(text: str, start: int = 0, end: int | None = None) -> list[MarkdownHeader]:
    """Return the headers of a Markdown text, without those in fences, comments and front matter."""
    end = len(text) if end is None else end
    front = _FRONT_MATTER.match(text, start, end)
    at = front.end() if front else start
    found: list[MarkdownHeader] = []
    while m := _HEADER.search(text, at, end):
        if m["fence"]:
            at = _fence_end(text, m, end)
        elif m["comment"]:
            at = text.find("-->", m.end(), end)
            at = end if at < 0 else at + 3
        else:
            found.append(MarkdownHeader(m.start(), m.end(), *_level_and_title(m)))
            at = m.end()
    return found


def _fence_end(text: str, m: re.Match[str], end: int) -> int:
    fence = m["fence"]
    close = re.compile(rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
    found = close.search(text, m.end(), end)
    return found.end() if found else end


def _level_and_title(m: re.Match[str]) -> tuple[int, str]:
    if m["under"]:
        level, title = 1 if m["under"][0] == "=" else 2, m["line"]
    else:
        level, title = len(m["marks"]), without_closing(m["title"] or "")
    return level, without_anchor(title).strip(" \t")


class HeaderSection(NamedTuple):
    """A span of text under its header.

    `own` and `above` are the numbers of its header and of the enclosing one, -1 for none; `titles`
    are those of all enclosing headers, outermost first.
    """

    start: int
    end: int
    titles: list[str]
    own: int = -1
    above: int = -1


def sections(text: str, start: int, end: int) -> Iterator[HeaderSection]:
    """Yield each section, except those without a body that only hold deeper headers."""
    found = headers(text, start, end)
    title = _front_title(text, start, end)
    yield HeaderSection(start, found[0].start if found else end, [title])
    path: list[_OpenHeader] = []
    for i, (begin, body, level, name) in enumerate(found):
        following = found[i + 1] if i + 1 < len(found) else MarkdownHeader(end, end, 0, "")
        stop = following.start
        path = [above for above in path if above.level < level]
        outer = path[-1].number if path else -1
        path.append(_OpenHeader(level, name, i))
        if following.level <= level or NOT_BLANK.search(text, body, stop):
            yield HeaderSection(begin, stop, [title, *(above.title for above in path)], i, outer)


def _front_title(text: str, start: int, end: int) -> str:
    front = _FRONT_MATTER.match(text, start, end)
    return front_title(text, start, front.end()) if front else ""


def joined(text: str, start: int, end: int, size: int) -> Iterator[HeaderSection]:
    """Yield sections with small neighbours joined.

    Neighbours are joined if each is smaller than a fifth of `size`, they fit in it together, and
    they are under the same header. The first may be the text of that header itself.
    """
    group: list[HeaderSection] = []
    small = size // SHARE
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


def _without_blanks(text: str, found: Iterable[HeaderSection]) -> Iterator[HeaderSection]:
    """Strip the blanks at the ends of sections; leave out blank ones."""
    for start, end, titles, own, above in found:
        start = GAP.match(text, start, end).end()
        while end > start and text[end - 1] in " \t\n":
            end -= 1
        if start < end:
            yield HeaderSection(start, end, titles, own, above)


def _belongs(group: list[HeaderSection], section: HeaderSection, size: int) -> bool:
    """Return whether a small section joins the small ones before it."""
    first, last = group[0], group[-1]
    if section.end - first.start > size:
        return False
    if len(group) > 1:
        return section.above == last.above
    return section.above == first.above or section.above == first.own


def _whole(group: list[HeaderSection]) -> HeaderSection:
    """Join sections; the titles are those of the header that encloses all of them."""
    first, last = group[0], group[-1]
    titles = first.titles
    if first is not last and first.own >= 0 and last.above != first.own:
        titles = titles[:-1]
    return HeaderSection(first.start, last.end, titles)
