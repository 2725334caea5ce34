"""Let passages begin where a reader can begin: chunks overlap, so some start inside a sentence or a definition.

A passage that starts with a small letter takes the sentence that it is cut from; one of source code that does not have
the line that names its definition takes the lines from there on. The text before comes from the chunk before.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ragfile.search.blocks import is_source_code
from ragfile.text import sentences

if TYPE_CHECKING:
    from ragfile.records import Candidate, Hit

LONGEST = 1500  # characters that a passage takes
_DEFINITION = (
    r"^[ \t]*(?:(?!(?:return|await|yield|raise|new|not|else|in|import|from)\b)[\w<>\[\],]+[ \t*&]+){{1,6}}{0}(?=[ \t]*[(:=<{{])"
    r"|^[ \t]*{0}[ \t]*(?:\([^()\n]*\)[^\n;]*\{{|[:=])"
)


def from_beginning(candidate: Candidate, hit: Hit) -> Candidate:
    """Return a passage that begins with a whole sentence or definition, if the chunk before has its beginning."""
    if hit.start <= 0 or not candidate.content:
        return candidate
    find = _definition if is_source_code(candidate.metadata) else _sentence
    if not _is_cut(candidate):
        return candidate
    try:
        text, start, _ = hit.context(before=1, after=0)
    except ValueError:  # of no open file
        return candidate
    before = text[: hit.start - start]
    at = find(before, candidate)
    if at is None or len(before) - at > LONGEST:
        return candidate
    return replace(candidate, content=before[at:] + candidate.content, start=start + at)


def _is_cut(candidate: Candidate) -> bool:
    if is_source_code(candidate.metadata):
        return (name := _name(candidate)) != "" and _line_of(name, candidate.content) is None
    return candidate.content[0].islower()


def _sentence(before: str, _: Candidate) -> int | None:
    """Return where the sentence begins that the text ends in, None if it ends with a whole paragraph."""
    if re.search(r"\n[ \t]*\n[ \t]*$", before) or not (found := sentences(before)):
        return None
    return found[-1][0]


def _definition(before: str, candidate: Candidate) -> int | None:
    return _line_of(_name(candidate), before)


def _name(candidate: Candidate) -> str:
    """Return the name of the definition that a passage is in, "" outside of one and for several."""
    path = candidate.metadata.get("symbol")
    name = path.rpartition(" > ")[2] if isinstance(path, str) else ""
    return name if re.fullmatch(r"[^\W\d]\w*", name) else ""


def _line_of(name: str, code: str) -> int | None:
    """Return where the last line begins that defines a name: it follows another word, or its body or value follows it."""
    found = re.compile(_DEFINITION.format(re.escape(name)), re.MULTILINE).finditer(code)
    return max((match.start() for match in found), default=None)
