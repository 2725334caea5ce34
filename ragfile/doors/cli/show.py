"""`ragfile show`: the text of a document, or of one of its chunks."""

from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING

import click
import numpy as np

from ragfile.doors.cli.options import generation_option, json_option, url_cache_option
from ragfile.doors.cli.report_lines import emit, passages, printable
from ragfile.doors.cli.shown_hits import openable
from ragfile.errors import FilterWarning
from ragfile.opener import open as open_file
from ragfile.records import NUMBERED, Hit

if TYPE_CHECKING:
    from typing import Any


# As shown_hits.where writes them.
PLACES = [
    re.compile(r"(?P<source>.+):(?P<start>\d+)-(?P<end>\d+)"),
    re.compile(r"(?P<source>.+):(?P<number>\d+)"),
    re.compile(rf"(?P<source>.+), (?P<part>{'|'.join(NUMBERED)}) (?P<number>\d+)"),
]


@click.command("show")
@click.argument("file", type=click.Path())
@click.argument("document", metavar="DOC[#CHUNK]")
@generation_option
@url_cache_option
@json_option
def show_command(file, document, generation, cache, as_json):
    """Print a document, or one of its chunks: DOC#0 is the first. What `ragfile search` shows is a name, too."""
    with passages(open_file(file, generation=generation, cache=cache)) as rf:
        value = _described(_found(rf, document))
    if as_json:
        return emit(value)
    for name in ("headers", "title"):
        if isinstance(value["metadata"].get(name), str):
            click.echo(f"ragfile: {name}: {printable(value['metadata'][name])}", err=True)
    click.echo(value["text"])
    return None


def _found(rf, name):
    """The document of a name, else the chunk: an id can hold a #, too."""
    document = rf.document(name)
    row = rf.row(name) if document is None else None
    if document is None and row is None:
        return _as_shown(rf, name)
    return rf.hit(row) if document is None else document


def _as_shown(rf, name) -> Any:
    """What `ragfile search` shows by this name: a source, with the place in it where there is one."""
    for pattern in PLACES:
        if (found := pattern.fullmatch(name)) and (ids := _of_source(rf, found["source"])):
            rows = [row for doc_id in ids for row in rf.rows.find(doc_id).file_rows]
            hits = [hit for hit in map(rf.hit, rows) if _is_at(hit, found.groupdict())]
            if hits:
                return hits[0]
    if ids := _of_source(rf, name):
        return rf.document(ids[0])
    raise KeyError(f"{rf.path} has no document or chunk called {name!r}")


def _of_source(rf, source):
    """The ids of the documents whose source is shown so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FilterWarning)  # no document may have a source
        mask = rf.rows.mask({"source": {"$contains": os.path.basename(source)}})
    hits = (rf.hit(row) for row in np.flatnonzero(mask).tolist())
    shown = (hit.doc_id for hit in hits if source in (hit.source, openable(hit.source, rf.path)))
    return list(dict.fromkeys(shown))


def _is_at(hit, place):
    """Whether a hit lies at a place of its source: a span, a line, a page."""
    if place.get("start"):
        return (hit.start, hit.end) == (int(place["start"]), int(place["end"]))
    return hit.metadata.get(place.get("part") or "line") == int(place["number"])


def _described(found) -> Any:
    value = {"id": found.id, "source": found.source}
    if isinstance(found, Hit):
        value |= {"doc_id": found.doc_id, "start": found.start, "end": found.end}
    return value | {"tags": list(found.tags), "metadata": found.metadata, "text": found.text}
