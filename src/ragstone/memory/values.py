"""The values of facts: their shape, the figures in them, and words that only describe a thing."""

from __future__ import annotations

import re
from typing import Final, Literal

Shape = Literal["figure", "address", "name", "word"]

DAYS: Final = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays "
    "sundays today tomorrow "
    "montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs donnerstags freitags "
    "samstags sonntags heute morgen".split()
)
MONTHS: Final = frozenset(
    "jan january feb february march april may june july aug august sep sept september oct october nov november dec "
    "december januar februar märz mai juni juli oktober dezember".split()
)
_FILLERS: Final = frozenset("a an the very really so too quite on at in to from by".split())
_FIGURE: Final = re.compile(
    r"(?:\W*\d[\w:.,/%-]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|am|pm|o'clock)",
    re.I,
)
_DATE: Final = re.compile(r"\d+(?:st|nd|rd|th)|\d{4}-\d\d-\d\d|\d+/\d+(?:/\d+)?", re.I)
_ADDRESS: Final = re.compile(
    r"[^\s@]+@[^\s@]+|\w+://\S+|[\w-]+(?:\.[\w-]+){1,}(?:[/:]\S*)?|/\S+", re.A
)
# Qualities of a thing, which do not identify it: "slow", "closed", "amazing".
_QUALITY: Final = re.compile(
    r"(?:\w+(?:ed|ing|ful|less|able|ible|ous|y)|good|great|fine|nice|bad|awful|slow|fast|quick|dead|down|up|open|back|"
    r"ready|gone|done|broken|full|cheap|dear|new|old|big|small|hard|wrong|right|better|worse|different|here|there|off|"
    r"on|out|late|early|red|hot|cold|due|paid|split)",
    re.I,
)
_ADVERB: Final = re.compile(r"\w+ly", re.I)


def shape_of(value: str) -> Shape:
    """Return whether a value has a figure, is an address or a name, or is only a word."""
    words = [word for word in value.split() if word.lower() not in _FILLERS]
    if any(_is_figure(word) for word in words):
        return "figure"
    if any(_ADDRESS.fullmatch(word) for word in words):
        return "address"
    if words and words[0][0].isupper():
        return "name"
    return "word"


def is_quality(word: str) -> bool:
    """Return whether a word is a quality of a thing, which does not identify it: "slow", "closed"."""
    return _QUALITY.fullmatch(word) is not None


def is_identity(value: str) -> bool:
    """Return whether a value names a thing or an amount, and is not only a quality: "helix", but not "due on the 3rd"."""
    first, *_ = [*without_fillers(value), ""]
    return _is_figure(first) or _ADVERB.fullmatch(first) is not None or not is_quality(first)


def figure_kinds(value: str) -> frozenset[str]:
    """Return which kinds of figures a value has: days and dates, and other numbers such as an hour or an amount."""
    words = without_fillers(value)
    kinds = set()
    for position, word in enumerate(words):
        if not _is_figure(word):
            continue
        around = {*words[max(0, position - 1) : position + 2]}
        is_date = _is_calendar(word) or _DATE.fullmatch(word) is not None
        kinds.add("date" if is_date or not MONTHS.isdisjoint(around) else "number")
    return frozenset(kinds)


def words_without_figures(value: str) -> str:
    """Return the words around a figure: "on port 5432" and "on port 5433" share them, "5 years" does not."""
    return " ".join(word for word in value.lower().split() if not _is_figure(word))


def without_fillers(text: str) -> list[str]:
    """Return the words of a value in lower case, without fillers."""
    words = text.lower().strip(" .,;'").split()
    return [word for word in words if word not in _FILLERS]


def is_refinement(value: str, other: str) -> bool:
    """Return whether one of two values only adds words to the other: `berlin` and `berlin in germany`."""
    words = set(value.split())
    other_words = set(other.split())
    return words <= other_words or other_words <= words


def _is_figure(word: str) -> bool:
    return _FIGURE.fullmatch(word) is not None or _is_calendar(word)


def _is_calendar(word: str) -> bool:
    return word.lower() in DAYS or word.lower() in MONTHS
