"""Boosts, dates, repeats and fused lists of the core against plain definitions."""

import datetime
from decimal import Decimal, localcontext

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from ragfile import _core

HALVINGS = st.floats(0, 1200) | st.floats(0, 2) | st.integers(0, 1074).map(float)


@given(HALVINGS, st.floats(-8, 8))
def test_a_gain_is_the_nearest_number_to_its_power(halvings, weight):
    with localcontext() as context:
        context.prec, context.Emin = 60, -999_999
        power = float(Decimal("0.5") ** Decimal(halvings))
    boost, value = np.array([[weight, 0.0, 1.0]]), np.array([[halvings]])
    _, scores = _core.boosts_rank(boost, value, np.zeros(1))
    if power > 2.3e-308:  # smaller numbers are rounded twice
        assert scores[0] == weight * power
    else:
        assert scores[0] == pytest.approx(weight * power, abs=1e-322)


def test_rows_without_a_value_keep_their_place_among_equals():
    boosts = np.array([[1.0, 5.0, 1.0]])
    values = np.array([[np.nan], [5.0], [np.nan], [5.0]])
    order, scores = _core.boosts_rank(boosts, values, np.array([2.0, 1.0, 2.0, 1.0]))
    assert (order.tolist(), scores.tolist()) == ([0, 1, 2, 3], [2.0] * 4)


OFFSETS = st.integers(-86_399, 86_399).map(
    lambda seconds: datetime.timezone(datetime.timedelta(seconds=seconds))
)


@given(st.datetimes(timezones=st.none() | OFFSETS), st.sampled_from("T x_\u00e9"))
def test_a_time_has_the_days_of_pythons_calendar(when, between):
    text = when.isoformat(between)
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.UTC)
    assert _core.date_days(text) == when.timestamp() / 86_400
    compact = text[:10].replace("-", "") + text[10:19].replace(":", "")
    assert _core.date_days(compact) == _core.date_days(text[:19])


@given(st.dates(max_value=datetime.date(9998, 12, 31)))
def test_a_week_date_is_its_day(day):
    year, week, weekday = day.isocalendar()
    days = (day - datetime.date(1970, 1, 1)).days
    assert _core.date_days(f"{year:04}-W{week:02}-{weekday}") == days
    assert _core.date_days(f"{year:04}W{week:02}{weekday}") == days
    assert _core.date_days(f"{year:04}-W{week:02}") == days - weekday + 1


@pytest.mark.parametrize(
    "text",
    ["", "x", "2026", "2026-01", "2026-1-31", "2026-02-29", "2026-00-10", "2026-13-01", "0000-01-01", "2026-0131",
     "202601-31", "2026-W54-1", "2026-W00-1", "2026-W10-8", "2026-W101", "2026W10-1", "2026-01-31T", "2026-01-31T24:00",
     "2026-01-31T10:60", "2026-01-31T10:3", "2026-01-31T10:30:5", "2026-01-31T10:30:05.", "2026-01-31T10:30.5",
     "2026-01-31T10:30+", "2026-01-31T10:30+24:00", "2026-01-31T10:30Zx", " 2026-01-31", "2026-01-31 ", "２０２６-01-31"],
)  # fmt: skip
def test_other_texts_are_no_dates(text):
    assert _core.date_days(text) is None


def cosine(a, b):
    if not (np.isfinite(a).all() and np.isfinite(b).all() and a.any() and b.any()):
        return 0.0
    return float(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b)))


def test_a_vector_is_new_unless_one_before_it_is_near():
    rng = np.random.default_rng(4)
    some = rng.normal(size=(12, 19))
    vectors = np.vstack([some + rng.normal(scale=0.1, size=some.shape) for _ in range(8)])
    vectors[7], vectors[30], vectors[31] = np.nan, 0.0, np.inf
    expected, kept = [], []
    for vector in vectors:
        expected.append(all(cosine(vector, other) < 0.98 for other in kept))
        if expected[-1]:
            kept.append(vector)
    seen, whole = _core.Repeats(), _core.Repeats()
    pieces = [seen.vectors(vectors[at : at + 7].copy(), 0.98, True) for at in range(0, 96, 7)]
    assert np.concatenate(pieces).tolist() == expected
    assert whole.vectors(vectors, 0.98, False).tolist() == expected
    assert whole.vectors(vectors[:1].copy(), 0.98, False).tolist() == [True]  # it kept none
    assert 0 < sum(expected) < 96
    with pytest.raises(ValueError, match="different lengths"):
        seen.vectors(np.ones((1, 4)), 0.98, True)


@given(
    st.lists(st.text(st.characters(min_codepoint=97, max_codepoint=120), min_size=1), max_size=40)
)
def test_a_mark_is_the_majority_of_the_hashes_of_word_pairs(words):
    pairs = [" ".join(words[i : i + 2]) for i in range(max(1, len(words) - 1))]
    hashes = [xxhash.xxh3_64_intdigest(pair.encode()) for pair in pairs]
    votes = [sum(one >> bit & 1 for one in hashes) for bit in range(64)]
    expected = sum(1 << bit for bit in range(64) if 2 * votes[bit] > len(pairs))
    assert _core.simhash(" ".join(words).encode()) == expected


def test_lists_that_make_no_sense_are_refused():
    rows = [np.array([3, 4, 3])]
    with pytest.raises(ValueError, match="a row twice"):
        _core.fuse_lists(rows, None, None, 60)
    with pytest.raises(ValueError, match="finite"):
        _core.fuse_lists([np.array([3])], [np.array([np.inf])], [1.0], 0)
    with pytest.raises(ValueError, match="weights"):
        _core.fuse_lists([np.array([3])], [np.array([1.0])], [], 0)
    assert [len(one) for one in _core.fuse_lists([], None, None, 60)] == [0, 0]
