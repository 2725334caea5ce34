"""The days that a question names: "in May 2023", "on 8 March", "last week", "three days ago".

The grammar is small and English. A day or month without a year is the newest one that is not after
the moment of the question. Forms with two readings, such as 03/04/2025, are ignored.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragfile.memories.moments import DAY, MONTHS

if TYPE_CHECKING:
    from collections.abc import Callable

_WHOLE_NAMES = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
_SHORT_NAMES = {name[:3]: number for name, number in _WHOLE_NAMES.items()}
_NAMES = {**_WHOLE_NAMES, **_SHORT_NAMES, "sept": 9}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_COUNTS = {"a": 1, **{word: number for number, word in enumerate(_NUMBERS, 1)}}
_MONTH = "|".join(sorted((name.capitalize() for name in _NAMES), key=len, reverse=True))
_DAY = r"(?P<day>[12]?\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_SOME = r"(?P<n>\d{1,3}|" + "|".join(_COUNTS) + ")"
_UNIT = r"(?P<unit>day|week|month|year)"
_BEFORE_DATES = "in|of|during|since|until|before|after"
_FIRST = date(1900, 1, 1)


class DayRange(NamedTuple):
    """Days from the first to the last, both included."""

    first: date
    last: date

    @property
    def start(self) -> datetime:
        """The first moment, in UTC."""
        return datetime(*self.first.timetuple()[:3], tzinfo=UTC)

    @property
    def end(self) -> datetime:
        """The first moment after the last day, in UTC."""
        return datetime(*self.last.timetuple()[:3], tzinfo=UTC) + DAY


def days_in(question: str, now: datetime) -> DayRange | None:
    """Return the days that a question names, seen from the moment `now`; None if it names none."""
    if _HINT.search(question) is None:
        return None
    today = now.date()
    for pattern, read in _RULES:
        for found in pattern.finditer(question):
            if (days := _read(read, found, today)) is not None:
                return _bounded(_word_before(question, found), days, today)
    return None


def _read(
    read: Callable[[re.Match[str], date], DayRange], found: re.Match[str], today: date
) -> DayRange | None:
    """Return the days of a match, None for a day that no calendar has."""
    try:
        return read(found, today)
    except (ValueError, OverflowError):
        return None


def _word_before(question: str, found: re.Match[str]) -> str:
    """Return the word before a date, in lower case; it may be a part of the match."""
    words = (found.groupdict().get("word") or question[: found.start()]).lower().split()
    return words[-1] if words else ""


def _bounded(word: str, days: DayRange, today: date) -> DayRange:
    """Open the range at one side after "since", "after", "before" and "until"."""
    if word == "since":
        return DayRange(days.first, max(today, days.last))
    if word == "after":
        return DayRange(days.last, max(today, days.last))
    if word == "before":
        return DayRange(_FIRST, days.first - DAY)
    return DayRange(_FIRST, days.last) if word == "until" else days


def _month_of(found: re.Match[str]) -> int:
    return _NAMES[found["month"].lower()]


def _whole_month(year: int, month: int) -> DayRange:
    return DayRange(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def _iso(found: re.Match[str], today: date) -> DayRange:
    year, month = int(found["year"]), int(found["m"])
    if not found["d"]:
        return _whole_month(year, month)
    return _one(date(year, month, int(found["d"])))


def _one(day: date) -> DayRange:
    return DayRange(day, day)


def _date(found: re.Match[str], today: date) -> DayRange:
    month, day = _month_of(found), int(found["day"])
    if found["year"]:
        return _one(date(int(found["year"]), month, day))
    return _one(_newest(lambda year: date(year, month, day), today))


def _newest(of_year: Callable[[int], date], today: date) -> date:
    """Return the newest day of a rule that is not after today; a leap day may be years ago."""
    for year in range(today.year, today.year - 9, -1):
        try:
            day = of_year(year)
        except ValueError:
            continue
        if day <= today:
            return day
    raise ValueError("no such day")


def _month(found: re.Match[str], today: date) -> DayRange:
    month = _month_of(found)
    if found["year"]:
        return _whole_month(int(found["year"]), month)
    return _whole_month(_newest(lambda year: date(year, month, 1), today).year, month)


def _year(found: re.Match[str], today: date) -> DayRange:
    year = int(found["year"])
    return DayRange(date(year, 1, 1), date(year, 12, 31))


def _near_day(found: re.Match[str], today: date) -> DayRange:
    word = found["near"].lower()
    return _one(today if word in ("today", "tonight") else today - DAY)


def _ago(found: re.Match[str], today: date) -> DayRange:
    return _period(found["unit"].lower(), today, _count(found))


def _last(found: re.Match[str], today: date) -> DayRange:
    return _period(found["unit"].lower(), today, 0 if found["which"].lower() == "this" else 1)


def _count(found: re.Match[str]) -> int:
    word = found["n"].lower()
    return int(word) if word.isdigit() else _COUNTS[word]


def _period(unit: str, today: date, back: int) -> DayRange:
    """Return the day, the week from Monday, the month or the year that is some of them back."""
    if unit == "day":
        return _one(today - back * DAY)
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return DayRange(monday, monday + 6 * DAY)
    if unit == "month":
        months = today.year * 12 + today.month - 1 - back
        return _whole_month(months // 12, months % 12 + 1)
    year = today.year - back
    return DayRange(date(year, 1, 1), date(year, 12, 31))


def _past(found: re.Match[str], today: date) -> DayRange:
    days = {"day": 1, "week": 7, "month": 31, "year": 366}[found["unit"].lower()]
    return DayRange(today - timedelta(days=days * _count(found)), today)


def _weekday(found: re.Match[str], today: date) -> DayRange:
    """Return the newest such weekday before today."""
    back = (today.weekday() - _WEEKDAYS.index(found["weekday"].lower()) - 1) % 7 + 1
    return _one(today - back * DAY)


def _rule(
    pattern: str, read: Callable[[re.Match[str], date], DayRange], flags: int = re.IGNORECASE
) -> tuple[re.Pattern[str], Callable[[re.Match[str], date], DayRange]]:
    return re.compile(rf"(?<![\w/-]){pattern}(?![\w/-])", flags), read


# A word without which no rule can match: looking for it costs a tenth of trying all rules.
_HINT = re.compile(rf"\d\d|{_MONTH}|{_UNIT}|day|today|tonight|last night", re.IGNORECASE)
_NAMED = rf"(?P<month>{_MONTH})"
_RULES = [
    _rule(r"(?P<year>(?:19|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?", _iso),
    _rule(rf"{_DAY}(?: of)? {_NAMED}(?:,? {_YEAR})?", _date),
    _rule(rf"{_NAMED} {_DAY},? {_YEAR}", _date),
    _rule(rf"{_NAMED} {_DAY}(?P<year>)", _date, 0),
    _rule(rf"{_NAMED}(?: of)?,? {_YEAR}", _month),
    _rule(rf"(?P<word>(?i:{_BEFORE_DATES}|last|this|by|for)) {_NAMED}(?P<year>)", _month, 0),
    _rule(rf"{_SOME} {_UNIT}s? ago", _ago),
    _rule(rf"(?:the |my )?(?:last|past) {_SOME} {_UNIT}s?", _past),
    _rule(rf"(?P<which>last|this) {_UNIT}", _last),
    _rule(r"(?P<near>today|tonight|yesterday|last night)", _near_day),
    _rule(rf"(?:on |last ){{1,2}}(?P<weekday>{'|'.join(_WEEKDAYS)})", _weekday),
    _rule(rf"(?P<word>{_BEFORE_DATES}) {_YEAR}", _year),
]
