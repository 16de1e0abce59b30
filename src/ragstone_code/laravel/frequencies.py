"""Times of scheduled tasks in words: `dailyAt('02:00')` is `daily at 02:00`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_DAYS: Final = (
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)
_AT_MINUTE: Final = frozenset(
    "hourlyAt everyOddHour everyTwoHours everyThreeHours everyFourHours everySixHours".split()
)
"""Calls whose argument is a minute of the hour."""
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def frequency_text(name: str, arguments: Sequence[str]) -> str:
    """Return one call that sets a time, in words; a call without a rule is its name and its arguments."""
    words = _HUMP.sub(" ", name).lower()
    if not arguments:
        return words
    first, *rest = arguments
    if name in _AT_MINUTE:
        return f"{words.removesuffix(' at')} at minute {first}"
    if name == "cron":
        return f"cron {first}"
    if name in ("twiceDaily", "twiceDailyAt"):
        return _twice_daily(arguments)
    if name in ("weeklyOn", "days"):
        return _on_days(words, first, rest)
    if name in ("monthlyOn", "quarterlyOn", "lastDayOfMonth"):
        return _on_day_of_month(words, arguments)
    return f"{words} {', '.join(arguments)}"


def _twice_daily(arguments: Sequence[str]) -> str:
    """Return the two times of a day; the third argument is the minute."""
    minute = arguments[2] if len(arguments) > 2 else "0"
    times = [_clock(hour, minute) for hour in arguments[:2]]
    return f"twice daily at {' and '.join(times)}"


def _clock(hour: str, minute: str) -> str:
    """Return an hour and a minute as a time of day, if both are numbers."""
    if hour.isdigit() and minute.isdigit():
        return f"{int(hour)}:{int(minute):02d}"
    return hour


def _on_days(words: str, days: str, times: Sequence[str]) -> str:
    """Return the days of a week by name, and the time."""
    names = [_day_name(day.strip()) for day in days.split(",")]
    time = f" at {times[0]}" if times else ""
    often = words.removesuffix(" on").removesuffix("days")
    return f"{often} on {', '.join(names)}{time}".strip()


def _day_name(day: str) -> str:
    """Return the name of a day; Laravel counts from Sunday, which is 0 or 7."""
    return _DAYS[int(day)] if day.isdigit() and int(day) < len(_DAYS) else day


def _on_day_of_month(words: str, arguments: Sequence[str]) -> str:
    """Return the day of a month or quarter, and the time."""
    if ":" in arguments[0]:
        return f"{words} at {arguments[0]}"
    time = f" at {arguments[1]}" if len(arguments) > 1 else ""
    return f"{words.removesuffix(' on')} on day {arguments[0]}{time}"
