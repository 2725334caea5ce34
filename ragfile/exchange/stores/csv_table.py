"""A table of a database as CSV, such as psql writes of a pgvector table:

psql -c "\\copy items TO 'items.csv' WITH (FORMAT csv, HEADER)"

A vector is written as "[0.5,1,-2]". A column is of numbers if all its values are.
"""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING, Any

from ragfile.errors import FormatError
from ragfile.exchange import foreign_tables
from ragfile.ground.json_values import is_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragfile.exchange.collection import Collection
    from ragfile.types import StrPath


def read(path: StrPath, *, columns: Mapping[str, str] | None = None) -> Collection:
    """Read a table with a header; column_roles.py finds the roles of its columns."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        try:
            names, *rows = csv.reader(file, strict=True)
        except (csv.Error, ValueError) as error:
            raise FormatError(f"{path}: not a table with a header: {error}") from None
    if wrong := next((n for n, row in enumerate(rows, 2) if len(row) != len(names)), None):
        raise FormatError(f"{path}, row {wrong}: not {len(names)} fields as in the header")
    held = {name: _typed([row[n] for row in rows]) for n, name in enumerate(names)}
    return foreign_tables.collection_of(held, str(path), columns)


def _typed(values: Sequence[str]) -> list[Any]:
    """Return the values of a column as vectors, numbers or texts; empty ones are None."""
    filled = [value for value in values if value]
    for kind in (_vector, _whole, _number):
        if filled and all(kind(value) is not None for value in filled):
            return [kind(value) if value else None for value in values]
    return [value or None for value in values]


def _vector(value: str) -> list[float] | None:
    if not (value.startswith("[") and value.endswith("]")):
        return None
    try:
        found: object = json.loads(value)
    except (ValueError, RecursionError):
        return None
    is_numbers = is_list(found) and found and all(type(n) in (int, float) for n in found)
    return [float(n) for n in found] if is_list(found) and is_numbers else None


_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]{0,15})(\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?")


def _whole(value: str) -> int | None:
    """Return a whole number as it is written without a zero in front, else None."""
    return int(value) if _DIGITS.fullmatch(value) and value.lstrip("-").isdecimal() else None


def _number(value: str) -> float | None:
    return float(value) if _DIGITS.fullmatch(value) else None
