"""LlamaIndex's metadata filters as filters of the engine, with the results of LlamaIndex's own function.

    where(filters)    {"year": {"$gt": 2020}}, or None if only LlamaIndex's function can evaluate them
    odd(filters)      nodes for which that function raises a TypeError: if there are any, it has to

Two rules differ from the engine's, and are spelled out: Python's True equals 1 and False equals 0, and ANY
and ALL look into strings, too. CONTAINS, ANY and ALL do not look at the keys of objects.
"""

from __future__ import annotations

from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any, cast

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
)

from ragfile.ground.json_values import is_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from llama_index.core.vector_stores.types import MetadataFilters

    Filter: TypeAlias = dict[str, Any]  # of the engine

ORDERS = {
    FilterOperator.GT: "$gt", FilterOperator.GTE: "$gte", FilterOperator.LT: "$lt",
    FilterOperator.LTE: "$lte",
}  # fmt: skip
PASSES: dict[FilterOperator, Callable[[float, float], bool]] = {
    FilterOperator.GT: gt, FilterOperator.GTE: ge, FilterOperator.LT: lt, FilterOperator.LTE: le,
}  # fmt: skip
FIELDS = ("id", "doc_id", "source")  # paths that can mean a field of the hit
LARGEST = 10_000  # conditions of one filter


def where(filters: MetadataFilters | None) -> Filter | None:
    """Return the engine's filter, or None if there is none with the same results."""
    if filters is None or not filters.filters:
        return {}
    parts = [_condition(one) for one in filters.filters]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or _count(known) > LARGEST:
        return None
    if filters.condition == FilterCondition.OR:
        return {"$or": known}
    if filters.condition == FilterCondition.NOT:
        return {"$not": {"$or": known}}
    return {"$and": known}


def odd(filters: MetadataFilters | None) -> Filter | None:
    """Return the filter for nodes with a value that cannot be compared, or None if all can."""
    found = [] if filters is None else [_odd(one) for one in filters.filters]
    known = [one for one in found if one is not None]
    return {"$or": known} if known else None


def _odd(one: object) -> Filter | None:
    """Return the filter for values of a key with which a comparison raises a TypeError."""
    if not isinstance(one, MetadataFilter):
        return None
    if one.operator in ORDERS:
        return _other_than(one.key, _texts if isinstance(one.value, str) else _numbers)
    if one.operator == FilterOperator.TEXT_MATCH:
        return _other_than(one.key, _texts)
    if one.operator in (FilterOperator.CONTAINS, FilterOperator.ANY, FilterOperator.ALL):
        values = one.value if is_list(one.value) else [one.value]
        all_texts = all(isinstance(value, str) for value in values)
        kinds = (_numbers,) if all_texts else (_numbers, _texts)
        return {"$or": [kind(one.key) for kind in kinds]}
    return None


def _texts(key: str) -> Filter:
    return {key: {"$gte": ""}}


def _numbers(key: str) -> Filter:
    """Return the filter for numbers and booleans, which Python compares with one another."""
    return {"$or": [{key: {"$lte": 0}}, {key: {"$gt": 0}}, {key: {"$in": [True, False]}}]}


def _other_than(key: str, kind: Callable[[str], Filter]) -> Filter:
    """Return a filter for values that exist, are not null, and are not of a kind."""
    return {"$and": [{key: {"$exists": True}}, {key: {"$ne": None}}, {"$not": kind(key)}]}


def _count(value: object) -> int:
    """Return the number of values in a filter."""
    if isinstance(value, dict):
        return sum(map(_count, cast("dict[str, object]", value).values()))
    return sum(map(_count, value)) if is_list(value) else 1


def _condition(one: object) -> Filter | None:
    """Return the condition on one key, or None."""
    if not isinstance(one, MetadataFilter):
        return None
    key, value = one.key, one.value
    if "." in key or key.startswith("$") or key in FIELDS:
        return None
    if one.operator == FilterOperator.IS_EMPTY:
        return {"$or": [{key: {"$exists": False}}, {key: {"$in": [None, "", []]}}]}
    if one.operator in ORDERS and isinstance(value, str | int | float):
        return _ordered(key, one.operator, value)
    if one.operator in (FilterOperator.EQ, FilterOperator.NE) and _is_plain(value):
        return _member(key, [value], is_in=one.operator == FilterOperator.EQ)
    if one.operator in (FilterOperator.IN, FilterOperator.NIN) and _are_plain(value):
        return _member(key, value, is_in=one.operator == FilterOperator.IN)
    return _contained(key, one.operator, value)


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) and value == value


def _are_plain(value: object) -> bool:
    return is_list(value) and bool(value) and all(map(_is_plain, value))


def _twins(values: Sequence[Any]) -> list[Any]:
    """Return the values with the booleans and numbers that equal them in Python."""
    twins = {True: [True, 1], False: [False, 0]}
    found: list[Any] = []
    for value in values:
        same = isinstance(value, bool | int | float) and value in (0, 1)
        found += twins[bool(value)] if same else [value]
    return found


def _member(key: str, values: Sequence[Any], *, is_in: bool) -> Filter:
    return {key: {"$in" if is_in else "$nin": _twins(values)}}


def _ordered(key: str, operator: FilterOperator, value: str | float) -> Filter | None:
    """Return a comparison; with a number, Python compares booleans, too."""
    if isinstance(value, str):
        return {key: {ORDERS[operator]: value}}
    booleans = [one for one in (False, True) if PASSES[operator](one, value)]
    compared: Filter = {key: {ORDERS[operator]: value + 0}}
    return {"$or": [compared, {key: {"$in": booleans}}]} if booleans else compared


def _contained(key: str, operator: FilterOperator, value: object) -> Filter | None:
    """Return a condition on the elements of a list or the parts of a text."""
    if operator in (FilterOperator.CONTAINS, FilterOperator.TEXT_MATCH) and isinstance(value, str):
        return {key: {"$contains": value}}
    if operator == FilterOperator.CONTAINS and _is_plain(value):
        return {"$or": [{key: {"$contains": one}} for one in _twins([value])]}
    if operator not in (FilterOperator.ANY, FilterOperator.ALL) or not _are_plain(value):
        return None
    each: list[Filter] = [
        {"$or": [{key: {"$contains": twin}} for twin in _twins([one])]}
        for one in cast("list[Any]", value)
    ]
    return {"$or" if operator == FilterOperator.ANY else "$and": each}
