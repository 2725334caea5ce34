"""What a collection can be filtered by: its tags, and the values of its metadata, with counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ragfile.doors.server.operations import Call
    from ragfile.doors.server.shared_state import Service
    from ragfile.knowledge_base import KnowledgeBase

MOST_FIELDS, MOST_VALUES = 100, 50
NUMBER, TEXT, LIST = 2, 3, 4  # the first of a key says of what kind its value is (store.filters)


def facets(service: Service, call: Call) -> dict[str, Any]:
    """Tags and fields with the values that most chunks have. `values` of a field are missing where
    there are too many to choose from.
    """
    rf = service.collections.at_commit(call.path["c"])
    return service.of_commit(rf, "facets", facets_of)


def facets_of(rf: KnowledgeBase) -> dict[str, Any]:
    """Of a commit, where nobody keeps them."""
    columns, live = rf.rows.columns, rf.live_rows()
    fields = [_field(path, columns.column(path), live) for path in sorted(columns.paths)]
    return {
        "tags": _tags(columns.tags(), live), "fields": fields[:MOST_FIELDS],
        "generation": rf.generation,
    }  # fmt: skip


def _counts(column, live):
    """How many live rows have each value."""
    codes = column.codes[live]
    return np.bincount(codes[codes >= 0], minlength=len(column.keys))


def _field(path, column, live):
    counts = _counts(column, live)
    plain = [
        (int(n), key[1]) for n, key in zip(counts, column.keys, strict=True)
        if n and 0 < key[0] <= TEXT
    ]  # fmt: skip
    field = {"name": path, "chunks": int(counts.sum()), "distinct": int((counts > 0).sum())}
    kinds = {type(value) for _, value in plain}
    if kinds and kinds <= {int, float}:
        field |= {"least": min(v for _, v in plain), "most": max(v for _, v in plain)}
    if 0 < len(plain) <= MOST_VALUES:
        field["values"] = _shown(plain)
    return field


def _tags(column, live):
    found: dict[str, int] = {}
    for count, key in zip(_counts(column, live), column.keys, strict=True):
        for tag in key[1] if key[0] == LIST else ():
            found[tag[1]] = found.get(tag[1], 0) + int(count)
    return _shown([(count, tag) for tag, count in found.items() if count])[: MOST_FIELDS * 10]


def _shown(counted):
    """The most frequent first."""
    ordered = sorted(counted, key=lambda pair: (-pair[0], str(pair[1])))
    return [{"value": value, "chunks": count} for count, value in ordered]
