"""What a manifest says of a shard, held against a question: True wherever the shard might matter.

Bounds cover all rows of a shard, so a condition that no value between them meets is met by no row. A negative condition
($ne, $nin, $not, "$exists": false) rules nothing out here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ragfile.file import row_sets
from ragfile.file.filters import sort_key

if TYPE_CHECKING:
    from typing import Any

    from ragfile.shards.manifest import ShardRecord
    from ragfile.shards.messages import Chosen

NAMES = ("source", "doc_id", "id")  # mean the fields of a hit where metadata have no such key
NUMBER, TEXT = 2, 3  # kinds of filters.sort_key
KINDS = {NUMBER: "numbers", TEXT: "texts"}


def can_pass(chosen: Chosen, shard: ShardRecord) -> bool:
    """Whether a row of the shard might pass a filter."""
    if not _tags_can(chosen, shard.tags):
        return False
    if row_sets.are_ids(chosen.where):
        return any(_holds_id(shard, name) for name in chosen.where)
    return not isinstance(chosen.where, dict) or _condition(chosen.where, shard)


def _tags_can(chosen, tags):
    if tags is None:
        return True
    return (not chosen.tags_any or bool(set(tags) & set(chosen.tags_any))) and (
        set(tags) >= set(chosen.tags_all)
    )


def _holds_id(shard, name):
    """Whether a document, or a chunk "document#index", might be here."""
    names = (name, name.rpartition("#")[0])
    return any(shard.first <= one <= shard.last for one in names)


def _condition(where, shard) -> bool:
    return all(_entry(key, value, shard) for key, value in where.items())


def _entry(key, value, shard):
    if key == "$and":
        return all(_condition(one, shard) for one in value)
    if key == "$or":
        return any(_condition(one, shard) for one in value)
    if key.startswith("$") or key in NAMES:
        return True
    if not isinstance(value, dict) or not any(str(name).startswith("$") for name in value):
        return _operator("$eq", value, key, shard)
    return all(_operator(name, operand, key, shard) for name, operand in value.items())


def lacks(shard: ShardRecord, path: str) -> bool:
    """Whether no row of the shard can have a key: neither it nor an object that it could be a part of."""
    is_told = shard.knows_all_fields and path not in NAMES
    return is_told and path not in shard.bounds and path.partition(".")[0] not in shard.bounds


def _operator(name, operand, path, shard) -> bool:
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


def _within(key, bounds):
    found = bounds.get(KINDS.get(key[0]))
    return found is not None and found[0] <= key[1] <= found[1]


def _reaches(name, key, bounds):
    found = bounds.get(KINDS.get(key[0]))
    if found is None:
        return False
    if name in ("$gt", "$gte"):
        return found[1] > key[1] or (name == "$gte" and found[1] == key[1])
    return found[0] < key[1] or (name == "$lte" and found[0] == key[1])


# ------------------------------------------------------------------------------------- vectors


def is_too_far(vectors: Any, min_score: Any, shard: ShardRecord) -> bool:
    """Whether no row of the shard can reach the least score of any of the questions.

    The rows lie within the radius around the centroid, both as the metric compares them, so that none scores more than the
    centroid does plus the radius times the question's length. All in binary64, with room for its rounding and for that of a
    score to binary32.
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


def radius_of(vectors: Any, centroid: list[int]) -> float:
    """How far from the centroid the farthest row lies, as a direction; rounded up."""
    rows = directions(vectors)
    if not len(rows):
        return 0.0
    apart = rows - np.array(centroid, np.float64) / 127
    farthest = math.sqrt(float((apart * apart).sum(axis=1).max()))
    return math.ceil(farthest * 1e6 + 1) / 1e6


def directions(vectors: Any) -> np.ndarray:
    """Vectors in binary64, each of length 1; those without a direction are left at 0."""
    rows = np.asarray(vectors, np.float64)
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
