"""Running: one shard's part of an answer, which depends on the task and the shard's bytes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragfile.errors import FormatError
from ragfile.file import exact_retrievers, row_sets
from ragfile.file.row_sets import ALL, RowSet
from ragfile.search import query_syntax
from ragfile.shards.messages import (
    Counted,
    Lengths,
    Match,
    Nearest,
    Pass,
    RowRead,
    Score,
    ShardFailure,
    ShardResult,
    Targeted,
    Task,
    Titled,
    Weighed,
)
from ragfile.shards.shards import ChosenRows, Shard, opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ragfile.shards.messages import Ask, Chosen
    from ragfile.types import Float32s

    Value = tuple[Any, list[str]]  # of a ShardResult, with the unknown keys


def run(task: Task) -> ShardResult:
    """Return the shard's answer to a task."""
    shard = opened(task.url, task.cache, task.content, task.window)
    shard.check_identity(task.identity, task.rows)
    value, unknown = _RUNS[type(task.ask)](shard, task.ask)
    return ShardResult(task.shard, value, unknown)


def attempt(task: Task) -> ShardResult | ShardFailure:
    """Run a task; a shard that is missing, unreachable or damaged gives a ShardFailure."""
    try:
        return run(task)
    except (OSError, FormatError) as error:
        reason = str(error) or type(error).__name__
        return ShardFailure(task.shard, f"{task.url.rpartition('/')[2]}: {reason}", error)


def _rows(shard: Shard, chosen: Chosen) -> ChosenRows:
    """Return the rows of the shard that may be found."""
    found = shard.chosen(chosen.where, chosen.tags_any, chosen.tags_all)
    if chosen.rows is None and chosen.without is None and not chosen.signs:
        return found
    mask = None if found.rows is None else found.rows.mask
    mask = np.ones(shard.rows.count, bool) if mask is None else mask.copy()
    if chosen.rows is not None:
        mask &= row_sets.mask_of(chosen.rows, shard.rows.count)
    if chosen.without is not None:
        mask[chosen.without] = False
    passing = RowSet(shard.rows.alive(mask))
    if chosen.signs:
        passing = query_syntax.left(shard.rows, chosen.signs, passing)
    return ChosenRows(passing, found.unknown)


def _match(shard: Shard, ask: Match) -> Value:
    rows, unknown = _rows(shard, ask.chosen)
    return shard.match_whole(ask, rows), unknown


def _nearest(shard: Shard, ask: Nearest) -> Value:
    rows, unknown = _rows(shard, ask.chosen)
    count = 1 if ask.vectors.ndim == 1 else len(ask.vectors)
    if not shard.rows.has_vectors:
        return exact_retrievers.nothing(count, ask.k), unknown
    chosen, k = ALL if rows is None else rows, min(ask.k, shard.rows.live)
    if ask.effort >= 1:
        return shard.rows.nearest(ask.vectors, k, chosen, ask.threads, ask.min_score), unknown
    recall = np.ones(count)
    found = shard.rows.nearest(
        ask.vectors, k, chosen, ask.threads, ask.min_score, ask.effort, recall
    )
    return (*found, recall), unknown


def _weighed(shard: Shard, ask: Weighed) -> Value:
    rows, unknown = _rows(shard, ask.chosen)
    chosen, k = ALL if rows is None else rows, min(ask.k, shard.rows.live)
    return shard.rows.sparse_best(ask.questions, k, chosen), unknown


def _score(shard: Shard, ask: Score) -> Value:
    """Return the scores of all questions' rows, concatenated."""
    found: list[Float32s] = [np.empty(0, np.float32)]
    for i, rows in enumerate(ask.rows):
        if not len(rows):
            continue
        if ask.sparse is not None:
            found.append(shard.rows.sparse_scores(rows, ask.sparse))
        elif ask.vectors is not None and not shard.rows.has_vectors:
            found.append(np.full(len(rows), np.nan, np.float32))
        elif ask.vectors is not None:
            found.append(shard.rows.scores_of(rows, vector=ask.vectors[i]))
        else:
            found.append(shard.word_scores(rows, ask, i))
    return np.concatenate(found), []


def _pass(shard: Shard, ask: Pass) -> Value:
    """Return the rows that may be found, eight to a byte."""
    rows, unknown = _rows(shard, ask.chosen)
    mask = None if rows is None else rows.mask
    return np.packbits(
        shard.rows.alive(np.ones(shard.rows.count, bool)) if mask is None else mask
    ), unknown


def _lengths(shard: Shard, ask: Lengths) -> Value:
    return shard.field_lengths(), []


def _counted(shard: Shard, ask: Counted) -> Value:
    return shard.frequencies(ask.queries), []


def _read(shard: Shard, ask: RowRead) -> Value:
    known = shard.rows.looked_at(ask.what, ask.rows)
    return [known[row] for row in ask.rows.tolist()], []


def _titled(shard: Shard, ask: Titled) -> Value:
    return shard.rows.title_matches(ask.texts), []


def _targeted(shard: Shard, ask: Targeted) -> Value:
    targets = shard.rows.link_targets
    return [targets.best(target) for target in ask.targets], []


_RUNS: dict[type[Ask], Callable[[Shard, Any], Value]] = {
    Match: _match,
    Nearest: _nearest,
    Weighed: _weighed,
    Pass: _pass,
    Score: _score,
    RowRead: _read,
    Lengths: _lengths,
    Counted: _counted,
    Titled: _titled,
    Targeted: _targeted,
}
