"""Dates in questions: "last May", "two weeks ago", "on 8 May 2023" as ranges of days."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

_MONTHS: Final = "january february march april may june july august september october november december".split()
_WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBER_WORDS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve".split()
)
_NUMBERS: Final = {word: number for number, word in enumerate(_NUMBER_WORDS)} | {
    "a": 1,
    "an": 1,
    "couple": 2,
    "few": 3,
}
_UNIT_DAYS: Final = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}
_MAX_QUERY_CHARACTERS: Final = 2000

# Parts of the patterns below. A month may be written with its first three letters.
_MONTH_NAMES: Final = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_MONTH: Final = f"(?P<month>{_MONTH_NAMES})"
_COUNT: Final = f"(?P<count>\\d{{1,3}}|{'|'.join(_NUMBERS)})(?: of)?"
_UNIT: Final = "(?P<unit>day|week|month|year)s?"


@dataclass(frozen=True, slots=True)
class DateRange:
    """Days from `first` to `last`, both included, and the words of the question for them."""

    first: date
    last: date
    words: str

    def contains(self, moment: float) -> bool:
        """Return whether a time, in seconds since 1970, is on one of the days."""
        day = _local_date(moment)
        return day is not None and self.first <= day <= self.last


def find_date_ranges(query: str, now: float) -> list[DateRange]:
    """Return the dates that a question names, relative to `now`, in order; impossible dates are left out."""
    today = datetime.fromtimestamp(now).date()
    ranges: list[DateRange] = []
    matched: list[tuple[int, int]] = []
    query = query[:_MAX_QUERY_CHARACTERS]
    for pattern, resolve in _PATTERNS:
        for match in pattern.finditer(query):
            if _overlaps(match.span(), matched):
                continue
            try:
                first, last = resolve(match, today)
            except (ValueError, OverflowError):
                continue
            matched.append(match.span())
            date_range = DateRange(first, last, match[0])
            text_before = query[: match.start()]
            ranges.append(_apply_offset(date_range, text_before))
    return sorted(ranges, key=lambda date_range: date_range.first)


def _overlaps(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    start, end = span
    return any(start < other_end and other_start < end for other_start, other_end in others)


def date_words(moment: float) -> str:
    """Return a time as words that a question may share with it: `8 May 2023 Monday`."""
    day = _local_date(moment)
    if day is None:
        return ""
    month = _MONTHS[day.month - 1].title()
    weekday = _WEEKDAYS[day.weekday()].title()
    return f"{day.day} {month} {day.year} {weekday}"


Days = tuple[date, date]
Resolver = Callable[[re.Match[str], date], Days]
"""Returns the first and the last day that a match means, as seen from today."""


def _local_date(moment: float) -> date | None:
    """Return the local date of a time, or None if it has none."""
    try:
        return datetime.fromtimestamp(moment).date()
    except (OverflowError, OSError, ValueError):
        return None


def _apply_offset(date_range: DateRange, text_before: str) -> DateRange:
    """Return the range, moved and widened if "two weeks after" or the like comes before it."""
    offset = _OFFSET.search(text_before)
    if offset is None:
        return date_range
    days = _duration(offset)
    margin = timedelta(days=max(1, days.days // 7))
    if offset["way"].lower() == "before":
        days = -days
    return DateRange(
        first=date_range.first + days - margin,
        last=date_range.last + days + margin,
        words=offset[0] + date_range.words,
    )


def _duration(match: re.Match[str]) -> timedelta:
    """Return the duration of a count and a unit, such as "two weeks"."""
    word = match["count"].lower()
    if word.isdigit():
        count = int(word)
    else:
        count = _NUMBERS[word]
    return timedelta(days=round(count * _unit_days(match)))


def _unit_days(match: re.Match[str]) -> float:
    unit = match["unit"].lower()
    return _UNIT_DAYS[unit]


def _month_number(match: re.Match[str]) -> int:
    prefixes = [name[:3] for name in _MONTHS]
    prefix = match["month"].lower()[:3]
    return prefixes.index(prefix) + 1


def _month_days(year: int, month: int) -> Days:
    next_month = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), next_month - timedelta(days=1)


def _year_days(year: int) -> Days:
    return date(year, 1, 1), date(year, 12, 31)


def _full_date(match: re.Match[str], today: date) -> Days:
    year = int(match["year"])
    month = _month_number(match)
    day = date(year, month, int(match["day"]))
    return day, day


def _iso_date(match: re.Match[str], today: date) -> Days:
    day = date.fromisoformat(match[0])
    return day, day


def _day_of_month(match: re.Match[str], today: date) -> Days:
    """Return the last such day that is not in the future."""
    month = _month_number(match)
    number = int(match["day"])
    day = date(today.year, month, number)
    if day > today:
        day = date(today.year - 1, month, number)
    return day, day


def _month_of_year(match: re.Match[str], today: date) -> Days:
    year = int(match["year"])
    return _month_days(year, _month_number(match))


def _named_month(match: re.Match[str], today: date) -> Days:
    """Return the last such month that has begun; "last" excludes the current one."""
    month = _month_number(match)
    year = today.year
    is_excluded = month == today.month and match["which"].lower() == "last"
    if month > today.month or is_excluded:
        year -= 1
    return _month_days(year, month)


def _year(match: re.Match[str], today: date) -> Days:
    return _year_days(int(match["year"]))


def _ago(match: re.Match[str], today: date) -> Days:
    """Return the day and half a unit around it; a number of days is exact."""
    middle = today - _duration(match)
    half_unit = round(_unit_days(match) / 2)
    margin = timedelta(days=half_unit)
    return middle - margin, min(today, middle + margin)


def _within(match: re.Match[str], today: date) -> Days:
    return today - _duration(match), today


def _named_day(match: re.Match[str], today: date) -> Days:
    if match["day"].lower() in ("yesterday", "last night"):
        today -= timedelta(days=1)
    return today, today


def _weekday(match: re.Match[str], today: date) -> Days:
    weekday = _WEEKDAYS.index(match["weekday"].lower())
    days_ago = (today.weekday() - weekday) % 7 or 7
    day = today - timedelta(days=days_ago)
    return day, day


def _period(match: re.Match[str], today: date) -> Days:
    """Return this week, month or year, or the one before."""
    unit = match["unit"].lower()
    periods_ago = int(match["which"].lower() in ("last", "previous"))
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * periods_ago)
        return monday, monday + timedelta(days=6)
    if unit == "month":
        months = today.year * 12 + today.month - 1 - periods_ago
        return _month_days(months // 12, months % 12 + 1)
    return _year_days(today.year - periods_ago)


def _pattern(text: str, resolve: Resolver) -> tuple[re.Pattern[str], Resolver]:
    return re.compile(rf"\b(?:{text})\b", re.I), resolve


_DAY_NUMBER: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_OFFSET: Final = re.compile(rf"\b{_COUNT} {_UNIT} (?P<way>before|after) (?:the )?$", re.I)
# The most exact come first: a later pattern cannot match words that an earlier one matched.
_PATTERNS: Final = (
    _pattern(r"(?:19|20)\d\d-\d\d-\d\d", _iso_date),
    _pattern(rf"{_DAY_NUMBER} (?:of )?{_MONTH},? {_YEAR}", _full_date),
    _pattern(rf"{_MONTH} {_DAY_NUMBER},? {_YEAR}", _full_date),
    _pattern(rf"{_MONTH},? {_YEAR}", _month_of_year),
    _pattern(rf"{_DAY_NUMBER} (?:of )?{_MONTH}", _day_of_month),
    _pattern(rf"{_MONTH} {_DAY_NUMBER}", _day_of_month),
    _pattern(rf"(?P<which>last|this|in) {_MONTH}", _named_month),
    _pattern(rf"(?:in|during|since|of) {_YEAR}", _year),
    _pattern(rf"{_COUNT} {_UNIT} ago", _ago),
    _pattern(rf"(?:in |over |during )?(?:the )?(?:last|past) {_COUNT} {_UNIT}", _within),
    _pattern(r"(?P<day>today|yesterday|tonight|last night|this morning)", _named_day),
    _pattern(rf"(?:last|on|this past) (?P<weekday>{'|'.join(_WEEKDAYS)})", _weekday),
    _pattern(r"(?P<which>last|previous|this) (?P<unit>week|month|year)", _period),
)
