"""merge(legs) → an answer: what the shards said, put together as one file would have said it.

Legs are merged by score, and ties by (document id, chunk index). Where the shards divide the ids among them in order, the
number of a row says the same as its key. Otherwise the keys of rows that tie are asked for: `ties` names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.file.exact import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ragfile.shards.messages import ShardLeg, Task


UNPROVEN = 1 - 2.0**-20  # the most that an estimate of recall says


class Best(NamedTuple):
    """The best rows of the dataset for one question, and those that tie with the last of them."""

    rows: np.ndarray
    scores: np.ndarray


def best(legs: Sequence[ShardLeg], bases: Sequence[int], count: int, k: int) -> list[Best]:
    """The legs of `count` questions, merged by score and row number."""
    if not legs:
        nothing = Best(np.empty(0, np.int64), np.empty(0, np.float32))
        return [nothing] * count
    rows = np.concatenate([_numbered(leg.value[0], bases[leg.shard]) for leg in legs], axis=1)
    scores = np.concatenate([leg.value[1] for leg in legs], axis=1)
    return [Best(*_core.ranked(rows[i].copy(), scores[i].copy(), k)) for i in range(count)]


def recall_of(legs: Sequence[ShardLeg], bases: Sequence[int], found: Sequence[Best]) -> np.ndarray:
    """The share of the best that each answer has: those of its shards, by what came from each; 1 where all
    of them are."""
    out = np.ones(len(found))
    for i, (rows, _) in enumerate(found):
        told = [leg for leg in legs if len(leg.value) > 2]  # the others have no vectors
        shares = {leg.shard: float(leg.value[2][i]) for leg in told}
        if all(share == 1.0 for share in shares.values()):
            continue
        shards = (np.searchsorted(bases, rows, "right") - 1).tolist()
        sure = [shares.get(shard, 1.0) for shard in shards]
        out[i] = min(sum(sure) / max(len(sure), 1), UNPROVEN)
    return out


def _numbered(rows, base):
    return np.where(rows < 0, rows, rows + base)


def ties(found: Sequence[Best]) -> np.ndarray:
    """The rows whose key decides where they stand."""
    tied = [np.empty(0, np.int64)]
    for rows, scores in found:
        is_tied = np.zeros(len(rows), bool)
        same = scores[1:] == scores[:-1]
        is_tied[1:] |= same
        is_tied[:-1] |= same
        tied.append(rows[is_tied])
    return np.unique(np.concatenate(tied))


def cut(found: Sequence[Best], k: int, keys: Mapping[int, Any]) -> Any:
    """(rows int64[m, k], scores float32[m, k]): ties in order of their keys, -1 where there is nothing."""
    rows = np.full((len(found), k), -1, np.int64)
    scores = np.full((len(found), k), NOTHING, np.float32)
    for i, (of_one, best_) in enumerate(found):
        ordered = _by_key(of_one, best_, keys) if keys else of_one
        count = min(k, len(ordered))
        rows[i, :count], scores[i, :count] = ordered[:count], best_[:count]
    return rows, scores


def _by_key(rows, scores, keys):
    """Rows of falling scores, with each run of equal ones in order of their keys."""
    ordered, first = rows.copy(), 0
    for last in [*(np.flatnonzero(scores[1:] != scores[:-1]) + 1).tolist(), len(rows)]:
        if last - first > 1:
            ordered[first:last] = by_key(rows[first:last].tolist(), keys)
        first = last
    return ordered


def by_key(rows: Sequence[int], keys: Mapping[int, Any]) -> list[int]:
    """Rows in order of their keys; those of a shard that failed meanwhile come last."""
    return sorted(rows, key=lambda row: (row not in keys, keys.get(row) or row))


def scattered(
    rows: Sequence[np.ndarray],
    tasks: Sequence[Task],
    legs: Sequence[ShardLeg],
    bases: Sequence[int],
) -> list[np.ndarray]:
    """The scores of each question's rows, in the rows' order; 0 for those of a shard that says nothing."""
    found = [np.zeros(len(part), np.float32) for part in rows]
    asked = {task.shard: task.ask.rows for task in tasks}
    for leg in legs:
        base, end, at = bases[leg.shard], bases[leg.shard + 1], 0
        for i, part in enumerate(rows):
            count = len(asked[leg.shard][i])
            if count:
                found[i][(part >= base) & (part < end)] = leg.value[at : at + count]
                at += count
    return found


def flags(legs: Sequence[ShardLeg], bases: Sequence[int]) -> np.ndarray:
    """bool[rows] of the dataset, from the bits that shards said; a shard that was not asked has none."""
    found = np.zeros(bases[-1], bool)
    for leg in legs:
        base, end = bases[leg.shard], bases[leg.shard + 1]
        found[base:end] = np.unpackbits(leg.value, count=end - base).view(bool)
    return found


def by_row(tasks: Sequence[Task], legs: Sequence[ShardLeg], bases: Sequence[int]) -> dict[int, Any]:
    """What the shards read, by row of the dataset."""
    asked = {task.shard: task.ask.rows for task in tasks}
    return {
        int(row) + bases[leg.shard]: value
        for leg in legs
        for row, value in zip(asked[leg.shard], leg.value, strict=True)
    }
