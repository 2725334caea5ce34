"""`ragfile show`: the text of a document, or of one of its chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragfile.cli.main import (
    emit,
    generation_option,
    json_option,
    passages,
    printable,
    url_cache_option,
)
from ragfile.opening import open as open_file
from ragfile.records import Hit

if TYPE_CHECKING:
    from typing import Any


@click.command("show")
@click.argument("file", type=click.Path())
@click.argument("document", metavar="DOC[#CHUNK]")
@generation_option
@url_cache_option
@json_option
def show_command(file, document, generation, cache, as_json):
    """Print a document, or one of its chunks: DOC#0 is the first."""
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
        raise KeyError(f"{rf.path} has no document or chunk called {name!r}")
    return rf.hit(row) if document is None else document


def _described(found) -> Any:
    value = {"id": found.id, "source": found.source}
    if isinstance(found, Hit):
        value |= {"doc_id": found.doc_id, "start": found.start, "end": found.end}
    return value | {"tags": list(found.tags), "metadata": found.metadata, "text": found.text}
