"""Tables of other programs as collections; column_roles.py finds the roles of their columns."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile.errors import FormatError
from ragfile.exchange.collection import Collection, JsonObject
from ragfile.exchange.faiss.index import Index
from ragfile.ingest.column_roles import ForeignRow, ForeignTable, columns_of, columns_of_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow

    from ragfile.types import Float32s, StrPath


MOST_ROWS = 1 << 20  # of a table of any size; a larger one has a byte a row at least


def check_rows(count: int, path: StrPath) -> None:
    """Raise FormatError for a table that would unpack to far more than its file."""
    size = os.path.getsize(path)
    if count > max(MOST_ROWS, size):
        raise FormatError(f"{path} has {count:,} rows in {size:,} bytes: it unpacks to far more")


def the_one(names: Sequence[str], chosen: str | None, place: str, what: str) -> str:
    """Return the table or collection to read: the chosen one, or the only one.

    Raises:
        FormatError: There is none, not the chosen one, or several and none is chosen.
    """
    if not names or chosen not in (None, *names) or (chosen is None and len(names) > 1):
        listed = ", ".join(names) or "none"
        advice = ": choose one with --name" if names else ""
        raise FormatError(f"{place} has the {what} {listed}{advice}")
    return chosen or names[0]


def collection_of_table(
    table: pyarrow.Table, place: str, chosen: Mapping[str, str] | None = None
) -> Collection:
    """Return the collection of an Arrow table."""
    return collection_of(columns_of(table), place, chosen)


def collection_of_records(
    records: Sequence[Mapping[str, Any]], place: str, chosen: Mapping[str, str] | None = None
) -> Collection:
    """Return the collection of a list of mappings."""
    return collection_of(columns_of_records(records), place, chosen)


def collection_of(
    columns: Mapping[str, Sequence[Any]], place: str, chosen: Mapping[str, str] | None = None,
    *, model_name: str | None = None, metric: str = "ip", is_cosine: bool = True,
) -> Collection:  # fmt: skip
    """Return the collection of a table of another program.

    Args:
        columns: The values of each column.
        place: The name of the table in messages.
        chosen: The columns of roles, as a caller maps them.
        model_name: The model of the vectors, if the table names it.
        metric: "ip" or "l2".
        is_cosine: Vectors are compared by cosine, as most programs do.

    Raises:
        FormatError: No column has texts, or none has vectors.
    """
    table = ForeignTable(columns, place, chosen)
    vectors = table.vectors()
    kept = [vector for vector in vectors if vector is not None]
    if not kept:
        raise FormatError(
            f"{place}: no column has vectors among {', '.join(columns)}: name it with "
            f"--map vector=COLUMN, or embed the texts with `ragfile build {quote(place)} -o kb.ragfile`"
        )
    if len({len(vector) for vector in kept}) > 1:
        raise FormatError(f"{place}: the vectors of {table.roles['vector']!r} differ in length")
    refs, documents = grouped(table.rows(), vectors)
    index = Index.of(np.array(kept, np.float32), metric)
    is_cosine = is_cosine and metric == "ip"
    return Collection(index, refs, documents, model_name, is_cosine=is_cosine)


def grouped(
    rows: Iterable[ForeignRow], vectors: Iterable[Float32s | None]
) -> tuple[list[JsonObject], dict[str, JsonObject]]:
    """Return references and documents: the chunks of a document are spans of its text."""
    refs: list[JsonObject] = []
    documents: dict[str, JsonObject] = {}
    rows = list(rows)
    shared = _shared(rows)
    for row, vector in zip(rows, vectors, strict=True):
        common = shared[row.document_id]
        document = documents.setdefault(row.document_id, _document(row, common))
        key = f"chunk-{len(document['chunks'])}"
        document["chunks"][key] = _chunk(
            document, row, common, None if vector is None else len(refs)
        )
        if vector is not None:
            refs.append({"document_id": row.document_id, "chunk_key": key})
    return refs, documents


def _shared(rows: Iterable[ForeignRow]) -> dict[str, JsonObject]:
    """Return the metadata that all rows of a document have in common, by its id."""
    shared: dict[str, JsonObject] = {}
    for row in rows:
        held = shared.setdefault(row.document_id, dict(row.metadata))
        for key in [k for k, v in held.items() if row.metadata.get(k, ...) != v]:
            del held[key]
    return shared


def _document(row: ForeignRow, metadata: JsonObject) -> JsonObject:
    held: JsonObject = {"id": row.document_id, "source": row.source, "full_text": ""}
    return held | {"metadata": dict(metadata), "tags": row.tags, "chunks": {}}


def _chunk(
    document: JsonObject, row: ForeignRow, common: JsonObject, number: int | None
) -> JsonObject:
    """Append a row to the text of its document, and return its entry."""
    if document["chunks"]:
        document["full_text"] += "\n\n"
    start = len(document["full_text"])
    document["full_text"] += row.text
    own = {key: value for key, value in row.metadata.items() if key not in common}
    entry: JsonObject = {"i_start": start, "i_end": start + len(row.text), "faiss_id": number}
    entry |= {"metadata": own} if own else {}
    return entry | ({"tags": row.tags} if row.tags != document["tags"] else {})
