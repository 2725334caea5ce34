"""Sets of byte ranges [start, end), and the requests that fetch the missing ones."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

Interval: TypeAlias = tuple[int, int]
"""(start, end), without the end."""


class ByteRanges:
    """A set of bytes as intervals in ascending order that do not touch."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def __iter__(self) -> Iterator[Interval]:
        return zip(self._starts, self._ends, strict=True)

    def add(self, start: int, end: int) -> None:
        """Add [start, end) and merge it with the intervals that it touches."""
        if start >= end:
            return
        first, last = bisect.bisect_left(self._ends, start), bisect.bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last], self._ends[first:last] = [start], [end]

    def missing(self, start: int, end: int) -> list[Interval]:
        """Return the parts of [start, end) that are not in the set."""
        found: list[Interval] = []
        at = bisect.bisect_right(self._ends, start)
        while start < end:
            if at == len(self._starts) or self._starts[at] >= end:
                found.append((start, end))
                break
            if start < self._starts[at]:
                found.append((start, self._starts[at]))
            start, at = self._ends[at], at + 1
        return found

    def before(self, at: int) -> int:
        """Return the length of the interval that ends at `at`, 0 if none does."""
        i = bisect.bisect_left(self._ends, at)
        return at - self._starts[i] if i < len(self._ends) and self._ends[i] == at else 0


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the union of intervals in any order as few that do not touch."""
    union = ByteRanges()
    for start, end in intervals:
        union.add(start, end)
    return list(union)


def without(intervals: Iterable[Interval], others: Iterable[Interval]) -> list[Interval]:
    """Return the parts of intervals that are in none of the others."""
    holes = ByteRanges()
    for start, end in others:
        holes.add(start, end)
    return [part for start, end in intervals for part in holes.missing(start, end)]


def joined(intervals: Sequence[Interval], few: int, short: int, most: int) -> list[Interval]:
    """Return the requests that fetch intervals in ascending order, with some gaps between them.

    Gaps of up to `short` bytes are always fetched too. Longer gaps are fetched, smallest first,
    while there are more than `few` requests and the gaps add up to at most `most` bytes, or to as
    many as the intervals themselves.
    """
    gaps = sorted((b[0] - a[1], b[0]) for a, b in itertools.pairwise(intervals))
    allowed = max(most, sum(end - start for start, end in intervals))
    left, filled = len(intervals), set[int]()
    for size, at in gaps:
        if size > short and (left <= few or size > allowed):
            break
        allowed -= size if size > short else 0
        left -= 1
        filled.add(at)
    return _filled(intervals, filled)


def _filled(intervals: Iterable[Interval], starts: set[int]) -> list[Interval]:
    """Join each interval that begins at one of `starts` with the one before it."""
    requests: list[Interval] = []
    for start, end in intervals:
        if start in starts:
            requests[-1] = (requests[-1][0], end)
        else:
            requests.append((start, end))
    return requests
