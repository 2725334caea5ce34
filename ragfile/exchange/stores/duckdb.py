"""A DuckDB database of two tables, searched by `array_inner_product(embedding, …)`."""

from __future__ import annotations

# Where the package is missing, pyright takes this very module for it.
# pyright: reportAttributeAccessIssue=false
import contextlib
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from ragfile.exchange.stores import parquet, tables

if TYPE_CHECKING:
    from ragfile.exchange.collection import Collection
    from ragfile.types import StrPath

SCHEMA = """
CREATE TABLE note (key VARCHAR, value VARCHAR);
CREATE TABLE documents (id VARCHAR, source VARCHAR, title VARCHAR, body VARCHAR);
"""


def write(collection: Collection, path: StrPath) -> None:
    """Create the tables."""
    with contextlib.closing(duckdb.connect(path)) as database:
        database.execute(SCHEMA)
        for table, rows in (
            ("note", tables.note(collection).items()),
            ("documents", tables.document_rows(collection)),
        ):
            if listed := [list(row) for row in rows]:
                database.executemany(
                    f"INSERT INTO {table} VALUES ({', '.join('?' * len(listed[0]))})", listed
                )
        database.register("arriving", parquet.to_arrow(collection))
        columns = f"* REPLACE (embedding::FLOAT[{collection.dim}] AS embedding)"
        database.execute(f"CREATE TABLE chunks AS SELECT {columns} FROM arriving ORDER BY row_id")


def read(path: StrPath) -> Collection:
    """Read tables that write() created."""
    with contextlib.closing(duckdb.connect(path, read_only=True)) as database:
        note = dict(database.execute("SELECT key, value FROM note").fetchall())
        documents = [
            body
            for (body,) in database.execute("SELECT body FROM documents ORDER BY rowid").fetchall()
        ]
        chunks = database.execute(
            "SELECT document_id, chunk_key FROM chunks ORDER BY row_id"
        ).fetchall()
        query = database.execute("SELECT embedding FROM chunks ORDER BY row_id")
        dim = int(str(query.description[0][1]).split("[")[1].rstrip("]"))
        vectors = [row for (row,) in query.fetchall()]
    return tables.collection_of(
        documents, chunks, np.array(vectors, np.float32).reshape(-1, dim), note
    )
