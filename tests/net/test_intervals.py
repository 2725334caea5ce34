"""Sets of stretches against sets of numbers."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from ragfile.net.intervals import ByteRanges, joined, merged, without

stretch = st.tuples(st.integers(0, 60), st.integers(0, 60))
stretches = st.lists(stretch, max_size=12)


def _numbers(found):
    return {n for start, end in found for n in range(start, end)}


@given(stretches, stretch)
def test_a_set_knows_what_it_lacks(added, asked):
    spans, numbers = ByteRanges(), _numbers(added)
    for start, end in added:
        spans.add(start, end)
    kept = list(spans)
    assert _numbers(kept) == numbers
    assert all(a[1] < b[0] for a, b in itertools.pairwise(kept))
    assert _numbers(spans.missing(*asked)) == set(range(*asked)) - numbers
    for at in range(62):
        length = 0
        while at - length - 1 in numbers and at not in numbers:
            length += 1
        if at not in numbers:
            assert spans.before(at) == length


@given(stretches, stretches)
def test_unions_and_differences_are_those_of_numbers(some, others):
    assert _numbers(merged(some)) == _numbers(some)
    assert _numbers(without(some, others)) == _numbers(some) - _numbers(others)


@given(stretches, st.integers(1, 4), st.integers(0, 5), st.integers(0, 30))
def test_requests_cover_what_is_wanted_and_read_over_no_more_than_allowed(some, few, short, most):
    wanted = merged(some)
    requests = joined(wanted, few, short, most)
    assert _numbers(wanted) <= _numbers(requests)
    assert len(requests) <= len(wanted)
    gaps = [b[0] - a[1] for a, b in itertools.pairwise(wanted)]
    allowed = max(most, len(_numbers(wanted))) + sum(gap for gap in gaps if gap <= short)
    assert len(_numbers(requests) - _numbers(wanted)) <= allowed
    if len(requests) > few:
        left = sorted(b[0] - a[1] for a, b in itertools.pairwise(requests))
        over = sum(gap for gap in gaps if gap > short) - sum(left)
        assert over + left[0] > max(most, len(_numbers(wanted)))


def test_without_many_stretches_nothing_is_read_over():
    assert joined([(0, 1), (100, 101), (300, 301)], 3, 8, 1000) == [(0, 1), (100, 101), (300, 301)]
    assert joined([(0, 1), (100, 101), (300, 301), (310, 311)], 3, 8, 1000) == [
        (0, 1),
        (100, 101),
        (300, 311),
    ]
