"""Moments and durations as callers give them, and as rows store them.

A row has moments as texts of one length, in UTC, so that their order as texts is their order in time:
`2026-03-01T09:30:00.000000Z`. A date alone is a whole day in UTC. A time without a zone is refused,
because it means another moment on another machine.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

Moment: TypeAlias = str | date | datetime
"""An ISO text, a date, or a datetime with a time zone."""

Duration: TypeAlias = str | timedelta
"""A timedelta, or a number with s, m, h, d or w, such as "30d"."""

DAY, MICROSECOND = timedelta(days=1), timedelta(microseconds=1)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"([0-9]{1,9})([smhdw])")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def moment(value: Moment, name: str, *, is_end: bool = False) -> datetime:
    """Return a moment with its zone; a date is the begin of its day in UTC, or its last microsecond.

    Raises:
        ValueError: The text is no ISO date or time, or a time has no zone.
        TypeError: The value is of another type.
    """
    found = _read(value, name) if isinstance(value, str) else value
    if not isinstance(found, date):  # pyright: ignore[reportUnnecessaryIsInstance]  # a caller's value
        raise TypeError(f"{name} is a date, a datetime or an ISO text, not {type(value).__name__}")
    if not isinstance(found, datetime):
        return datetime.combine(found, time.max if is_end else time.min, UTC)
    if found.utcoffset() is None:
        raise ValueError(
            f"{name} is {value!s:.40}, a time without a zone: add Z or an offset such as +02:00, or "
            "give a date alone, which is a day in UTC"
        )
    return found


def _read(value: str, name: str) -> date:
    text = value.strip()
    try:
        return date.fromisoformat(text) if len(text) <= len("2026-01-31") else _time(text)
    except ValueError:
        raise ValueError(
            f"{name} is {value!r:.40}: give an ISO date or time, such as 2026-01-31 or "
            "2026-01-31T09:30:00Z"
        ) from None


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def stamp(value: datetime) -> str:
    """Return a moment as rows store it."""
    try:
        there = value.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError(f"{value} is not between the years 1 and 9999 in UTC") from None
    return there.isoformat(timespec="microseconds") + "Z"


def unstamped(text: str) -> datetime:
    """Return the moment of a stamp."""
    return datetime.fromisoformat(text)


def duration(value: Duration, name: str) -> timedelta:
    """Return a duration; ValueError for a text of another form, or a negative one."""
    if isinstance(value, timedelta):
        if value < timedelta():
            raise ValueError(f"{name} is a duration from 0, not {value}")
        return value
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]  # a caller's value
    if found is None:
        raise ValueError(
            f'{name} is a timedelta, or a text such as "30d" (s, m, h, d, w), not {value!r:.40}'
        )
    try:
        return timedelta(**{_UNITS[found[2]]: int(found[1])})
    except OverflowError:
        raise ValueError(
            f"{name} is {value!r:.40}, longer than {timedelta.max.days:,} days"
        ) from None


def day_words(value: datetime) -> str:
    """Return the day of a moment in words, in the zone of the moment: "Monday 8 May 2023"."""
    month = MONTHS[value.month - 1]
    return f"{_DAYS[value.weekday()]} {value.day} {month} {value.year}"
