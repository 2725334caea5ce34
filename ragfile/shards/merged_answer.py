"""Merging: from the results of the shards to the answer that one file would give.

Rows are merged by score, and ties by (document id, chunk index). Where shards hold consecutive ranges of ids, row numbers
have the same order as these keys. Otherwise the keys of tied rows must be read: `ties` lists those rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ragfile import _core
from ragfile.file.exact_retrievers import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.search.rows_protocol import Found
    from ragfile.shards.messages import RowRead, Score, ShardResult, Task
    from ragfile.types import Booleans, Float32s, Int64s

    Key = tuple[bytes, int]  # (document id, chunk index)


UNPROVEN = 1 - 2.0**-20  # the largest estimate of recall


class Best(NamedTuple):
    """The best rows of the dataset for one question, and those that tie with the last of them."""

    rows: Int64s
    scores: Float32s


def best(results: Sequence[ShardResult], bases: Sequence[int], count: int, k: int) -> list[Best]:
    """Merge the rows for `count` questions by score and row number."""
    if not results:
        nothing = Best(np.empty(0, np.int64), np.empty(0, np.float32))
        return [nothing] * count
    rows = np.concatenate(
        [_numbered(result.value[0], bases[result.shard]) for result in results], axis=1
    )
    scores = np.concatenate([result.value[1] for result in results], axis=1)
    return [Best(*_core.ranked(rows[i].copy(), scores[i].copy(), k)) for i in range(count)]


def recall_of(
    results: Sequence[ShardResult], bases: Sequence[int], found: Sequence[Best]
) -> NDArray[np.float64]:
    """Estimate the recall of each answer: the mean of its shards' estimates, weighted by rows; 1 where all are exact."""
    out = np.ones(len(found))
    for i, (rows, _) in enumerate(found):
        with_vectors = [
            result for result in results if len(result.value) > 2
        ]  # the third is recall
        shares = {result.shard: float(result.value[2][i]) for result in with_vectors}
        if all(share == 1.0 for share in shares.values()):
            continue
        shards = (np.searchsorted(bases, rows, "right") - 1).tolist()
        sure = [shares.get(shard, 1.0) for shard in shards]
        out[i] = min(sum(sure) / max(len(sure), 1), UNPROVEN)
    return out


def _numbered(rows: Int64s, base: int) -> Int64s:
    """Number a shard's rows in the dataset; -1 stays."""
    return np.where(rows < 0, rows, rows + base)


def ties(found: Sequence[Best]) -> Int64s:
    """Return the rows that share their score with a neighbour."""
    tied = [np.empty(0, np.int64)]
    for rows, scores in found:
        is_tied = np.zeros(len(rows), bool)
        same = scores[1:] == scores[:-1]
        is_tied[1:] |= same
        is_tied[:-1] |= same
        tied.append(rows[is_tied])
    return np.unique(np.concatenate(tied))


def cut(found: Sequence[Best], k: int, keys: Mapping[int, Key]) -> Found:
    """Return (rows int64[m, k], scores float32[m, k]), with ties in order of their keys; -1 fills up short answers."""
    rows = np.full((len(found), k), -1, np.int64)
    scores = np.full((len(found), k), NOTHING, np.float32)
    for i, (of_one, best_) in enumerate(found):
        ordered = _by_key(of_one, best_, keys) if keys else of_one
        count = min(k, len(ordered))
        rows[i, :count], scores[i, :count] = ordered[:count], best_[:count]
    return rows, scores


def _by_key(rows: Int64s, scores: Float32s, keys: Mapping[int, Key]) -> Int64s:
    """Sort each run of equal scores by the keys of its rows."""
    ordered, first = rows.copy(), 0
    for last in [*(np.flatnonzero(scores[1:] != scores[:-1]) + 1).tolist(), len(rows)]:
        if last - first > 1:
            ordered[first:last] = by_key(rows[first:last].tolist(), keys)
        first = last
    return ordered


def by_key(rows: Sequence[int], keys: Mapping[int, Key]) -> list[int]:
    """Sort rows by their keys; rows of a shard that has failed come last."""
    return sorted(rows, key=lambda row: (row not in keys, keys.get(row) or row))


def scattered(
    rows: Sequence[Int64s],
    tasks: Sequence[Task],
    results: Sequence[ShardResult],
    bases: Sequence[int],
) -> list[Float32s]:
    """Put scores in the order of each question's rows; rows of a shard that failed score 0."""
    found = [np.zeros(len(part), np.float32) for part in rows]
    asked = {task.shard: cast("Score", task.ask).rows for task in tasks}
    for result in results:
        base, end, at = bases[result.shard], bases[result.shard + 1], 0
        for i, part in enumerate(rows):
            count = len(asked[result.shard][i])
            if count:
                found[i][(part >= base) & (part < end)] = result.value[at : at + count]
                at += count
    return found


def flags(results: Sequence[ShardResult], bases: Sequence[int]) -> Booleans:
    """Return bool[rows] of the dataset from the shards' bits; False for a shard without a result."""
    found = np.zeros(bases[-1], bool)
    for result in results:
        base, end = bases[result.shard], bases[result.shard + 1]
        found[base:end] = np.unpackbits(result.value, count=end - base).view(bool)
    return found


def by_row(
    tasks: Sequence[Task], results: Sequence[ShardResult], bases: Sequence[int]
) -> dict[int, Any]:
    """Return the values that the shards read, by row of the dataset."""
    asked = {task.shard: cast("RowRead", task.ask).rows for task in tasks}
    return {
        int(row) + bases[result.shard]: value
        for result in results
        for row, value in zip(asked[result.shard], result.value, strict=True)
    }
