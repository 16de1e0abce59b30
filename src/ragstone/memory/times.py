"""When a question asks about: "last May", "two weeks ago", "on 8 May 2023" as spans of days."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

MONTHS: Final = (
    "january february march april may june july august september october november december".split()
)  # fmt: skip
DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
} | {"a": 1, "an": 1, "couple": 2, "few": 3}
_MONTH: Final = (
    "(?P<month>"
    + "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in MONTHS)
    + ")"
)
_COUNT: Final = "(?P<count>\\d{1,3}|" + "|".join(_NUMBERS) + ")(?: of)?"
_UNIT: Final = "(?P<unit>day|week|month|year)s?"
_LONGEST_QUERY: Final = 2000
_MONTH_DAYS, _YEAR_DAYS = 30.44, 365.25


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `first` to `last`, both included, and the words that said so."""

    first: date
    last: date
    words: str

    def holds(self, moment: float) -> bool:
        """Return whether a time, in seconds since 1970, falls on one of the days."""
        try:
            day = datetime.fromtimestamp(moment).date()
        except (OverflowError, OSError, ValueError):
            return False
        return self.first <= day <= self.last


def spans(query: str, now: float) -> list[Span]:
    """Return the times that a question names, seen from `now`; what cannot be a date is none."""
    today = datetime.fromtimestamp(now).date()
    found: list[Span] = []
    taken: list[tuple[int, int]] = []
    for pattern, meaning in _PATTERNS:
        for match in pattern.finditer(query[:_LONGEST_QUERY]):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            try:
                first, last = meaning(match, today)
            except (ValueError, OverflowError):
                continue
            taken.append(match.span())
            found.append(Span(first, last, match[0]))
    return sorted(_moved(found, taken, query), key=lambda span: span.first)


def words_of(moment: float) -> str:
    """Return a time as words that a question may share with it: `8 May 2023 Monday`."""
    try:
        day = datetime.fromtimestamp(moment)
    except (OverflowError, OSError, ValueError):
        return ""
    return f"{day.day} {MONTHS[day.month - 1].title()} {day.year} {DAYS[day.weekday()].title()}"


Days = tuple[date, date]
Meaning = Callable[[re.Match[str], date], Days]


def _moved(found: list[Span], taken: list[tuple[int, int]], query: str) -> Iterator[Span]:
    """Yield the spans, those behind "two weeks after" moved by two weeks."""
    for span, (start, _) in zip(found, taken, strict=True):
        before = _OFFSET.search(query[:start])
        if before is None:
            yield span
            continue
        days = timedelta(days=round(_number(before["count"]) * _length(before["unit"])))
        shift = -days if before["way"].lower() == "before" else days
        around = timedelta(days=max(1, days.days // 7))
        yield Span(span.first + shift - around, span.last + shift + around, before[0] + span.words)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]


def _length(unit: str) -> float:
    return {"day": 1, "week": 7, "month": _MONTH_DAYS, "year": _YEAR_DAYS}[unit.lower()]


def _month_number(word: str) -> int:
    return next(
        number for number, name in enumerate(MONTHS, 1) if name.startswith(word.lower()[:3])
    )


def _whole_month(year: int, month: int) -> Days:
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), following - timedelta(days=1)


def _full_date(match: re.Match[str], today: date) -> Days:
    day = date(int(match["year"]), _month_number(match["month"]), int(match["day"]))
    return day, day


def _iso(match: re.Match[str], today: date) -> Days:
    day = date(int(match["year"]), int(match["m"]), int(match["d"]))
    return day, day


def _day_of_month(match: re.Match[str], today: date) -> Days:
    month = _month_number(match["month"])
    day = date(today.year, month, int(match["day"]))
    if day > today:
        day = date(today.year - 1, month, int(match["day"]))
    return day, day


def _month_of_year(match: re.Match[str], today: date) -> Days:
    return _whole_month(int(match["year"]), _month_number(match["month"]))


def _this_month_name(match: re.Match[str], today: date) -> Days:
    month = _month_number(match["month"])
    last = (match["which"] or "").lower() == "last"
    year = (
        today.year if month < today.month or (month == today.month and not last) else today.year - 1
    )
    return _whole_month(year, month)


def _year(match: re.Match[str], today: date) -> Days:
    return date(int(match["year"]), 1, 1), date(int(match["year"]), 12, 31)


def _ago(match: re.Match[str], today: date) -> Days:
    days = _number(match["count"]) * _length(match["unit"])
    about = max(0, round(_length(match["unit"]) / 2)) if match["unit"].lower() != "day" else 0
    middle = today - timedelta(days=round(days))
    return middle - timedelta(days=about), min(today, middle + timedelta(days=about))


def _within(match: re.Match[str], today: date) -> Days:
    return today - timedelta(days=round(_number(match["count"]) * _length(match["unit"]))), today


def _named_day(match: re.Match[str], today: date) -> Days:
    day = today - timedelta(days=1 if match["day"].lower() in ("yesterday", "last night") else 0)
    return day, day


def _weekday(match: re.Match[str], today: date) -> Days:
    back = (today.weekday() - DAYS.index(match["weekday"].lower())) % 7 or 7
    day = today - timedelta(days=back)
    return day, day


def _period(match: re.Match[str], today: date) -> Days:
    last, unit = match["which"].lower() in ("last", "previous"), match["unit"].lower()
    if unit == "week":
        first = today - timedelta(days=today.weekday() + 7 * last)
        return first, first + timedelta(days=6)
    if unit == "month":
        month = (today.year * 12 + today.month - 1) - last
        return _whole_month(month // 12, month % 12 + 1)
    return date(today.year - last, 1, 1), date(today.year - last, 12, 31)


def _pattern(text: str, meaning: Meaning) -> tuple[re.Pattern[str], Meaning]:
    return re.compile(rf"\b(?:{text})\b", re.I), meaning


_DAY_NUMBER: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_OFFSET: Final = re.compile(rf"\b{_COUNT} {_UNIT} (?P<way>before|after) (?:the )?$", re.I)
# From the most exact to the vaguest: what one of them has taken, the next ones do not see.
_PATTERNS: Final = (
    _pattern(rf"{_YEAR}-(?P<m>\d\d)-(?P<d>\d\d)", _iso),
    _pattern(rf"{_DAY_NUMBER} (?:of )?{_MONTH},? {_YEAR}", _full_date),
    _pattern(rf"{_MONTH} {_DAY_NUMBER},? {_YEAR}", _full_date),
    _pattern(rf"{_MONTH},? {_YEAR}", _month_of_year),
    _pattern(rf"{_DAY_NUMBER} (?:of )?{_MONTH}", _day_of_month),
    _pattern(rf"{_MONTH} {_DAY_NUMBER}", _day_of_month),
    _pattern(rf"(?P<which>last|this|in) {_MONTH}", _this_month_name),
    _pattern(rf"(?:in|during|since|of) {_YEAR}", _year),
    _pattern(rf"{_COUNT} {_UNIT} ago", _ago),
    _pattern(rf"(?:in |over |during )?(?:the )?(?:last|past) {_COUNT} {_UNIT}", _within),
    _pattern(r"(?P<day>today|yesterday|tonight|last night|this morning)", _named_day),
    _pattern(rf"(?:last|on|this past) (?P<weekday>{'|'.join(DAYS)})", _weekday),
    _pattern(r"(?P<which>last|previous|this) (?P<unit>week|month|year)", _period),
)
