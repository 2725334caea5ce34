"""One Parquet file of chunks with vectors; the schema's metadata holds the documents and the note."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow
from pyarrow import parquet

from ragfile.errors import FormatError
from ragfile.exchange.rows import Passage, gathered
from ragfile.exchange.stores import tables

if TYPE_CHECKING:
    from ragfile.exchange.collection import Collection
    from ragfile.types import StrPath

DOCUMENTS, NOTE = b"ragfile.documents", b"ragfile.note"
TYPES = (pyarrow.int64(), *(pyarrow.string(),) * 3, *(pyarrow.int64(),) * 2)


def to_arrow(collection: Collection) -> pyarrow.Table:
    """Return the chunks as an Arrow table."""
    columns = list(zip(*tables.chunk_rows(collection), strict=True)) or [()] * len(TYPES)
    arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, TYPES, strict=True)]
    values = pyarrow.array(collection.index.vectors.reshape(-1))
    arrays.append(pyarrow.FixedSizeListArray.from_arrays(values, collection.dim))
    documents = [body for *_, body in tables.document_rows(collection)]
    metadata = {DOCUMENTS: json.dumps(documents), NOTE: json.dumps(tables.note(collection))}
    return pyarrow.table(
        arrays, names=[*tables.CHUNK_COLUMNS, "embedding"]
    ).replace_schema_metadata(metadata)


def from_arrow(table: pyarrow.Table) -> Collection:
    """Return the collection of a table.

    A table from elsewhere needs columns text and embedding; without ids, each row is a document.
    """
    names = set(table.column_names)
    if not {"text", "embedding"} <= names:
        raise FormatError(f"a table needs columns text and embedding; this one has {sorted(names)}")
    column = table.column("embedding").combine_chunks()
    vectors = np.asarray(column.flatten(), np.float32).reshape(
        table.num_rows, -1 if table.num_rows else 1
    )
    metadata = table.schema.metadata or {}
    if DOCUMENTS in metadata:
        keys = zip(
            table.column("document_id").to_pylist(),
            table.column("chunk_key").to_pylist(),
            strict=True,
        )
        note = json.loads(metadata[NOTE])
        if not table.num_rows:
            vectors = np.empty((0, column.type.list_size), np.float32)
        return tables.collection_of(json.loads(metadata[DOCUMENTS]), keys, vectors, note)
    texts = table.column("text").to_pylist()
    ids = (
        table.column("document_id" if "document_id" in names else "id").to_pylist()
        if names & {"document_id", "id"}
        else None
    )
    found = [
        Passage(str(ids[row]) if ids else f"row-{row}", "text", text or "")
        for row, text in enumerate(texts)
    ]
    return gathered(found, vectors)


def write(collection: Collection, path: StrPath) -> None:
    """Write a Parquet file."""
    parquet.write_table(to_arrow(collection), path)


def read(path: StrPath) -> Collection:
    """Read a Parquet file with columns text and embedding."""
    return from_arrow(parquet.read_table(path))
