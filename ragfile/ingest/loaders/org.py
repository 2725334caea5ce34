"""Convert Org mode to Markdown: headings, source blocks and links."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragfile.ingest.loaders.contract import Extracted, Limits
from ragfile.ingest.loaders.front_matter import tags_of
from ragfile.ingest.loaders.markup import MarkdownLines
from ragfile.ingest.loaders.text_formats import decode
from ragfile.types import Errors

_HEADING = re.compile(
    r"(\*{1,20})[ \t]++(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]++)?(?:\[#[A-Z]\][ \t]++)?(.*)$"
)
_TAGS = re.compile(r"[ \t]++:[\w@#%:]+:[ \t]*$")
_BEGIN = re.compile(r"[ \t]*+#\+begin_(\w++)[ \t]*+([\w+-]*+)", re.IGNORECASE)
_KEYWORD = re.compile(r"[ \t]*+#\+(\w++):[ \t]*+(.*)$")
_VERBATIM = {"src", "example", "export", "verse"}
_DRAWER = re.compile(r"[ \t]*+:(?!END:)[\w-]++:[ \t]*$", re.IGNORECASE)
_END = re.compile(r"[ \t]*+:END:[ \t]*$", re.IGNORECASE)
_DROPPED = re.compile(r"[ \t]*+(?:#(?:[ \t]|$|\+)|\|[-+]++\|?$|(?:SCHEDULED|DEADLINE|CLOSED):)")
_LINK = re.compile(r"\[\[([^\[\]\n]{1,500}+)\](?:\[([^\[\]\n]{1,500}+)\])?\]")


def parse(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract the text; `#+TITLE:` is the title and `#+FILETAGS:` are tags."""
    out = MarkdownLines()
    keywords: dict[str, str] = {}
    lines = iter(decode(raw, errors).splitlines())
    for line in lines:
        if m := _HEADING.match(line):
            out.header(len(m[1]), _inline(_TAGS.sub("", m[2][:1000])))
        elif m := _BEGIN.match(line):
            _block(lines, m[1].lower(), m[2], out)
        elif m := _KEYWORD.match(line):
            keywords.setdefault(m[1].lower(), m[2].strip())
        elif _DRAWER.match(line):
            _skip_drawer(lines)
        elif not (_END.match(line) or _DROPPED.match(line)):
            out.line(_inline(line))
    metadata = {"title": keywords["title"]} if keywords.get("title") else out.metadata()
    tags = tags_of(keywords.get("filetags", "").replace(":", ","))
    yield Extracted(out.text(), metadata=metadata, tags=tags)


def _block(lines: Iterator[str], kind: str, language: str, out: MarkdownLines) -> None:
    found: list[str] = []
    end = re.compile(rf"[ \t]*+#\+end_{re.escape(kind)}\b", re.IGNORECASE)
    for line in lines:
        if end.match(line):
            break
        found.append(line)
    if kind in _VERBATIM:
        out.code(found, language if kind == "src" else "")
    elif kind != "comment":
        for line in found:
            out.line(_inline(line))


def _skip_drawer(lines: Iterator[str]) -> None:
    for line in lines:
        if _END.match(line):
            return


def _inline(line: str) -> str:
    return _LINK.sub(lambda m: m[2] or m[1], line) if "[[" in line else line
