"""How Laravel turns names into names: class to table, plural to singular, snake and camel case. Rules are data."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

_BEFORE_CAPITAL: Final = re.compile(r"(.)(?=[A-Z])")
_LAST_COUNTS: Final = re.compile(r"[A-Za-z0-9\u0080-\uffff]\Z")
_WORD_START: Final = re.compile(r"(?:^|(?<=[ \t\r\n\f\v]))[a-z]")


@dataclass(frozen=True, slots=True)
class _Rules:
    """One direction: words that stay, words of their own, endings in their order."""

    unchanged: re.Pattern[str]
    irregular: dict[str, str]
    endings: tuple[tuple[re.Pattern[str], str], ...]

    def applied(self, word: str) -> str:
        """Return the other form of a word."""
        if not word or self.unchanged.fullmatch(word):
            return word
        own = self.irregular.get(word.lower())
        if own is not None:
            return own[0].upper() + own[1:] if word[0] != word[0].lower() else own
        return next((found.sub(to, word) for found, to in self.endings if found.search(word)), word)


@cache
def _read() -> tuple[_Rules, _Rules, frozenset[str]]:
    """Return the rules for plurals, those for singulars, and what Laravel itself never counts."""
    data = json.loads(resources.files(__package__).joinpath("inflection.json").read_text(encoding="utf-8"))
    pairs = _pairs(data["irregular"])
    both = " ".join(data["unchanged"]["both"].values())
    many, one = (
        _Rules(
            re.compile("|".join(_split(f"{both} {data['unchanged'][form]}")), re.IGNORECASE | re.ASCII),
            dict(irregular),
            tuple((re.compile(ending, re.IGNORECASE), to) for ending, to in data[f"{form} endings"]),
        )
        for form, irregular in (("plural", pairs), ("singular", [(many, one) for one, many in pairs]))
    )
    return many, one, frozenset(data["uncountable"].split())


def _split(words: str) -> list[str]:
    """Return the words of a list in which an escaped space is part of a word."""
    return re.split(r"(?<!\\) ", words)


def _pairs(irregular: dict[str, str]) -> list[tuple[str, str]]:
    """Return (singular, plural); of two with one plural the later is its singular."""
    own = (pair.partition(":")[::2] for pair in irregular["of their own"].split())
    return [
        *((word, f"{word}s") for word in irregular["an s all the same"].split()),
        *((word, f"{word}es") for word in irregular["es all the same"].split()),
        *((one, many) for one, many in own),
    ]


def _ucwords(text: str) -> str:
    return _WORD_START.sub(lambda found: found[0].upper(), text)


def _ucfirst(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def _cased_like(word: str, model: str) -> str:
    """Return a word in the case another is written in, as far as that is one of four plain ones."""
    for change in (str.lower, str.upper, _ucfirst, _ucwords):
        if change(model) == model:
            return change(word)
    return word


@cache
def plural(word: str) -> str:
    """Return `Str::plural` of a word."""
    many, _, uncountable = _read()
    if word.lower() in uncountable or not _LAST_COUNTS.search(word):
        return word
    return _cased_like(many.applied(word), word)


@cache
def singular(word: str) -> str:
    """Return `Str::singular` of a word."""
    return _cased_like(_read()[1].applied(word), word)


def plural_studly(name: str) -> str:
    """Return `Str::pluralStudly`: the last word of a class's name in the plural."""
    at = max((found.start() + 1 for found in _BEFORE_CAPITAL.finditer(name)), default=0)
    return name[:at] + plural(name[at:])


def snake(name: str) -> str:
    """Return `Str::snake`: every capital starts a word, so each letter of an acronym is one."""
    if re.fullmatch("[a-z]+", name):
        return name
    return _BEFORE_CAPITAL.sub(r"\1_", re.sub(r"\s+", "", _ucwords(name))).lower()


def studly(name: str) -> str:
    """Return `Str::studly`: words that were parted by dashes, underscores or spaces."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[\s_-]+", name) if word)


def camel(name: str) -> str:
    """Return `Str::camel`."""
    words = studly(name)
    return words[:1].lower() + words[1:]


def class_basename(class_name: str) -> str:
    """Return a class's name without its namespace."""
    return class_name.rstrip("\\").rpartition("\\")[2]


def table_name(class_name: str) -> str:
    """Return the table a model has by convention."""
    return snake(plural_studly(class_basename(class_name)))


def pivot_table_name(class_name: str) -> str:
    """Return the table a pivot model has by convention: in the singular."""
    return snake(singular(class_basename(class_name)))


def joining_table_name(one: str, other: str) -> str:
    """Return the table two models are joined by, by convention: both names in snake case, in alphabetical order."""
    return "_".join(sorted((snake(class_basename(one)), snake(class_basename(other))))).lower()


def foreign_key_name(class_name: str, key: str = "id") -> str:
    """Return the column that refers to a model, by convention."""
    return f"{snake(class_basename(class_name))}_{key}"


def route_parameter(resource: str) -> str:
    """Return the parameter a resource's routes take: `playlist-folders` takes `playlist_folder`."""
    return singular(resource).replace("-", "_")
