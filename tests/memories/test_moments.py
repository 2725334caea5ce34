"""Moments: dates are whole days in UTC, times need a zone, and stamps have the order of time."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragfile.memories.moments import day_words, duration, moment, stamp, unstamped

MOMENTS = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))]))


def test_a_date_begins_with_its_day_and_ends_with_it():
    assert stamp(moment("2026-03-01", "at")) == "2026-03-01T00:00:00.000000Z"
    assert stamp(moment(date(2026, 3, 1), "at", is_end=True)) == "2026-03-01T23:59:59.999999Z"


def test_a_time_keeps_its_moment_in_any_zone():
    assert stamp(moment("2026-03-01T01:30:00+02:00", "at")) == "2026-02-28T23:30:00.000000Z"


@pytest.mark.parametrize("value", ["2026-03-01T09:30:00", datetime(2026, 3, 1, 9, 30)])
def test_a_time_without_a_zone_is_refused_with_what_to_do(value):
    with pytest.raises(ValueError, match=r"as_of is .* without a zone: add Z"):
        moment(value, "as_of")


@pytest.mark.parametrize("value", ["yesterday", "2026-13-01", "01/02/2026", ""])
def test_another_text_is_refused_with_an_example(value):
    with pytest.raises(ValueError, match="give an ISO date or time, such as 2026-01-31"):
        moment(value, "at")


def test_a_number_is_refused():
    with pytest.raises(TypeError, match="at is a date, a datetime or an ISO text, not int"):
        moment(1700000000, "at")


@given(MOMENTS, MOMENTS)
def test_stamps_have_the_order_of_time(one, other):
    assert (stamp(one) < stamp(other)) == (one < other)
    assert unstamped(stamp(one)) == one


def test_durations_are_numbers_with_a_unit():
    assert duration("30d", "ttl") == timedelta(days=30)
    assert duration("2w", "ttl") == timedelta(days=14)
    assert duration(timedelta(hours=1), "ttl") == timedelta(hours=1)


@pytest.mark.parametrize("value", ["30", "d", "-1d", "1.5h", timedelta(days=-1), 30])
def test_other_durations_are_refused(value):
    with pytest.raises(ValueError, match="ttl is a"):
        duration(value, "ttl")


def test_a_day_in_words_is_that_of_the_zone():
    assert day_words(moment("2023-05-08T23:30:00-07:00", "at")) == "Monday 8 May 2023"


def test_the_last_day_has_an_end():
    assert stamp(moment("9999-12-31", "at", is_end=True)) == "9999-12-31T23:59:59.999999Z"


@pytest.mark.parametrize("text", ["999999999w", "٣d"])
def test_a_duration_that_is_too_long_or_in_other_digits_is_refused(text):
    with pytest.raises(ValueError, match=r"^ttl is "):
        duration(text, "ttl")
