"""A SQLite database with a sqlite-vec table, searched by `WHERE embedding MATCH ? ORDER BY distance`.

Tables of other programs are read, too: a vec0 table with its own columns, and those of the ordinary table
that has the same row numbers. Where Python's sqlite3 loads no extensions, pysqlite3 takes its place.
"""

from __future__ import annotations

# Where the package is missing, pyright takes this very module for it.
# pyright: reportAttributeAccessIssue=false
import contextlib
import importlib
import os
import sqlite3
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import sqlite_vec

from ragfile.errors import FormatError
from ragfile.exchange import foreign_tables
from ragfile.exchange.stores import tables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

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


def read(
    path: StrPath, *, name: str | None = None, columns: Mapping[str, str] | None = None
) -> Collection:
    """Read a database that write() created, or a vec0 table of another program.

    Args:
        path: The database.
        name: The vec0 table. Default: the first.
        columns: The columns of roles; see column_roles.py.
    """
    with contextlib.closing(_open(f"file:{path}?mode=ro", uri=True)) as database:
        if name is not None or columns or "chunk_vectors" not in _vector_tables(database):
            return _foreign(database, os.fspath(path), name, columns)
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
        except library().DatabaseError as error:
            raise FormatError(f"{path}: {error}") from None
    width = int(dim.split("float[")[1].split("]")[0])
    matrix = np.frombuffer(b"".join(vectors), np.float32).reshape(-1, width)
    return tables.collection_of(documents, chunks, matrix, note)


def _vector_tables(database: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE sql LIKE '%USING vec0%' ORDER BY rowid"
    return [name for (name,) in database.execute(query)]


def _foreign(
    database: sqlite3.Connection, path: str, name: str | None, columns: Mapping[str, str] | None
) -> Collection:
    """Read a vec0 table, and the ordinary table with its row numbers."""
    found = _vector_tables(database)
    if not found or name not in (None, *found):
        listed = ", ".join(found) or "none"
        raise FormatError(f"{path}: its vec0 tables are {listed}; name one of them with --name")
    name = name or found[0]
    held = _columns(database, name)
    read = {column: _vectors(values) for column, values in held.items()}
    held |= {column: vectors for column, vectors in read.items() if vectors is not None}
    beside = _beside(database, held[ROW], set(found))
    merged = {**beside, **held}
    merged.pop(ROW)
    return foreign_tables.collection_of(merged, path, columns)


ROW = "rowid"


def _columns(database: sqlite3.Connection, table: str) -> dict[str, list[Any]]:
    quoted = '"' + table.replace('"', '""') + '"'
    query = database.execute(f"SELECT {ROW} AS {ROW}, * FROM {quoted} ORDER BY {ROW}")
    names = [column[0] for column in query.description]
    rows = query.fetchall()
    return {name: [row[n] for row in rows] for n, name in enumerate(names)}


def _vectors(values: list[Any]) -> list[Any] | None:
    """Return BLOBs of one length as binary32 vectors, None for any other column."""
    if not values or not all(isinstance(value, bytes) for value in values):
        return None
    sizes = {len(value) for value in values}
    is_binary32 = len(sizes) == 1 and sizes.pop() % 4 == 0
    return [np.frombuffer(value, "<f4") for value in values] if is_binary32 else None


def _beside(
    database: sqlite3.Connection, rows: list[int], vectors: set[str]
) -> dict[str, list[Any]]:
    """Return the columns of the ordinary table that has all of these rows and a text."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
    for (table,) in database.execute(query).fetchall():
        if any(table.startswith(f"{name}_") for name in vectors):
            continue  # a part of a vec0 table
        held = _columns(database, table)
        has_text = any(isinstance(v, str) for values in held.values() for v in values[:1])
        if has_text and set(rows) <= set(held[ROW]):
            at = {row: n for n, row in enumerate(held[ROW])}
            return {name: [values[at[row]] for row in rows] for name, values in held.items()}
    return {}


def library() -> ModuleType:
    """Return a sqlite3 that loads extensions."""
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    try:
        return importlib.import_module("pysqlite3")
    except ImportError:
        raise ValueError(
            "this Python's sqlite3 was built without loadable extensions, which sqlite-vec needs: "
            "pip install pysqlite3-binary"
        ) from None


def _open(path: StrPath, *, uri: bool = False) -> sqlite3.Connection:
    database = cast("sqlite3.Connection", library().connect(path, uri=uri))
    database.enable_load_extension(True)
    sqlite_vec.load(database)
    database.enable_load_extension(False)
    return database
