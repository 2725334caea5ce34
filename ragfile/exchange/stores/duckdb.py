"""A DuckDB database with the tables of SQLRooms, or any other table with texts and vectors.

documents            node_id, text, metadata_, embedding, doc_id, …      one row per chunk
source_documents     doc_id, file_path, file_name, text, metadata_, created_at, document
embedding_metadata   key, value     the keys of SQLRooms, and the note of chunk_table.py
"""

from __future__ import annotations

# Where the package is missing, pyright takes this very module for it.
# pyright: reportAttributeAccessIssue=false
import contextlib
import json
import os
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from ragfile.errors import FormatError
from ragfile.exchange import chunk_table, foreign_tables, sqlrooms_facts
from ragfile.exchange.chunk_table import NOTE, TableRow
from ragfile.exchange.stores import tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragfile.exchange.collection import Collection, JsonObject
    from ragfile.search.file_rows import FileRows
    from ragfile.types import StrPath

QUIET: dict[str, Any] = {"autoinstall_known_extensions": "false"}  # no unasked downloads
READING = {**QUIET, "enable_external_access": "false"}  # a stranger's database reads no other file
READ = {"documents", "source_documents", "embedding_metadata", "note", "chunks"}
SCHEMA = """
CREATE TABLE source_documents (
    doc_id VARCHAR PRIMARY KEY, file_path VARCHAR, file_name VARCHAR, text TEXT, metadata_ JSON,
    created_at TIMESTAMP, document VARCHAR
);
CREATE TABLE embedding_metadata (key VARCHAR PRIMARY KEY, value VARCHAR);
"""
SCHEMES = {"huggingface": "st", "openai": "openai", "ollama": "ollama"}


def write(collection: Collection, path: StrPath) -> None:
    """Create the database."""
    with chunk_table.rows_as_file(collection) as rows:
        write_rows(rows, path)


def write_rows(rows: FileRows, path: StrPath) -> str:
    """Write the tables and a full-text index of an open file.

    Returns:
        "", or the reason why there is no full-text index: its extension is optional.

    Raises:
        FileExistsError: The path exists.
    """
    if os.path.exists(path):
        raise FileExistsError(f"{path} already exists")
    with contextlib.closing(duckdb.connect(os.fspath(path), config=QUIET)) as database:
        database.register("arriving", rows)
        database.execute(
            "CREATE TABLE documents AS SELECT * REPLACE (metadata_::JSON AS metadata_) FROM arriving"
        )
        database.execute(SCHEMA)
        for record in _source_rows(rows):
            database.execute(
                "INSERT INTO source_documents VALUES (?, ?, ?, ?, ?, TRY_CAST(? AS TIMESTAMP), ?)",
                record,
            )
        for pair in _notes(rows):
            database.execute("INSERT INTO embedding_metadata VALUES (?, ?)", pair)
        return _full_text(database)


def _source_rows(rows: FileRows) -> Iterator[list[str | None]]:
    for stored, body in chunk_table.bodies_of(rows):
        document = stored.read()
        found = sqlrooms_facts.source_document(document)
        created = document.metadata.get("created_at")
        texts = [found[name] for name in ("doc_id", "file_path", "file_name", "text")]
        yield [
            *map(_plain, texts), json.dumps(found["metadata"]),
            created if isinstance(created, str) else None, body,
        ]  # fmt: skip


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _notes(rows: FileRows) -> Iterator[tuple[str, str]]:
    """Yield the keys of SQLRooms with their values, and the note."""
    yield from sqlrooms_facts.flat(rows).items()
    yield NOTE, chunk_table.note_of(rows)


def _full_text(database: duckdb.DuckDBPyConnection) -> str:
    try:
        database.execute("LOAD fts; PRAGMA create_fts_index('documents', 'node_id', 'text')")
    except duckdb.Error as error:
        return str(error).splitlines()[0]
    return ""


def read(
    path: StrPath, *, name: str | None = None, columns: Mapping[str, str] | None = None
) -> Collection:
    """Read a database of this layout, of SQLRooms, or with a table of any columns.

    Args:
        path: The database.
        name: The table to read. Default: the first with a column of vectors.
        columns: The columns of roles; see foreign_tables.py.
    """
    with contextlib.closing(
        duckdb.connect(os.fspath(path), read_only=True, config=READING)
    ) as database:
        names = _tables(database, path, READ if name is None else {*READ, name})
        if name is None and not columns and "embedding_metadata" in names:
            notes = dict(database.execute("SELECT key, value FROM embedding_metadata").fetchall())
            if NOTE in notes:
                return _restored(database, notes[NOTE])
            return _of_sqlrooms(database, notes, str(path))
        if name is None and not columns and {"note", "chunks", "documents"} <= names:
            return _of_first_layout(database)
        table = name or _with_vectors(database, names, path)
        return foreign_tables.collection_of(_columns(database, table), f"{path}:{table}", columns)


