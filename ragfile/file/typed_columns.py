"""Metadata as typed columns: the values at each path, with one type for all rows.

    true, false     bool          texts          str          lists of texts      list
    whole numbers   int           numbers        float        anything else       json, as text

An object has no column of its own; the paths in it have. A null and a missing value are both null.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragfile.errors import CorruptError
from ragfile.file.stored_columns import FileColumn
from ragfile.ground.json_values import is_list, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragfile.file.filters import SortKey
    from ragfile.file.stored_columns import SegmentColumns
    from ragfile.types import Int64s

MOST = 256  # columns
WHOLE = 1 << 63


class TypedColumn(NamedTuple):
    """The values at a path of a segment: `values[code]` for each row, where -1 is no value."""

    codes: Int64s
    values: list[Any]


def column_at(columns: SegmentColumns, path: str) -> TypedColumn:
    """Return the values at a path of a segment."""
    column = columns.column(path)
    if isinstance(column, FileColumn):
        codes, values = column.codes().astype(np.int64) - 1, column.values()
        if codes.max(initial=-1) >= len(values):
            what = f"a row has value {codes.max()} of the {len(values)} at {path!r}"
            raise CorruptError(what, section="rag.columns")
        return TypedColumn(codes, values)
    return TypedColumn(column.codes.astype(np.int64), [_value(key) for key in column.keys])


def _value(key: SortKey) -> object:
    """Return the JSON value of a sort key."""
    kind, *held = key
    if kind == 4:
        return [_value(one) for one in held[0]]
    if kind == 5:
        return {name: _value(one) for name, one in held[0]}
    return held[0] if held else None


def paths(segments: Sequence[SegmentColumns]) -> list[str]:
    """Return the paths of a file that become columns, the first MOST in order."""
    found = {path for columns in segments for path in _paths(columns)}
    return sorted(path for path in found if path != "source" and _can_be_named(path))[:MOST]


def _can_be_named(path: str) -> bool:
    """Return whether other stores accept a path as a column name."""
    return "\0" not in path and not any("\ud800" <= c <= "\udfff" for c in path)


def _paths(columns: SegmentColumns) -> Iterator[str]:
    if columns.stored is not None and not columns.stored.is_partial:
        yield from (path for path in columns.stored.names() if path is not None)
        return
    for name in columns.labels.names:
        yield from _below(columns, name)


def _below(columns: SegmentColumns, path: str) -> Iterator[str]:
    """Yield a path, and the paths in the objects at it."""
    yield path
    values = column_at(columns, path).values
    names = dict.fromkeys(chain.from_iterable(v for v in values if is_object(v)))
    for name in names if "." not in path.rpartition(".")[2] else ():
        yield from _below(columns, f"{path}.{name}")


def type_at(segments: Sequence[SegmentColumns], path: str) -> str | None:
    """Return the type of a path in a file, or None where all its values are objects."""
    kinds = {kind for columns in segments for kind in _kinds(columns, path)} - {"null"}
    if not kinds - {"object"}:
        return None
    if len(kinds) == 1:
        return kinds.pop()
    return "float" if kinds == {"int", "float"} else "json"


def _kinds(columns: SegmentColumns, path: str) -> set[str]:
    column = columns.column(path)
    if isinstance(column, FileColumn):
        plain, lists = column.kinds()
        return plain | {_kind(one) for one in lists}
    return {_kind(_value(key)) for key in column.keys}


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if -WHOLE <= value < WHOLE else "json"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "str"
    if isinstance(value, dict):
        return "object"
    assert is_list(value)
    return "list" if all(isinstance(one, str) for one in value) else "json"


def cast(values: Sequence[Any], kind: str) -> list[Any]:
    """Return values converted to a type."""
    if kind == "json":
        return [None if v is None else json.dumps(v, ensure_ascii=False) for v in values]
    if kind == "float":
        return [None if v is None else float(v) for v in values]
    return list(values)
