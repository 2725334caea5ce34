"""A SQLite database with a sqlite-vec table, searched by `WHERE embedding MATCH ? ORDER BY distance`.

Tables of other programs are read, too: a vec0 table with its own columns, and those of the ordinary table
that has the same keys. Where Python's sqlite3 loads no extensions, pysqlite3 takes its place.
"""

from __future__ import annotations

# Where the package is missing, pyright takes this very module for it.
# pyright: reportAttributeAccessIssue=false
import contextlib
import importlib
import os
import re
import sqlite3
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import sqlite_vec

from ragfile.errors import FormatError
from ragfile.exchange import foreign_tables
from ragfile.exchange.stores import tables
from ragfile.ground.call_site import stack_level
from ragfile.ingest.column_roles import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from ragfile.exchange.collection import Collection
    from ragfile.types import Float32s, StrPath

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
        name: The vec0 table. Default: the only one.
        columns: The columns of roles; see column_roles.py. TABLE.COLUMN names the ordinary table, too.
    """
    with contextlib.closing(_open(f"file:{path}?mode=ro", uri=True)) as database:
        try:
            if name is not None or columns or not _is_ours(database):
                return _foreign(database, os.fspath(path), name, columns)
            return _restored(database)
        except library().DatabaseError as error:
            raise FormatError(f"{path}: {error}") from None


def _restored(database: sqlite3.Connection) -> Collection:
    """Read the tables that write() created."""
    note = dict(database.execute("SELECT key, value FROM note"))
    documents = [body for (body,) in database.execute("SELECT body FROM documents ORDER BY rowid")]
    query = "SELECT document_id, chunk_key FROM chunks ORDER BY row_id"
    chunks = database.execute(query).fetchall()
    query = "SELECT embedding FROM chunk_vectors ORDER BY rowid"
    vectors = [row for (row,) in database.execute(query)]
    query = "SELECT sql FROM sqlite_master WHERE name = 'chunk_vectors'"
    (dim,) = database.execute(query).fetchone()
    width = int(dim.split("float[")[1].split("]")[0])
    matrix = np.frombuffer(b"".join(vectors), np.float32).reshape(-1, width)
    return tables.collection_of(documents, chunks, matrix, note)


def _vector_tables(database: sqlite3.Connection) -> list[str]:
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%USING vec0%' "
        "ORDER BY rowid"
    )
    return [name for (name,) in database.execute(query)]


def _is_ours(database: sqlite3.Connection) -> bool:
    query = "SELECT name FROM sqlite_master WHERE type = 'table'"  # a view may never end
    names = {name for (name,) in database.execute(query)}
    return {"note", "documents", "chunks", "chunk_vectors"} <= names


def _foreign(
    database: sqlite3.Connection, path: str, name: str | None, columns: Mapping[str, str] | None
) -> Collection:
    """Read a vec0 table, and the ordinary table with its keys."""
    tables_of_vectors = _vector_tables(database)
    name = foreign_tables.the_one(tables_of_vectors, name, path, "vec0 tables")
    held = _columns(database, name)
    key = next(iter(held))  # the column by which vec0 knows its rows comes first
    described = _vector_columns(database, name)
    for column, stored in described.items():
        held[column] = [_vector(value, stored) for value in held[column]]
    texts, chosen = _split(columns or {}, _ordinary_tables(database, tables_of_vectors))
    keys = held.pop(key)
    has_text = any(isinstance(v, str) for values in held.values() for v in values[:1])
    beside = _TextTables(database, path, name, RowKeys(key, keys))
    if (table := beside.chosen(texts, is_needed=not has_text)) is not None:
        held = {**beside.rows_of(table), **held}
    if not set(NAMES["id"]) & set(held):
        held, chosen = {key: keys, **held}, {"id": key, **chosen}
    read = chosen.get("vector") or next((c for c in held if c in described), None)
    kind = described.get(read or "")
    metric = "l2" if kind is None or kind.metric == "l2" else "ip"
    return foreign_tables.collection_of(held, path, chosen, metric=metric)


ROW = "rowid"
VECTOR_COLUMN = re.compile(r"(\w+)\s+(float|f32|int8|i8|bit)\s*\[\s*\d+\s*\]([^,]*)", re.IGNORECASE)
TYPES = {"float": "<f4", "f32": "<f4", "int8": "i1", "i8": "i1"}


class VectorColumn(NamedTuple):
    """How a vec0 table stores a column of vectors, and compares them."""

    dtype: str
    metric: str


class RowKeys(NamedTuple):
    """The keys of a vec0 table: the name of their column, and their values."""

    column: str
    values: list[Any]


def _columns(database: sqlite3.Connection, table: str) -> dict[str, list[Any]]:
    query = database.execute(f"SELECT * FROM {_quoted(table)}")
    names = [column[0] for column in query.description]
    rows = query.fetchall()
    return {name: [row[n] for row in rows] for n, name in enumerate(names)}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _vector_columns(database: sqlite3.Connection, table: str) -> dict[str, VectorColumn]:
    """Return the columns of a vec0 table that hold numbers; those of bits are none."""
    (sql,) = database.execute("SELECT sql FROM sqlite_master WHERE name = ?", [table]).fetchone()
    found: dict[str, VectorColumn] = {}
    for name, kind, options in VECTOR_COLUMN.findall(sql):
        is_cosine = re.search(r"distance_metric\s*=\s*cosine", options, re.IGNORECASE)
        if kind.lower() in TYPES:
            found[name] = VectorColumn(TYPES[kind.lower()], "cosine" if is_cosine else "l2")
    return found


def _vector(value: bytes | None, column: VectorColumn) -> Float32s | None:
    return None if value is None else np.frombuffer(value, column.dtype).astype(np.float32)


def _ordinary_tables(database: sqlite3.Connection, vectors: list[str]) -> list[str]:
    """Return the tables that are no part of a virtual one."""
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY rowid"
    )
    names = [name for (name,) in database.execute(query)]
    return [name for name in names if not any(name.startswith(f"{v}_") for v in vectors)]


def _split(columns: Mapping[str, str], listed: list[str]) -> tuple[str | None, dict[str, str]]:
    """Return the table that TABLE.COLUMN names for a role, and the columns without it."""
    prefixes = {
        name: table for name in columns.values() for table in listed
        if name.startswith(f"{table}.")
    }  # fmt: skip
    chosen = {
        role: name.removeprefix(f"{prefixes[name]}.") if name in prefixes else name
        for role, name in columns.items()
    }
    return next(iter(prefixes.values()), None), chosen


class _TextTables:
    """The ordinary tables that can have the texts of some vectors: with text, and a row for each key."""

    def __init__(
        self, database: sqlite3.Connection, path: str, vectors: str, keys: RowKeys
    ) -> None:
        self._database, self._path, self._vectors, self._keys = database, path, vectors, keys
        self._fitting: dict[str, str] = {}  # the columns with the keys by table
        for table in _ordinary_tables(database, _vector_tables(database)):
            column = _key_column(database, table, keys)
            if column is not None and _has_text(database, table):
                self._fitting[table] = column

    def chosen(self, table: str | None, *, is_needed: bool) -> str | None:
        """Return the table that is named, or else the one that is related by its name.

        If texts are needed, a table of another name is taken, with a warning, if it is the only one and
        has just these keys.

        Raises:
            FormatError: The named table does not fit, or the choice would be a guess.
        """
        if table is not None and table not in self._fitting:
            raise FormatError(
                f"{self._path}: the table {table} has no row with texts for each key of {self._vectors}"
            )
        related = [each for each in self._fitting if self._is_related(each)]
        if table is not None or related or not is_needed or not self._fitting:
            return table or max(related, key=len, default=None)
        first, *others = self._fitting
        if others or _count(self._database, first) != len(self._keys.values):
            raise FormatError(
                f"{self._path}: the texts of {self._vectors} can be those of {', '.join(self._fitting)}: "
                "name their column with --map text=TABLE.COLUMN"
            )
        what = (
            f"{self._path}: the texts are those of {first}, which has the keys of {self._vectors}"
        )
        warnings.warn(
            f"{what}; --map text=TABLE.COLUMN names others", UserWarning, stacklevel=stack_level()
        )
        return first

    def _is_related(self, table: str) -> bool:
        """Return whether a table's name is part of the vec0 table's, or the reverse, or names the key."""
        name, other = table.lower(), self._vectors.lower()
        stem = re.sub(r"_?(row)?id$", "", self._keys.column.lower())
        return name in other or other in name or (len(stem) > 2 and name.startswith(stem))

    def rows_of(self, table: str) -> dict[str, list[Any]]:
        """Return the columns of a table, with a row for each key."""
        columns = f"{_quoted(self._fitting[table])}, *"
        query = self._database.execute(f"SELECT {columns} FROM {_quoted(table)}")
        names = [each[0] for each in query.description][1:]
        rows = {key: row for key, *row in query}
        return {name: [rows[key][n] for key in self._keys.values] for n, name in enumerate(names)}


def _key_column(database: sqlite3.Connection, table: str, keys: RowKeys) -> str | None:
    """Return the column of a table that has all keys: that of their name, its own key, or the rowid."""
    described = database.execute("SELECT name, pk FROM pragma_table_info(?)", [table]).fetchall()
    owned: list[str] = [name for name, order in described if order]
    named: list[str] = [name for name, _ in described if name == keys.column]
    candidates: list[str] = [*named, *(owned if len(owned) == 1 else []), ROW]
    for column in dict.fromkeys(candidates):
        try:
            found = database.execute(f"SELECT {_quoted(column)} FROM {_quoted(table)}").fetchall()
        except library().OperationalError:  # a table WITHOUT ROWID
            continue
        if set(keys.values) <= {value for (value,) in found}:
            return column
    return None


def _has_text(database: sqlite3.Connection, table: str) -> bool:
    row = database.execute(f"SELECT * FROM {_quoted(table)}").fetchone()
    return row is not None and any(isinstance(value, str) for value in row)


def _count(database: sqlite3.Connection, table: str) -> int:
    (count,) = database.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()
    return int(count)


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
    database.execute("PRAGMA trusted_schema = OFF")  # it may be a stranger's
    return database
