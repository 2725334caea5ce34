"""A table of a PostgreSQL database with a pgvector column: read over a connection, changed never.

ragfile convert postgresql://ada@localhost/shop kb.ragfile --name items

The column of vectors is found by its type, the others by name (column_roles.py). Rows come in the order
of the primary key, in one read-only transaction.
"""

from __future__ import annotations

# Where the package is missing, pyright takes its names for unknown ones.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportInvalidTypeArguments=false
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import psycopg
from psycopg import sql

from ragfile.errors import FormatError, RemoteError
from ragfile.exchange import foreign_tables
from ragfile.ground.offline import is_offline, why
from ragfile.ground.urls import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragfile.exchange.collection import Collection

TYPES = ("vector", "halfvec")  # of pgvector; both are written as "[0.5,1]"
TABLES = """
    SELECT n.nspname, c.relname, a.attname FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'v', 'm')
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid
    WHERE t.typname = ANY(%s) AND NOT a.attisdropped ORDER BY 1, 2, a.attnum
"""
KEY = """
    SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid
    WHERE i.indrelid = %s::regclass AND i.indisprimary AND a.attnum = ANY(i.indkey)
    ORDER BY array_position(i.indkey::int[], a.attnum::int)
"""


def read(
    path: str, *, name: str | None = None, columns: Mapping[str, str] | None = None
) -> Collection:
    """Read a table or view, by default the only one with vectors.

    Args:
        path: The URL of the database, as libpq takes it.
        name: The table, with its schema if that is not "public".
        columns: The columns of roles; see column_roles.py.
    """
    if is_offline():
        raise RemoteError(why(shown(path)))
    try:
        with psycopg.connect(path) as connection:
            connection.read_only = True
            return _read(connection, shown(path), name, columns)
    except psycopg.Error as error:
        raise RemoteError(f"{shown(path)}: {' '.join(str(error).split())}") from None


def _read(
    connection: psycopg.Connection[Any], place: str, name: str | None,
    columns: Mapping[str, str] | None,
) -> Collection:  # fmt: skip
    vectors = _vectors(connection)
    if name is None and len(vectors) != 1:
        known = ", ".join(vectors) or "none"
        raise FormatError(f"{place}: choose a table with --name; those with vectors: {known}")
    chosen = next(iter(vectors)) if name is None else name
    if chosen not in vectors:
        known = ", ".join(vectors) or "none"
        raise FormatError(f"{place}: {chosen} has no column of vectors; tables with one: {known}")
    held = _columns(connection, chosen, vectors[chosen])
    roles = {"vector": vectors[chosen][0]} if len(vectors[chosen]) == 1 else {}
    return foreign_tables.collection_of(held, f"{place}, {chosen}", roles | dict(columns or {}))


def _vectors(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """Return the columns of vectors of each table, by its name."""
    found: dict[str, list[str]] = {}
    for schema, table, column in connection.execute(TABLES, [list(TYPES)]):
        found.setdefault(table if schema == "public" else f"{schema}.{table}", []).append(column)
    return found


def _columns(
    connection: psycopg.Connection[Any], table: str, vectors: Sequence[str]
) -> dict[str, list[Any]]:
    """Return the values of a table's columns, vectors as lists of floats."""
    schema, _, name = table.rpartition(".")
    source = sql.Identifier(schema or "public", name)
    key = connection.execute(KEY, [source.as_string(connection)]).fetchall()
    query = sql.SQL("SELECT * FROM {}").format(source)
    if key:
        order = sql.SQL(", ").join(sql.Identifier(column) for (column,) in key)
        query = sql.SQL("{} ORDER BY {}").format(query, order)
    cursor = connection.execute(query)
    names = [column.name for column in cursor.description or ()]
    rows = cursor.fetchall()
    held = {name: [_plain(row[number]) for row in rows] for number, name in enumerate(names)}
    return held | {name: [_vector(value) for value in held[name]] for name in vectors}


def _vector(value: object) -> list[float] | None:
    return (
        None if value is None else [float(x) for x in cast("list[float]", json.loads(str(value)))]
    )


def _plain(value: object) -> object:
    """Return a number of PostgreSQL's numeric type as one of JSON's; other values as they are."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return value
    return int(value) if value == value.to_integral_value() else float(value)
