"""The facets of a collection: its tags and the values of its metadata, with counts, for filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service
    from ragfile.file.filters import Column
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.types import Int64s

MOST_FIELDS, MOST_VALUES = 100, 50
NUMBER, TEXT, LIST = 2, 3, 4  # kinds of values: the first member of a column's key (file.filters)


class ValueCount(NamedTuple):
    """A value and the number of live chunks that have it."""

    chunks: int
    value: str | int | float | bool


def facets(service: Service, call: Call) -> dict[str, Any]:
    """List tags and fields with their most frequent values; no `values` if a field has too many."""
    rf = service.collections.at_commit(call.path["c"])
    return service.of_commit(rf, "facets", facets_of)


def facets_of(rf: KnowledgeBase) -> dict[str, Any]:
    """Compute the facets of a commit, uncached."""
    columns, live = rf.rows.columns, rf.live_rows()
    each = (_field(path, columns.column(path), live) for path in sorted(columns.paths))
    fields = [field for field in each if field["chunks"]]  # a deleted row can have another path
    return {
        "tags": _tags(columns.tags(), live), "fields": fields[:MOST_FIELDS],
        "generation": rf.generation,
    }  # fmt: skip


def _counts(column: Column, live: Int64s) -> Int64s:
    """Return the number of live rows that have each value."""
    codes = column.codes[live]
    return np.bincount(codes[codes >= 0], minlength=len(column.keys))


def _field(path: str, column: Column, live: Int64s) -> dict[str, Any]:
    """Return the facet of a metadata field."""
    counts = _counts(column, live)
    plain = [
        ValueCount(int(n), key[1]) for n, key in zip(counts, column.keys, strict=True)
        if n and 0 < key[0] <= TEXT
    ]  # fmt: skip
    field: dict[str, Any] = {
        "name": path, "chunks": int(counts.sum()), "distinct": int((counts > 0).sum())
    }  # fmt: skip
    numbers = [one.value for one in plain if type(one.value) in (int, float)]
    if numbers and len(numbers) == len(plain):
        field |= {"least": min(numbers), "most": max(numbers)}
    if 0 < len(plain) <= MOST_VALUES:
        field["values"] = _shown(plain)
    return field


def _tags(column: Column, live: Int64s) -> list[dict[str, Any]]:
    """Return the facet of the tags."""
    found: dict[str, int] = {}
    for count, key in zip(_counts(column, live), column.keys, strict=True):
        for tag in key[1] if key[0] == LIST else ():
            found[tag[1]] = found.get(tag[1], 0) + int(count)
    counted = [ValueCount(count, tag) for tag, count in found.items() if count]
    return _shown(counted)[: MOST_FIELDS * 10]


def _shown(counted: list[ValueCount]) -> list[dict[str, Any]]:
    """Return values ready for JSON, the most frequent first."""
    ordered = sorted(counted, key=lambda one: (-one.chunks, str(one.value)))
    return [{"value": one.value, "chunks": one.chunks} for one in ordered]
