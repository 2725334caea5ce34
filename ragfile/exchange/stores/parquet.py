"""One Parquet file of chunks with their vectors; documents and the note travel in the schema's
metadata.
"""

import json

import numpy as np
import pyarrow
from pyarrow import parquet

from ragfile.errors import FormatError
from ragfile.exchange.rows import Passage, gathered
from ragfile.exchange.stores import tables

DOCUMENTS, NOTE = b"ragfile.documents", b"ragfile.note"
TYPES = (pyarrow.int64(), *(pyarrow.string(),) * 3, *(pyarrow.int64(),) * 2)


def to_arrow(collection):
    """The chunks as an Arrow table."""
    columns = list(zip(*tables.chunk_rows(collection), strict=True)) or [[]] * len(TYPES)
    arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, TYPES, strict=True)]
    values = pyarrow.array(collection.index.vectors.reshape(-1))
    arrays.append(pyarrow.FixedSizeListArray.from_arrays(values, collection.dim))
    documents = [body for *_, body in tables.document_rows(collection)]
    metadata = {DOCUMENTS: json.dumps(documents), NOTE: json.dumps(tables.note(collection))}
    return pyarrow.table(
        arrays, names=[*tables.CHUNK_COLUMNS, "embedding"]
    ).replace_schema_metadata(metadata)


def from_arrow(table):
    """The collection in such a table; in any table that has text and embedding columns, one
    document a row.
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


def write(collection, path):
    parquet.write_table(to_arrow(collection), path)


def read(path):
    return from_arrow(parquet.read_table(path))
