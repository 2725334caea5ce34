"""JSON lines, one per chunk; the first holds the note of chunk_table.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ragfile.exchange import chunk_table, foreign_tables
from ragfile.exchange.chunk_table import DOCUMENT, NOTE, TableRow
from ragfile.exchange.stores import tables
from ragfile.file import arrow
from ragfile.ground.atomic_replace import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragfile.exchange.collection import Collection, JsonObject
    from ragfile.search.file_rows import FileRows
    from ragfile.types import StrPath


def records(rows: FileRows, *, vectors: bool = True) -> Iterator[dict[str, Any]]:
    """Yield a dict for each live chunk, ready for JSON; without vectors, they restore no file."""
    if not vectors:
        yield from arrow.records(rows, vectors=False)
        return
    note: JsonObject = {NOTE: json.loads(chunk_table.note_of(rows))}
    for record, document in zip(arrow.records(rows), chunk_table.documents_of(rows), strict=True):
        whole = {} if document is None else {DOCUMENT: json.loads(document)}
        yield record | whole | note
        note = {}
    if note:
        yield note


def write(collection: Collection, path: StrPath) -> None:
    """Write the chunks of a collection."""
    with chunk_table.rows_as_file(collection) as rows, replacing(path) as file:
        for record in records(rows):
            file.write(json.dumps(record).encode() + b"\n")


def read(path: StrPath, *, columns: Mapping[str, str] | None = None) -> Collection:
    """Read JSON lines, of this layout or with fields of any names."""
    lines = list(_lines(path))
    note = lines[0].get(NOTE) if lines else None
    if not isinstance(note, dict) or columns:
        return foreign_tables.collection_of_records(lines, str(path), columns)
    return chunk_table.restored(
        json.dumps(note), map(_row, (line for line in lines if "doc_id" in line))
    )


def _row(line: JsonObject) -> TableRow:
    document = line.get(DOCUMENT)
    body = None if document is None else json.dumps(document)
    return TableRow(line["doc_id"], line["chunk_index"], body, line.get("embedding"))


def _lines(path: StrPath) -> Iterator[JsonObject]:
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield tables.parsed(line, f"{path}, line {number}")
