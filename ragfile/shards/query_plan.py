"""plan(snapshot, ask) → tasks: which shards have a part in an answer, and what each of them is asked.

A shard that a filter or a bound rules out is not asked at all. Nothing is read here but the manifest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile.file.section_table import PREFETCHED
from ragfile.net.fetcher import WINDOW
from ragfile.shards import shard_bounds
from ragfile.shards.messages import (
    EVERYTHING,
    Counted,
    Lengths,
    Match,
    Nearest,
    Pass,
    RowRead,
    Score,
    Task,
)

if TYPE_CHECKING:
    from typing import Any

    from ragfile.shards.manifest import ShardRecord
    from ragfile.shards.snapshot import DatasetSnapshot


UNSIGNED = "unsigned"  # which no content has as its digest


LITTLE, TABLES_MOST = 1 << 20, 8 << 20  # bytes that one request brings with the end of a shard


def window_of(shard: ShardRecord) -> int:
    """How many bytes at a shard's end its first request is to bring: all of a small one; else what every question reads, if
    that lies together and is not much."""
    if shard.bytes <= LITTLE:
        return shard.bytes
    first = min((at for name, _, at, _ in shard.sections if name in PREFETCHED), default=0)
    tables = shard.bytes - first
    return tables if WINDOW < tables <= TABLES_MOST else WINDOW


class ShardPlan(NamedTuple):
    """The tasks of an ask, and how many shards were ruled out."""

    tasks: list[Task]
    skipped: int


def plan(snapshot: DatasetSnapshot, ask: Any) -> ShardPlan:
    """Return the tasks of an ask (see shards/messages.py)."""
    parts, tasks, skipped, bases = _PARTS[type(ask)], [], 0, snapshot.bases
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


def _pass(ask, shard, base, end):
    chosen = _chosen(ask.chosen, shard, base, end)
    return None if chosen is None else Pass(chosen)


def _match(ask, shard, base, end):
    chosen = _chosen(ask.chosen, shard, base, end)
    return None if chosen is None else ask._replace(chosen=chosen)


def _nearest(ask, shard, base, end):
    chosen = _chosen(ask.chosen, shard, base, end)
    if chosen is None or shard_bounds.is_too_far(ask.vectors, ask.min_score, shard):
        return None
    return ask._replace(chosen=chosen)


def _chosen(chosen, shard, base, end):
    """The shard's part of a filter, or None where no row of the shard passes."""
    if chosen is EVERYTHING:
        return chosen
    if not shard_bounds.can_pass(chosen, shard):
        return None
    if chosen.without is not None:
        is_here = base <= chosen.without < end
        chosen = replace(chosen, without=chosen.without - base if is_here else None)
    if chosen.rows is None:
        return chosen
    first, last = np.searchsorted(chosen.rows, [base, end])
    rows = chosen.rows[first:last] - base
    return replace(chosen, rows=rows) if len(rows) else None


def _score(ask, shard, base, end):
    rows = [_local(part, base, end) for part in ask.rows]
    return ask._replace(rows=rows) if any(len(part) for part in rows) else None


def _read(ask, shard, base, end):
    rows = _local(ask.rows, base, end)
    return ask._replace(rows=rows) if len(rows) else None


def _whole(ask, shard, base, end):
    return ask


def _local(rows, base, end):
    """The rows that lie in [base, end), in their order, counted from base."""
    return rows[(rows >= base) & (rows < end)] - base


_PARTS = {
    Match: _match,
    Nearest: _nearest,
    Pass: _pass,
    Score: _score,
    RowRead: _read,
    Lengths: _whole,
    Counted: _whole,
}
