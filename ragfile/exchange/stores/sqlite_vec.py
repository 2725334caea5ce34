"""A SQLite database with a sqlite-vec table, searched by `WHERE embedding MATCH ? ORDER BY distance`."""

from __future__ import annotations

# Where the package is missing, pyright takes this very module for it.
# pyright: reportAttributeAccessIssue=false
import contextlib
import sqlite3
from typing import TYPE_CHECKING

import numpy as np
import sqlite_vec

from ragfile.errors import FormatError
from ragfile.exchange.stores import tables

if TYPE_CHECKING:
    from ragfile.exchange.collection import Collection
    from ragfile.types import StrPath

SCHEMA = """
CREATE TABLE note (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (id TEXT NOT NULL, source TEXT, title TEXT, body TEXT NOT NULL);
CREATE TABLE chunks (row_id INTEGER PRIMARY KEY, document_id TEXT, chunk_key TEXT, text TEXT, i_start INTEGER, i_end INTEGER);
CREATE VIRTUAL TABLE chunk_vectors USING vec0(embedding float[{dim}] distance_metric={metric});
"""


def write(collection: Collection, path: StrPath) -> None:
    """Create the database."""
    metric = (
        "l2" if collection.index.metric == "l2" else "cosine"
    )  # sqlite-vec has no inner product
    with contextlib.closing(_open(path)) as database, database:
        database.executescript(SCHEMA.format(dim=collection.dim, metric=metric))
        database.executemany("INSERT INTO note VALUES (?, ?)", tables.note(collection).items())
        database.executemany(
            "INSERT INTO documents VALUES (?, ?, ?, ?)", tables.document_rows(collection)
        )
        database.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)", tables.chunk_rows(collection)
        )
        rows = ((row, vector.tobytes()) for row, vector in enumerate(collection.index.vectors))
        database.executemany("INSERT INTO chunk_vectors(rowid, embedding) VALUES (?, ?)", rows)


def read(path: StrPath) -> Collection:
    """Read a database that write() created."""
    with contextlib.closing(_open(f"file:{path}?mode=ro", uri=True)) as database:
        try:
            note = dict(database.execute("SELECT key, value FROM note"))
            documents = [
                body for (body,) in database.execute("SELECT body FROM documents ORDER BY rowid")
            ]
            chunks = database.execute(
                "SELECT document_id, chunk_key FROM chunks ORDER BY row_id"
            ).fetchall()
            vectors = [
                row
                for (row,) in database.execute("SELECT embedding FROM chunk_vectors ORDER BY rowid")
            ]
            (dim,) = database.execute(
                "SELECT sql FROM sqlite_master WHERE name = 'chunk_vectors'"
            ).fetchone()
        except sqlite3.DatabaseError as error:
            raise FormatError(f"{path}: {error}") from None
    width = int(dim.split("float[")[1].split("]")[0])
    matrix = np.frombuffer(b"".join(vectors), np.float32).reshape(-1, width)
    return tables.collection_of(documents, chunks, matrix, note)


def _open(path: StrPath, *, uri: bool = False) -> sqlite3.Connection:
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        raise ValueError(
            "this Python's sqlite3 was built without loadable extensions, which sqlite-vec needs"
        )
    database = sqlite3.connect(path, uri=uri)
    database.enable_load_extension(True)
    sqlite_vec.load(database)
    database.enable_load_extension(False)
    return database
