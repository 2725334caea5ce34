"""Extract the speech of subtitles (SRT, WebVTT) in parts of about a minute, with their times."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from ragfile.ingest.loaders.contract import Extracted, Limits, LoadError, Part
from ragfile.ingest.loaders.text_formats import decode
from ragfile.types import Errors

TOGETHER = 1000  # characters of consecutive cues in one part
_BLANK = re.compile(r"\n(?:[ \t]*+\n)++")
_TIME = re.compile(r"(?:(\d{1,3}):)?([0-5]?\d):([0-5]\d)[.,]\d{1,3}[ \t]*+-->")
_VOICE = re.compile(r"<v(?:\.[^<>\s]{0,100})?[ \t]+([^<>\n]{1,200})>")
_TAG = re.compile(r"<[^<>\n]{0,200}>|\{\\[^{}\n]{0,200}\}")


def parse(raw: bytes, limits: Limits, errors: Errors = "strict") -> Iterator[Extracted]:
    """Extract the cues in order; `time` in a part's metadata is the time of its first cue."""
    text = decode(raw, errors).replace("\r\n", "\n").replace("\r", "\n")
    cues = [cue for block in _BLANK.split(text) if (cue := _cue(block))]
    if not cues and text.strip():
        raise LoadError("not subtitles: no cue has a time")
    yield Extracted(parts=_joined(cues))


def _cue(block: str) -> tuple[str, list[str]] | None:
    """Return the time and the lines of a block of text, None for comments and styles."""
    head, mark, rest = block.partition("-->")
    m = _TIME.match(head.rpartition("\n")[2].strip() + mark)
    if m is None:
        return None
    time = f"{int(m[1] or 0):02}:{int(m[2]):02}:{m[3]}"
    return time, [spoken for line in rest.split("\n")[1:] if (spoken := _spoken(line))]


def _spoken(line: str) -> str:
    """Return a line without marks of style; the name of a voice comes before its words."""
    line = _TAG.sub("", _VOICE.sub(r"\1: ", line))
    return " ".join(html.unescape(line).split())


def _joined(cues: Iterable[tuple[str, list[str]]]) -> Iterator[Part]:
    """Join cues into parts. A line that rolls up is repeated by the next cue, and taken once."""
    start, lines, size, last = "", list[str](), 0, ""
    for time, spoken in cues:
        if size > TOGETHER:
            yield "\n".join(lines), {"time": start}
            start, lines, size = "", [], 0
        start = start or time
        for line in spoken:
            if line != last:
                lines.append(line)
                size += len(line)
            last = line
    if lines:
        yield "\n".join(lines), {"time": start}
