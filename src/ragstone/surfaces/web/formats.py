"""Numbers, sizes and times as pages show them."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final

from ragstone.text.counts import plural

_UNITS: Final = ("bytes", "KB", "MB", "GB", "TB")
_STEPS: Final = ((60, "second"), (60, "minute"), (24, "hour"), (30, "day"), (12, "month"))


def format_number(value: float) -> str:
    """Return a number with separators: `12,345`."""
    return f"{value:,.0f}"


def format_size(count: float) -> str:
    """Return a number of bytes with its unit: `1.2 MB`."""
    value = float(count)
    unit = 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value /= 1000
        unit += 1
    digits = 1 if unit and value < 100 else 0
    return f"{value:,.{digits}f} {_UNITS[unit]}"


def format_percent(share: float) -> str:
    """Return a share as a percentage; only a complete one is `100 %`."""
    percent = int(share * 1000) / 10
    return f"{percent:.0f} %" if percent in (0, 100) else f"{percent:.1f} %"


def format_milliseconds(value: float) -> str:
    """Return a duration: `12 ms` or `1.4 s`."""
    return f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s"


def format_duration(seconds: float) -> str:
    """Return a duration in its largest unit: `3 minutes`; `less than a second`."""
    if seconds < 1:
        return "less than a second"
    value = seconds
    for size, unit in _STEPS:
        if value < size:
            return plural(round(value), unit)
        value /= size
    return plural(round(value), "year")


def format_ago(moment: float | None) -> str:
    """Return how long ago a moment was: `3 minutes ago`; `never` if there is none."""
    if moment is None:
        return "never"
    value = max(0.0, time.time() - moment)
    if value < 5:
        return "just now"
    for size, unit in _STEPS:
        if value < size:
            return f"{plural(int(value), unit)} ago"
        value /= size
    return f"{plural(int(value), 'year')} ago"


def format_moment(moment: float | None) -> str:
    """Return a moment as date and time in UTC, for the attribute `datetime` and for titles."""
    if moment is None:
        return ""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def format_sentence(text: str) -> str:
    """Return a message as a sentence: errors begin with a small letter, because other texts quote them."""
    if not text:
        return ""
    ended = text if text.endswith((".", "!", "?")) else f"{text}."
    first_word = ended.split(maxsplit=1)[0].rstrip(".,:;!?") if ended.strip() else ""
    if set("._/") & set(first_word):
        return ended  # the name of a setting or a path is not changed
    return ended[0].upper() + ended[1:]


def format_rank(rank: int) -> str:
    """Return a rank in words: 1st, 2nd, 3rd, 11th."""
    endings = {1: "st", 2: "nd", 3: "rd"}
    is_teen = 11 <= rank % 100 <= 13
    return f"{rank}{'th' if is_teen else endings.get(rank % 10, 'th')}"
