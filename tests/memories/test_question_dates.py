"""The days that a question names, seen from Wednesday 15 May 2024."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragfile.memories.question_dates import days_in

NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)


def days(question):
    found = days_in(question, NOW)
    return None if found is None else (found.first.isoformat(), found.last.isoformat())


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did Ann do on 8 May 2023?", "2023-05-08", "2023-05-08"),
        ("What did Ann do on the 8th of May, 2023?", "2023-05-08", "2023-05-08"),
        ("What happened on May 8, 2023?", "2023-05-08", "2023-05-08"),
        ("What happened on may 8th 2023?", "2023-05-08", "2023-05-08"),
        ("What happened on 2023-05-08?", "2023-05-08", "2023-05-08"),
        ("What happened in 2023-02?", "2023-02-01", "2023-02-28"),
        ("Where was she in May 2023?", "2023-05-01", "2023-05-31"),
        ("Where was she in february 2024?", "2024-02-01", "2024-02-29"),
        ("Where was she in June?", "2023-06-01", "2023-06-30"),
        ("In May, where was she?", "2024-05-01", "2024-05-31"),
        ("What was on 20 June?", "2023-06-20", "2023-06-20"),
        ("What was on Feb 29?", "2024-02-29", "2024-02-29"),
        ("What did they plan in 2022?", "2022-01-01", "2022-12-31"),
        ("What did he say yesterday?", "2024-05-14", "2024-05-14"),
        ("What did he say today?", "2024-05-15", "2024-05-15"),
        ("What did he say last night?", "2024-05-14", "2024-05-14"),
        ("What did we do last week?", "2024-05-06", "2024-05-12"),
        ("What do we do this week?", "2024-05-13", "2024-05-19"),
        ("What did we do last month?", "2024-04-01", "2024-04-30"),
        ("What did we do last year?", "2023-01-01", "2023-12-31"),
        ("What did she buy three days ago?", "2024-05-12", "2024-05-12"),
        ("What did she buy 2 weeks ago?", "2024-04-29", "2024-05-05"),
        ("Whom did she meet a month ago?", "2024-04-01", "2024-04-30"),
        ("What has changed in the last 3 days?", "2024-05-12", "2024-05-15"),
        ("Who called on Monday?", "2024-05-13", "2024-05-13"),
        ("Who called last Wednesday?", "2024-05-08", "2024-05-08"),
        ("What is new since March 2024?", "2024-03-01", "2024-05-15"),
        ("What is new since March?", "2024-03-01", "2024-05-15"),
        ("What happened on 31 February 2023?", "2023-02-01", "2023-02-28"),
        ("Where did she live before 2020?", "1900-01-01", "2019-12-31"),
    ],
)
def test_days_that_are_named(question, first, last):
    assert days(question) == (first, last)


@pytest.mark.parametrize(
    "question",
    [
        "How long do pods live?",
        "What may Ann eat?",
        "Did April call March?",
        "What is on 03/04/2023?",
        "Which of the 2023 pods failed?",
        "Who lives at 12 May-Street?",
        "",
    ],
)
def test_questions_that_name_no_days(question):
    assert days(question) is None


@given(st.text(max_size=80), st.datetimes(timezones=st.just(UTC)))
def test_any_text_is_read(question, now):
    found = days_in(question, now)
    assert found is None or found.first <= found.last


@given(st.dates(date(1901, 1, 1), date(2099, 12, 30)))
def test_a_written_day_is_found_as_it_is(day):
    written = f"what was on {day.day} {day:%B} {day.year}?"
    found = days_in(written, NOW)
    assert (found.first, found.last) == (day, day)
    assert found.end - found.start == timedelta(days=1)