def _tables(database: duckdb.DuckDBPyConnection, path: StrPath, read: set[str]) -> set[str]:
    """Return the names of the tables; refuse a view among those that are read, and more rows than fit.

    A view runs what its author wrote: it could read other files, or never end.
    """
    views = database.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    if found := sorted(read & {name for (name,) in views}):
        raise FormatError(f"{path}: {found[0]} is a view, which is not read: make a table of it")
    tables = database.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal")
    names = {name for (name,) in tables.fetchall()}
    for name in names:
        (count,) = database.execute(f"SELECT count(*) FROM {_quoted(name)}").fetchone() or (0,)
        foreign_tables.check_rows(count, path)
    return names


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _columns(database: duckdb.DuckDBPyConnection, table: str) -> dict[str, list[Any]]:
    query = database.execute(f"SELECT * FROM {_quoted(table)}")
    names = [column[0] for column in query.description]
    rows = query.fetchall()
    return {name: [row[n] for row in rows] for n, name in enumerate(names)}


def _with_vectors(database: duckdb.DuckDBPyConnection, names: set[str], path: StrPath) -> str:
    """Return the first table that has a column of lists of floating-point numbers."""
    query = "SELECT table_name, data_type FROM information_schema.columns ORDER BY 1"
    for table, kind in database.execute(query).fetchall():
        if table in names and kind.startswith(("FLOAT[", "DOUBLE[")):
            return str(table)
    listed = ", ".join(sorted(names)) or "none"
    raise FormatError(
        f"{path}: no table has a column of vectors, of {listed}; name one with --name"
    )


def _restored(database: duckdb.DuckDBPyConnection, note: str) -> Collection:
    bodies = dict(database.execute("SELECT doc_id, document FROM source_documents").fetchall())
    held = _columns(database, "documents")
    vectors = held.get("embedding") or [None] * len(held["doc_id"])
    listed = zip(held["row"], held["doc_id"], held["chunk_index"], vectors, strict=True)
    rows = (
        TableRow(doc_id, number, bodies.pop(doc_id, None), vector)
        for _, doc_id, number, vector in sorted(listed, key=lambda row: row[0])
    )
    return chunk_table.restored(note, rows)


def _of_sqlrooms(
    database: duckdb.DuckDBPyConnection, notes: Mapping[str, str], path: str
) -> Collection:
    """Read a database that SQLRooms prepared: chunks are spans of the whole documents."""
    model, provider = notes.get("embedding_model"), notes.get("embedding_provider", "")
    scheme = SCHEMES.get(provider)
    name = f"{scheme}:{model}" if scheme and model else model
    held = _columns(database, "documents")
    roles = {"document": "doc_id"} if "doc_id" in held else {}
    found = foreign_tables.collection_of(held, path, roles, model_name=name)
    query = "SELECT doc_id, file_path, text, metadata_ FROM source_documents"
    for doc_id, source, text, metadata in database.execute(query).fetchall():
        if doc_id in found.documents:
            _put_back(found.documents[doc_id], text, source or "", metadata)
    return found


def _put_back(document: JsonObject, text: str, source: str, metadata: str | None) -> None:
    """Give a document its whole text, if its chunks are spans of it in order."""
    at = 0
    spans: list[tuple[int, int]] = []
    for entry in document["chunks"].values():
        piece = document["full_text"][entry["i_start"] : entry["i_end"]]
        at = text.find(piece, at)
        if at < 0:
            break
        spans.append((at, at + len(piece)))
    else:
        document["full_text"] = text
        for entry, (start, end) in zip(document["chunks"].values(), spans, strict=True):
            entry |= {"i_start": start, "i_end": end}
    document["source"] = source
    document["metadata"] |= json.loads(metadata) if metadata else {}


def _of_first_layout(database: duckdb.DuckDBPyConnection) -> Collection:
    """Read the tables that conversions wrote before this layout."""
    note = dict(database.execute("SELECT key, value FROM note").fetchall())
    query = "SELECT body FROM documents ORDER BY rowid"
    documents = [body for (body,) in database.execute(query).fetchall()]
    held = "SELECT document_id, chunk_key FROM chunks ORDER BY row_id"
    chunks = database.execute(held).fetchall()
    vectors = database.execute("SELECT embedding FROM chunks ORDER BY row_id")
    dim = int(str(vectors.description[0][1]).split("[")[1].rstrip("]"))
    matrix = np.array([row for (row,) in vectors.fetchall()], np.float32).reshape(-1, dim)
    return tables.collection_of(documents, chunks, matrix, note)
