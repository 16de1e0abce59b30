"""Laravel's rules for names: plural and singular words, snake and camel case, and table names of classes.

The word lists and endings are data in `inflection.json`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

_BEFORE_CAPITAL: Final = re.compile(r"(.)(?=[A-Z])")
_ENDS_WITH_LETTER: Final = re.compile(r"[A-Za-z0-9\u0080-\uffff]\Z")
_WORD_START: Final = re.compile(r"(?:^|(?<=[ \t\r\n\f\v]))[a-z]")


@dataclass(frozen=True, slots=True)
class InflectionRules:
    """The rules of one direction: plural or singular."""

    unchanged: re.Pattern[str]
    """Words that stay as they are."""
    irregular: dict[str, str]
    endings: tuple[tuple[re.Pattern[str], str], ...]
    """Patterns of endings with their replacements; the first match counts."""

    def inflect(self, word: str) -> str:
        """Return the other form of a word."""
        if not word or self.unchanged.fullmatch(word):
            return word
        irregular = self.irregular.get(word.lower())
        if irregular is not None:
            is_capitalised = word[0] != word[0].lower()
            return irregular[0].upper() + irregular[1:] if is_capitalised else irregular
        for pattern, replacement in self.endings:
            if pattern.search(word):
                return pattern.sub(replacement, word)
        return word


@cache
def _load_data() -> dict[str, Any]:
    file = resources.files(__package__).joinpath("inflection.json")
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


@cache
def _plural_rules() -> InflectionRules:
    return _load_rules("plural", dict(_irregular_pairs()))


@cache
def _singular_rules() -> InflectionRules:
    singulars = {
        plural_form: singular_form for singular_form, plural_form in _irregular_pairs()
    }
    return _load_rules("singular", singulars)


@cache
def _uncountable_words() -> frozenset[str]:
    """Return the words that Laravel itself never puts into the plural."""
    return frozenset(_load_data()["uncountable"].split())


def _load_rules(form: str, irregular: dict[str, str]) -> InflectionRules:
    data = _load_data()
    unchanged = data["unchanged"]
    patterns = " ".join((*unchanged["both"].values(), unchanged[form]))
    endings: list[tuple[re.Pattern[str], str]] = []
    for ending, replacement in data[f"{form} endings"]:
        pattern = re.compile(ending, re.IGNORECASE)
        endings.append((pattern, replacement))
    return InflectionRules(
        re.compile("|".join(_split_words(patterns)), re.IGNORECASE | re.ASCII),
        irregular,
        tuple(endings),
    )


def _split_words(words: str) -> list[str]:
    """Return the words of a list; an escaped space belongs to a word."""
    return re.split(r"(?<!\\) ", words)


def _irregular_pairs() -> list[tuple[str, str]]:
    """Return pairs of singular and plural; if two pairs have the same plural, the later gives its singular."""
    irregular = _load_data()["irregular"]
    pairs = [(word, f"{word}s") for word in irregular["add s"].split()]
    pairs += [(word, f"{word}es") for word in irregular["add es"].split()]
    for pair in irregular["pairs"].split():
        singular_form, _, plural_form = pair.partition(":")
        pairs.append((singular_form, plural_form))
    return pairs


def _capitalise_words(text: str) -> str:
    return _WORD_START.sub(lambda match: match[0].upper(), text)


def _capitalise(text: str) -> str:
    if not text[:1].isascii():
        return text
    return text[:1].upper() + text[1:]


def _copy_case(word: str, pattern: str) -> str:
    """Return a word in the case of another word: lower, upper, first letter, or first letter of each word."""
    for change in (str.lower, str.upper, _capitalise, _capitalise_words):
        if change(pattern) == pattern:
            return change(word)
    return word


@cache
def plural(word: str) -> str:
    """Return `Str::plural` of a word."""
    if word.lower() in _uncountable_words() or not _ENDS_WITH_LETTER.search(word):
        return word
    return _copy_case(_plural_rules().inflect(word), word)


@cache
def singular(word: str) -> str:
    """Return `Str::singular` of a word."""
    return _copy_case(_singular_rules().inflect(word), word)


def plural_studly(name: str) -> str:
    """Return `Str::pluralStudly`: a class name with its last word in the plural."""
    start = 0
    for match in _BEFORE_CAPITAL.finditer(name):
        start = match.start() + 1
    return name[:start] + plural(name[start:])


def snake(name: str) -> str:
    """Return `Str::snake`: every capital starts a word, also inside an acronym."""
    if re.fullmatch("[a-z]+", name):
        return name
    joined = re.sub(r"\s+", "", _capitalise_words(name))
    return _BEFORE_CAPITAL.sub(r"\1_", joined).lower()


def studly(name: str) -> str:
    """Return `Str::studly`: words separated by dashes, underscores or spaces become one capitalised name."""
    words = re.split(r"[\s_-]+", name)
    return "".join(_capitalise_first(word) for word in words)


def _capitalise_first(word: str) -> str:
    return word[:1].upper() + word[1:]


def camel(name: str) -> str:
    """Return `Str::camel`."""
    joined = studly(name)
    return joined[:1].lower() + joined[1:]


def class_basename(class_name: str) -> str:
    """Return a class name without its namespace."""
    return class_name.rstrip("\\").rpartition("\\")[2]


def table_name(class_name: str) -> str:
    """Return the table of a model by convention."""
    return snake(plural_studly(class_basename(class_name)))


def pivot_table_name(class_name: str) -> str:
    """Return the table of a pivot model by convention: in the singular."""
    return snake(singular(class_basename(class_name)))


def joining_table_name(first: str, second: str) -> str:
    """Return the pivot table of two models by convention: both names in snake case, in alphabetical order."""
    names = (snake(class_basename(first)), snake(class_basename(second)))
    return "_".join(sorted(names)).lower()


def foreign_key_name(class_name: str, key: str = "id") -> str:
    """Return the column that refers to a model by convention."""
    return f"{snake(class_basename(class_name))}_{key}"


def route_parameter(resource: str) -> str:
    """Return the route parameter of a resource: `playlist-folders` has `playlist_folder`."""
    return singular(resource).replace("-", "_")
