"""Sets of stretches [start, end): which bytes of a file are here, and which requests to make for
those that are not.
"""

import bisect
import itertools


class ByteRanges:
    """Stretches that do not touch, in order."""

    def __init__(self):
        self._starts, self._ends = [], []

    def __iter__(self):
        return zip(self._starts, self._ends, strict=True)

    def add(self, start, end):
        if start >= end:
            return
        first, last = bisect.bisect_left(self._ends, start), bisect.bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last], self._ends[first:last] = [start], [end]

    def missing(self, start, end):
        """The parts of [start, end) that are not in the set."""
        found, at = [], bisect.bisect_right(self._ends, start)
        while start < end:
            if at == len(self._starts) or self._starts[at] >= end:
                found.append((start, end))
                break
            if start < self._starts[at]:
                found.append((start, self._starts[at]))
            start, at = self._ends[at], at + 1
        return found

    def before(self, at):
        """How long the stretch is that ends at `at`; 0 where none does."""
        i = bisect.bisect_left(self._ends, at)
        return at - self._starts[i] if i < len(self._ends) and self._ends[i] == at else 0


def merged(stretches):
    """Stretches in any order, some over others, as few that do not touch."""
    union = ByteRanges()
    for start, end in stretches:
        union.add(start, end)
    return list(union)


def without(stretches, others):
    """The parts of stretches that are in none of others."""
    holes = ByteRanges()
    for start, end in others:
        holes.add(start, end)
    return [part for start, end in stretches for part in holes.missing(start, end)]


def joined(stretches, few, short, most):
    """Stretches (in order) as the requests to make for them: gaps are read over, the smallest
    first.

    Gaps of up to `short` always; of what is left, while there would be more than `few` requests, as
    many as `most` bytes, or the bytes that are wanted if those are more, pay for.
    """
    gaps = sorted((b[0] - a[1], b[0]) for a, b in itertools.pairwise(stretches))
    left, allowed, over = (
        len(stretches),
        max(most, sum(end - start for start, end in stretches)),
        set(),
    )
    for size, at in gaps:
        if size > short and (left <= few or size > allowed):
            break
        allowed -= size if size > short else 0
        left -= 1
        over.add(at)
    requests = []
    for start, end in stretches:
        if start in over:
            requests[-1] = (requests[-1][0], end)
        else:
            requests.append((start, end))
    return requests
