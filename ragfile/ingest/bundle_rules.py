"""The rules that every bundle of the Open Knowledge Format keeps: those of its section on conformance."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from ragfile.ingest.bundles import INDEX, is_reserved
from ragfile.ingest.loaders import front_matter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragfile.records import Document

_HEADING = re.compile(r"^(#{1,2})[ \t]+(.*?)[ \t#]*$", re.MULTILINE)


class BrokenRule(NamedTuple):
    """A file of a bundle, and the rule that it breaks."""

    path: str
    rule: str


def broken_rules(documents: Iterable[Document]) -> list[BrokenRule]:
    """Return the rules that the documents of a bundle break, in the order of their paths."""
    found = [
        BrokenRule(path, rule)
        for document in documents
        if isinstance(path := document.metadata.get("path"), str) and path.endswith(".md")
        for rule in _broken(path, document.text)
    ]
    return sorted(found)


def _broken(path: str, text: str) -> Iterator[str]:
    front = front_matter(text)
    if not is_reserved(path):
        kind = front.metadata.get("type")
        if not front.body:
            yield "it needs front matter"
        elif not (isinstance(kind, str) and kind.strip()):
            yield "its front matter needs a type"
    elif path.endswith(INDEX):
        if front.body and path != INDEX:
            yield "an index below the root has no front matter"
        if not _HEADING.search(text, front.body):
            yield "an index groups its entries under headings"
    else:
        yield from _broken_log(text)


def _broken_log(text: str) -> Iterator[str]:
    """Yield the broken rules of a log: its entries are below dates, the newest first."""
    dates: list[date] = []
    for mark, heading in _HEADING.findall(text):
        try:
            dates += [_day(heading)] if mark == "##" else []
        except ValueError:
            yield f"the heading {heading!r:.60} of a log is a date, such as 2026-05-22"
    if dates != sorted(dates, reverse=True):
        yield "the newest entries of a log come first"


def _day(text: str) -> date:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        raise ValueError(text)
    return date.fromisoformat(text)
