"""Planning: from an ask to the tasks of the shards that can contribute to its answer.

Planning reads the manifest only. Shards that a filter or a bound rules out get no task.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile.file.section_table import PREFETCHED
from ragfile.net.fetcher import WINDOW
from ragfile.shards import pruned_shards
from ragfile.shards.messages import (
    EVERYTHING,
    Counted,
    Lengths,
    Match,
    Nearest,
    Pass,
    RowRead,
    Score,
    Targeted,
    Task,
    Titled,
    Weighed,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ragfile.shards.manifest import ShardRecord
    from ragfile.shards.messages import Ask, Chosen
    from ragfile.shards.snapshot import DatasetSnapshot
    from ragfile.types import Int64s

    Whole = TypeVar("Whole", Lengths, Counted, Targeted)


UNSIGNED = "unsigned"  # equals no digest

LITTLE, TABLES_MOST = 1 << 20, 8 << 20  # bytes: limits of the first request to a shard


def window_of(shard: ShardRecord) -> int:
    """Return the bytes at a shard's end to fetch first: a small shard whole, else the tables that every question reads, if they
    are at the end and within TABLES_MOST."""
    if shard.bytes <= LITTLE:
        return shard.bytes
    first = min((at for name, _, at, _ in shard.sections if name in PREFETCHED), default=0)
    tables = shard.bytes - first
    return tables if WINDOW < tables <= TABLES_MOST else WINDOW


class ShardPlan(NamedTuple):
    """The tasks of an ask, and the number of shards that were ruled out."""

    tasks: list[Task]
    skipped: int


def plan(snapshot: DatasetSnapshot, ask: Ask) -> ShardPlan:
    """Return the tasks of an ask."""
    parts, skipped, bases = _PARTS[type(ask)], 0, snapshot.bases
    tasks: list[Task] = []
    for number, shard in enumerate(snapshot.manifest.shards):
        if not shard.live:
            continue
        part = parts(ask, shard, bases[number], bases[number + 1])
        if part is None:
            skipped += 1
        else:
            known = shard.identity, shard.rows
            content = "" if snapshot.contents is None else snapshot.content(shard.path)
            window = snapshot.windows[number] if snapshot.windows else 0
            url, cache = snapshot.urls[number], snapshot.cache
            tasks.append(Task(number, url, cache, *known, part, content, window))
    return ShardPlan(tasks, skipped if isinstance(ask, Match | Nearest) else 0)


def ruled_out(snapshot: DatasetSnapshot, chosen: Chosen) -> int:
    """Return how many shards with live rows a filter rules out."""
    bases, shards = snapshot.bases, snapshot.manifest.shards
    parts = (
        _chosen(chosen, one, bases[n], bases[n + 1]) for n, one in enumerate(shards) if one.live
    )
    return sum(part is None for part in parts)


def _pass(ask: Pass, shard: ShardRecord, base: int, end: int) -> Pass | None:
    chosen = _chosen(ask.chosen, shard, base, end)
    return None if chosen is None else Pass(chosen)


def _match(ask: Match, shard: ShardRecord, base: int, end: int) -> Match | None:
    chosen = _chosen(ask.chosen, shard, base, end)
    return None if chosen is None else ask._replace(chosen=chosen)


def _weighed(ask: Weighed, shard: ShardRecord, base: int, end: int) -> Weighed | None:
    has_any = any(name == "rag.sparse" for name, *_ in shard.sections)
    chosen = _chosen(ask.chosen, shard, base, end) if has_any else None
    return None if chosen is None else ask._replace(chosen=chosen)


def _nearest(ask: Nearest, shard: ShardRecord, base: int, end: int) -> Nearest | None:
    chosen = _chosen(ask.chosen, shard, base, end)
    if chosen is None or pruned_shards.is_too_far(ask.vectors, ask.min_score, shard):
        return None
    return ask._replace(chosen=chosen)


def _chosen(chosen: Chosen, shard: ShardRecord, base: int, end: int) -> Chosen | None:
    """Return the shard's part of a filter, or None if no row of the shard can pass."""
    if chosen is EVERYTHING:
        return chosen
    if not pruned_shards.can_pass(chosen, shard):
        return None
    if chosen.without is not None:
        is_here = base <= chosen.without < end
        chosen = replace(chosen, without=chosen.without - base if is_here else None)
    if chosen.rows is None:
        return chosen
    first, last = np.searchsorted(chosen.rows, [base, end])
    rows = chosen.rows[first:last] - base
    return replace(chosen, rows=rows) if len(rows) else None


def _score(ask: Score, shard: ShardRecord, base: int, end: int) -> Score | None:
    rows = [_local(part, base, end) for part in ask.rows]
    return ask._replace(rows=rows) if any(len(part) for part in rows) else None


def _read(ask: RowRead, shard: ShardRecord, base: int, end: int) -> RowRead | None:
    rows = _local(ask.rows, base, end)
    return ask._replace(rows=rows) if len(rows) else None


def _whole(ask: Whole, shard: ShardRecord, base: int, end: int) -> Whole:
    return ask


def _titled(ask: Titled, shard: ShardRecord, base: int, end: int) -> Titled | None:
    return ask if any(name == "rag.titles" for name, *_ in shard.sections) else None


def _local(rows: Int64s, base: int, end: int) -> Int64s:
    """Return the rows in [base, end), in their order, counted from base."""
    return rows[(rows >= base) & (rows < end)] - base


_PARTS: dict[type[Ask], Callable[[Any, ShardRecord, int, int], Ask | None]] = {
    Match: _match,
    Nearest: _nearest,
    Weighed: _weighed,
    Pass: _pass,
    Score: _score,
    RowRead: _read,
    Lengths: _whole,
    Counted: _whole,
    Titled: _titled,
    Targeted: _whole,
}
