"""PostgreSQL with pgvector: a folder of COPY files for the tables of spec/postgres.sql.

createdb rag && psql rag -v dim=768 -f spec/postgres.sql
cd folder && psql rag -f load.sql            # out: psql rag -f dump.sql
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from ragfile.errors import FormatError
from ragfile.exchange.stores import tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ragfile.exchange.collection import Collection
    from ragfile.types import StrPath

COLUMNS = {
    "note": ("key", "value"),
    "documents": ("position", *tables.DOCUMENT_COLUMNS),
    "chunks": (*tables.CHUNK_COLUMNS, "embedding"),
}
_ESCAPES = {
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\b": "\\b",
    "\f": "\\f",
    "\v": "\\v",
}
_ESCAPED = str.maketrans(_ESCAPES)
_PLAIN = {text[1]: letter for letter, text in _ESCAPES.items()}


def write(collection: Collection, path: StrPath) -> None:
    """Write the COPY files, with the psql scripts that load and dump them."""
    os.makedirs(path, exist_ok=True)
    vectors = ("[" + ",".join(map(repr, row.tolist())) + "]" for row in collection.index.vectors)
    rows = {
        "note": tables.note(collection).items(),
        "documents": ((n, *row) for n, row in enumerate(tables.document_rows(collection))),
        "chunks": (
            (*row, vector)
            for row, vector in zip(tables.chunk_rows(collection), vectors, strict=True)
        ),
    }
    for table, lines in rows.items():
        with open(os.path.join(path, f"{table}.copy"), "w", encoding="utf-8", newline="\n") as file:
            file.writelines("\t".join(_field(value) for value in line) + "\n" for line in lines)
    for name, verb in (("load", "FROM"), ("dump", "TO")):
        with open(os.path.join(path, f"{name}.sql"), "w", encoding="utf-8") as file:
            file.writelines(_statement(table, columns, verb) for table, columns in COLUMNS.items())


def read(path: StrPath) -> Collection:
    """Read the COPY files."""
    note = dict(_lines(path, "note"))
    documents = [
        line[-1] for line in sorted(_lines(path, "documents"), key=lambda line: int(line[0]))
    ]
    chunks = sorted(_lines(path, "chunks"), key=lambda line: int(line[0]))
    vectors = np.array([np.array(line[-1].strip("[]").split(","), np.float32) for line in chunks])
    return tables.collection_of(documents, [(line[1], line[2]) for line in chunks], vectors, note)


def _statement(table: str, columns: Sequence[str], verb: str) -> str:
    order = {"documents": " ORDER BY position", "chunks": " ORDER BY row_id"}.get(table, "")
    relation = f"ragfile.{table} ({', '.join(columns)})"
    if verb == "TO":
        relation = f"(SELECT {', '.join(columns)} FROM ragfile.{table}{order})"
    return f"\\copy {relation} {verb} '{table}.copy'\n"


def _field(value: object) -> str:
    return "\\N" if value is None else str(value).translate(_ESCAPED)


def _lines(path: StrPath, table: str) -> Iterator[list[Any]]:
    with open(os.path.join(path, f"{table}.copy"), encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            fields = line.removesuffix("\n").split("\t")
            if len(fields) != len(COLUMNS[table]):
                raise FormatError(
                    f"{table}.copy, line {number}: {len(fields)} fields, not {len(COLUMNS[table])}"
                )
            yield [None if field == "\\N" else _unescaped(field) for field in fields]


def _unescaped(field: str) -> str:
    head, *rest = field.split("\\\\")
    parts = [_letters(part) for part in (head, *rest)]
    return "\\".join(parts)


def _letters(part: str) -> str:
    head, *rest = part.split("\\")
    return head + "".join(_PLAIN.get(piece[:1], piece[:1]) + piece[1:] for piece in rest)
