"""plan(manifest, ask) → tasks: which shards have a part in an answer, and what each of them is asked.

A shard that a filter or a bound rules out is not asked at all. Nothing is read here but the manifest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile.sharding import pruning
from ragfile.sharding.asking import (
    Counted,
    Lengths,
    Match,
    Nearest,
    Pass,
    Read,
    Score,
    Task,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ragfile.sharding.manifest import Manifest


UNSIGNED = "unsigned"  # which no content has as its digest


class Plan(NamedTuple):
    """The tasks of an ask, and how many shards were ruled out."""

    tasks: list[Task]
    skipped: int


def plan(
    manifest: Manifest, ask: Any, url: Any, cache: str | None = None,
    contents: Mapping[str, str] | None = None,
) -> Plan:  # fmt: skip
    """The tasks of an ask. url(name) is where an object of the dataset is, contents[name] what it must contain."""
    bases = np.array(manifest.bases, np.int64)
    parts, tasks, skipped = _PARTS[type(ask)], [], 0
    for number, shard in enumerate(manifest.shards):
        if not shard.live:
            continue
        part = parts(ask, shard, int(bases[number]), int(bases[number + 1]))
        if part is None:
            skipped += 1
        else:
            known = shard.identity, shard.rows
            content = "" if contents is None else contents.get(shard.path, UNSIGNED)
            tasks.append(Task(number, url(shard.path), cache, *known, part, content))
    return Plan(tasks, skipped if isinstance(ask, Match | Nearest) else 0)


def _pass(ask, shard, base, end):
    chosen = _chosen(ask.chosen, shard, base, end)
    return None if chosen is None else Pass(chosen)


def _match(ask, shard, base, end):
    chosen = _chosen(ask.chosen, shard, base, end)
    return None if chosen is None else ask._replace(chosen=chosen)


def _nearest(ask, shard, base, end):
    chosen = _chosen(ask.chosen, shard, base, end)
    if chosen is None or pruning.is_too_far(ask.vectors, ask.least, shard):
        return None
    return ask._replace(chosen=chosen)


def _chosen(chosen, shard, base, end):
    """The shard's part of a filter, or None where no row of the shard passes."""
    if not pruning.can_pass(chosen, shard):
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
    Read: _read,
    Lengths: _whole,
    Counted: _whole,
}
