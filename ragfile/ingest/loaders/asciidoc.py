"""Convert AsciiDoc to Markdown: titles, listings, links and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragfile.ingest.loaders.contract import Extracted, Limits
from ragfile.ingest.loaders.markup import MarkdownLines
from ragfile.ingest.loaders.text_formats import decode
from ragfile.types import Errors

_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]++(\S.*)$")
_VERBATIM = re.compile(r"(?:-{4,}|\.{4,}|`{3,})\w*$")
_COMMENT = re.compile(r"/{4,}$")
_EDGE = re.compile(r"(?:={4,}|\*{4,}|_{4,}|\+{4,}|--|[|,:!]={3,})$")
_ATTRIBUTES = re.compile(r"\[(?:source|listing)?(?:%\w++)*+,?[ \t]*+([\w+-]*+)[^\n]*\]$")
_DROPPED = re.compile(
    r"(?::!?[\w-]++!?:|//|(?:include|ifdef|ifndef|ifeval|endif|image|video|audio|toc)::|'{3,}$|<{3,}$|\+$)"
)
_LINK = re.compile(r"(?:link:|xref:|mailto:|https?://)([^\s\[\]]{1,500}+)\[([^\]\n]{0,500}+)\]")
_CROSS = re.compile(r"<<([^,>\n]{1,200}+)(?:,[ \t]*+([^>\n]{1,300}+))?>>")
_MACRO = re.compile(
    r"\[\[[^\]\n]{1,200}\]\]|\[#[^\]\n]{1,200}\]|(?:kbd|btn|menu|icon|image|footnote|pass):[^\s\[]{0,200}\["
)
_INDEX = re.compile(r"\(\(\([^()\n]{0,200}\)\)\)")


def parse(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract the text; `=` is the document's title, `==` a section below it."""
    out = MarkdownLines()
    lines = iter(decode(raw, errors).splitlines())
    language = ""
    for line in lines:
        line = line.rstrip()
        if _VERBATIM.match(line):
            out.code(_until(lines, line.rstrip("abcdefghijklmnopqrstuvwxyz")), language)
        elif _COMMENT.match(line):
            _until(lines, line)
        elif m := _TITLE.match(line):
            out.header(len(m[1]), _inline(m[2]))
        elif m := _ATTRIBUTES.match(line):
            language = m[1] if line.startswith(("[source", "[,")) else ""
            continue
        elif not (_EDGE.match(line) or _DROPPED.match(line)):
            out.line(_inline(line.lstrip(".") if _names(line) else line))
        language = ""
    yield Extracted(out.text(), metadata=out.metadata())


def _names(line: str) -> bool:
    """Return whether a line is the title of the block below it."""
    return line.startswith(".") and len(line) > 1 and line[1] not in ". "


def _until(lines: Iterator[str], end: str) -> list[str]:
    """Return the lines of a block up to its closing line, or to the end of the file."""
    found: list[str] = []
    for line in lines:
        if line.rstrip() == end:
            break
        found.append(line)
    return found


def _inline(line: str) -> str:
    line = _LINK.sub(lambda m: m[2] or m[1], line)
    line = _CROSS.sub(lambda m: m[2] or m[1], line)
    return _INDEX.sub("", _MACRO.sub("", line))
