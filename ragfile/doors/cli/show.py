"""`ragfile show`: print the text of a document, or of one of its chunks."""

from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import click
import numpy as np

from ragfile.doors.cli.options import (
    FilePath,
    dim_option,
    generation_option,
    json_option,
    layered,
    over_option,
    url_cache_option,
)
from ragfile.doors.cli.report_lines import emit, printable
from ragfile.doors.cli.shown_hits import lines_of, openable
from ragfile.errors import FilterWarning
from ragfile.opener import open_passages
from ragfile.records import NUMBERED, Hit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.records import Document


# The formats of shown_hits.where.
PLACES = [
    re.compile(r"(?P<source>.+):(?P<start>\d+)-(?P<end>\d+)"),
    re.compile(r"(?P<source>.+):(?P<number>\d+)"),
    re.compile(rf"(?P<source>.+), (?P<part>{'|'.join(NUMBERED)}) (?P<number>\d+)"),
]


@click.command("show")
@click.argument("file", type=FilePath())
@click.argument("document", metavar="DOC[#CHUNK]")
@dim_option
@generation_option
@over_option
@url_cache_option
@json_option
def show_command(
    file: str, document: str, dim: int | None, generation: int, over: tuple[str, ...],
    cache: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Print a document or a chunk: DOC#0 is the first. The sources that search prints are accepted, too."""
    with open_passages(layered(file, over), dim=dim, generation=generation, cache=cache) as rf:
        value = _described(_found(rf, document))
    if as_json:
        return emit(value)
    for name in ("headers", "title"):
        if isinstance(value["metadata"].get(name), str):
            click.echo(f"ragfile: {name}: {printable(value['metadata'][name])}", err=True)
    click.echo(value["text"])
    return None


def _found(rf: KnowledgeBase, name: str) -> Document | Hit:
    """Return the document of an id, else the chunk; an id can contain "#"."""
    document = rf.document(name)
    if document is not None:
        return document
    row = rf.row(name)
    return _as_shown(rf, name) if row is None else rf.hit(row)


def _as_shown(rf: KnowledgeBase, name: str) -> Document | Hit:
    """Return the result that `ragfile search` prints under this name: a source, with its place if any."""
    for pattern in PLACES:
        if (found := pattern.fullmatch(name)) and (ids := _of_source(rf, found["source"])):
            place = found.groupdict()
            hits = [hit for doc_id in ids for hit in _hits_at(rf, doc_id, place)]
            if hits:
                return hits[0]
    for doc_id in _of_source(rf, name):
        if (document := rf.document(doc_id)) is not None:
            return document
    raise KeyError(f"{rf.path} has no document or chunk called {name!r}")


def _of_source(rf: KnowledgeBase, source: str) -> list[str]:
    """Return the ids of the documents with this printed source."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FilterWarning)  # perhaps no document has a source
        mask = rf.rows.mask({"source": {"$contains": unquote(os.path.basename(source))}})
    assert mask is not None  # a filter was given
    hits = (rf.hit(row) for row in np.flatnonzero(mask).tolist())
    shown = (hit.doc_id for hit in hits if _is_printed(source, hit.source, rf.path))
    return list(dict.fromkeys(shown))


def _is_printed(name: str, source: str, file: str) -> bool:
    """Return whether a name is a printed source: as recorded, as a path, or below --root or --base-url."""
    below = (f"/{source}", f"/{quote(source)}")
    return name in (source, openable(source, file)) or (bool(source) and name.endswith(below))


def _hits_at(rf: KnowledgeBase, doc_id: str, place: Mapping[str, str | None]) -> Iterator[Hit]:
    """Yield the hits of a document at a place: a page, slide or row, or lines, which are rows of a table."""
    lines, document = lines_of(rf, doc_id), rf.rows.find(doc_id)
    first = int(place.get("start") or place.get("number") or 0)
    last = int(place.get("end") or first)
    for hit in map(rf.hit, document.file_rows if document else ()):
        known = lines.range(hit.start, hit.end) if lines and hit.start >= 0 else hit.lines
        number = hit.metadata.get(place.get("part") or "row")
        if place.get("part") or known is None:
            known = (number, number) if isinstance(number, int) else None
        if known is not None and known[0] <= first and last <= known[1]:
            yield hit


def _described(found: Document | Hit) -> dict[str, Any]:
    value: dict[str, Any] = {"id": found.id, "source": found.source}
    if isinstance(found, Hit):
        value |= {"doc_id": found.doc_id, "start": found.start, "end": found.end}
    return value | {"tags": list(found.tags), "metadata": found.metadata, "text": found.text}
