"""One Parquet file with a row per chunk; the schema's metadata holds the note of chunk_table.py."""

from __future__ import annotations

from itertools import islice, starmap
from typing import TYPE_CHECKING

import pyarrow
from pyarrow import parquet

from ragfile.errors import FormatError
from ragfile.exchange import chunk_table, foreign_tables
from ragfile.exchange.chunk_table import DOCUMENT, NOTE, TableRow
from ragfile.file import arrow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragfile.exchange.collection import Collection
    from ragfile.search.file_rows import FileRows
    from ragfile.types import StrPath

PLACES = ("doc_id", "chunk_index", DOCUMENT)


def reader_of(rows: FileRows) -> pyarrow.RecordBatchReader:
    """Return the rows of a file as record batches that restore it."""
    reader = arrow.arrow_reader(rows)
    schema = reader.schema.append(pyarrow.field(DOCUMENT, pyarrow.string()))
    schema = schema.with_metadata({NOTE: chunk_table.note_of(rows)})
    return pyarrow.RecordBatchReader.from_batches(schema, _batches(reader, rows, schema))


def _batches(
    reader: pyarrow.RecordBatchReader, rows: FileRows, schema: pyarrow.Schema
) -> Iterator[pyarrow.RecordBatch]:
    documents = chunk_table.documents_of(rows)
    for batch in reader:
        column = pyarrow.array(islice(documents, batch.num_rows), pyarrow.string())
        yield pyarrow.RecordBatch.from_arrays([*batch.columns, column], schema=schema)


def write_rows(rows: FileRows, path: StrPath, *, vectors: bool = True) -> None:
    """Write the chunks of an open file; without vectors, the file cannot be restored."""
    reader = reader_of(rows) if vectors else arrow.arrow_reader(rows, vectors=False)
    with parquet.ParquetWriter(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)


def write(collection: Collection, path: StrPath) -> None:
    """Write a Parquet file."""
    with chunk_table.rows_as_file(collection) as rows:
        write_rows(rows, path)


def read(path: StrPath, *, columns: Mapping[str, str] | None = None) -> Collection:
    """Read a Parquet file, of this layout or with columns of any names."""
    try:
        foreign_tables.check_rows(parquet.read_metadata(path).num_rows, path)
        table = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FormatError(f"{path} is not a whole Parquet file: {error}") from None
    metadata: dict[bytes, bytes] = table.schema.metadata or {}
    note = metadata.get(NOTE.encode())
    if note is None or columns:
        return foreign_tables.collection_of_table(table, str(path), columns)
    return chunk_table.restored(note.decode(), rows_of_table(table))


def rows_of_table(table: pyarrow.Table) -> Iterator[TableRow]:
    """Yield the rows of a table of this layout."""
    has_vectors = "embedding" in table.column_names
    for batch in table.to_batches():
        lists = [batch.column(name).to_pylist() for name in PLACES]
        vectors = batch.column("embedding").to_pylist() if has_vectors else [None] * len(batch)
        yield from starmap(TableRow, zip(*lists, vectors, strict=True))
