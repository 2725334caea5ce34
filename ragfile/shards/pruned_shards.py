"""Bounds of a shard against a question: True wherever the shard might contribute.

Bounds cover all rows of a shard, so a condition that no value between them meets is met by no row. Negative conditions
($ne, $nin, $not, "$exists": false) rule out nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ragfile.file import row_sets
from ragfile.file.filters import sort_key
from ragfile.ground.json_values import is_object

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.shards.manifest import ShardRecord
    from ragfile.shards.messages import Chosen
    from ragfile.types import Float32s, Floats

    Bounds = dict[str, Any]  # JSON: [least, greatest] by kind
    SortKey = tuple[Any, ...]  # of filters.sort_key: the kind, and the value if there is one

NAMES = ("source", "doc_id", "id")  # fields of a hit, unless metadata have such a key
NUMBER, TEXT = 2, 3  # kinds of filters.sort_key
KINDS = {NUMBER: "numbers", TEXT: "texts"}


def can_pass(chosen: Chosen, shard: ShardRecord) -> bool:
    """Return whether a row of the shard might pass a filter."""
    if not _tags_can(chosen, shard.tags):
        return False
    if row_sets.are_ids(chosen.where):
        return any(_holds_id(shard, name) for name in chosen.where)
    where = chosen.where
    return where is None or not is_object(where) or _condition(where, shard)


def _tags_can(chosen: Chosen, tags: list[str] | None) -> bool:
    if tags is None:
        return True
    return (not chosen.tags_any or bool(set(tags) & set(chosen.tags_any))) and (
        set(tags) >= set(chosen.tags_all)
    )


def _holds_id(shard: ShardRecord, name: str) -> bool:
    """Return whether the shard might hold a document, or a chunk "document#index"."""
    names = (name, name.rpartition("#")[0])
    return any(shard.first <= one <= shard.last for one in names)


def _condition(where: Mapping[str, Any], shard: ShardRecord) -> bool:
    return all(_entry(key, value, shard) for key, value in where.items())


def _entry(
    key: str,
    value: Any,  # Any: JSON
    shard: ShardRecord,
) -> bool:
    if key == "$and":
        return all(_condition(one, shard) for one in value)
    if key == "$or":
        return any(_condition(one, shard) for one in value)
    if key.startswith("$") or key in NAMES:
        return True
    if not is_object(value) or not any(str(name).startswith("$") for name in value):
        return _operator("$eq", value, key, shard)
    return all(_operator(name, operand, key, shard) for name, operand in value.items())


def lacks(shard: ShardRecord, path: str) -> bool:
    """Return whether no row of the shard can have a key, nor an object that might contain it."""
    is_listed = shard.knows_all_fields and path not in NAMES
    return is_listed and path not in shard.bounds and path.partition(".")[0] not in shard.bounds


def _operator(
    name: str,
    operand: Any,  # Any: JSON
    path: str,
    shard: ShardRecord,
) -> bool:
    bounds = shard.bounds.get(path)
    if bounds is None:
        return (
            not lacks(shard, path) or name in ("$ne", "$nin") or (name == "$exists" and not operand)
        )
    if "." in path or bounds.get("others"):
        return True
    if name == "$in":
        return any(_within(sort_key(one), bounds) for one in operand)
    if name == "$eq":
        return _within(sort_key(operand), bounds)
    if name in ("$gt", "$gte", "$lt", "$lte"):
        return _reaches(name, sort_key(operand), bounds)
    return True


def _within(key: SortKey, bounds: Bounds) -> bool:
    found = _bound(key, bounds)
    return found is not None and found[0] <= key[1] <= found[1]


def _bound(key: SortKey, bounds: Bounds) -> list[Any] | None:
    """Return [least, greatest] of the kind of a key."""
    return bounds.get(KINDS.get(key[0], ""))


def _reaches(name: str, key: SortKey, bounds: Bounds) -> bool:
    found = _bound(key, bounds)
    if found is None:
        return False
    if name in ("$gt", "$gte"):
        return found[1] > key[1] or (name == "$gte" and found[1] == key[1])
    return found[0] < key[1] or (name == "$lte" and found[0] == key[1])


# ------------------------------------------------------------------------------------- vectors


def is_too_far(vectors: Floats, min_score: Float32s | None, shard: ShardRecord) -> bool:
    """Return whether no row of the shard can reach the minimum score of any question.

    All rows are within the radius of the centroid, as directions. So no row scores more than the centroid plus the radius
    times the question's length. Computed in binary64; 1e-5 covers its rounding and that of a score to binary32.
    """
    if min_score is None or shard.centroid is None:
        return False
    floors = np.asarray(min_score, np.float64).reshape(-1)
    if not np.isfinite(floors).all():
        return False
    queries = np.atleast_2d(np.asarray(vectors, np.float64))
    lengths = np.sqrt((queries * queries).sum(axis=1))
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        return False
    centre = np.array(shard.centroid, np.float64) / 127
    reach = queries @ centre / lengths + shard.radius
    return bool((reach + 1e-5 < floors).all())


def radius_of(vectors: Floats, centroid: list[int]) -> float:
    """Return the distance of the farthest row from the centroid, as directions; rounded up."""
    rows = directions(vectors)
    if not len(rows):
        return 0.0
    apart = rows - np.array(centroid, np.float64) / 127
    farthest = math.sqrt(float((apart * apart).sum(axis=1).max()))
    return math.ceil(farthest * 1e6 + 1) / 1e6


def directions(vectors: Floats) -> NDArray[np.float64]:
    """Scale vectors to length 1 in binary64; zero vectors stay zero."""
    rows = np.asarray(vectors, np.float64)
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    scaled = np.zeros_like(rows)
    np.divide(rows, lengths, out=scaled, where=lengths > 0)
    return scaled
