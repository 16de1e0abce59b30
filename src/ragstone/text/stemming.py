"""The stem of an English word by Porter's algorithm of 1980."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_MIN_LENGTH: Final = 3
_MAX_LENGTH: Final = 64

# Porter writes a word as [C](VC)^m[V]; y is a vowel after a consonant. m counts the VC pairs.
# The first group is possessive, because the first y of a word is never a vowel.
_C: Final = "[^aeiou][^aeiouy]*"
_V: Final = "[aeiouy][aeiou]*"
_SOME: Final = re.compile(f"(?:{_C})?+{_V}{_C}")  # m > 0
_ONE: Final = re.compile(f"(?:{_C})?+{_V}{_C}(?:{_V})?$")  # m = 1
_MORE: Final = re.compile(f"(?:{_C})?+{_V}{_C}{_V}{_C}")  # m > 1
_VOWEL: Final = re.compile(f"(?:{_C})?+[aeiouy]")  # *v*

_STEP_2: Final = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3: Final = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP_4: Final = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


def _by_tail(endings: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return endings by their last two letters, the longest first. Most words have none of them."""
    by_tail: dict[str, list[str]] = {}
    for ending in sorted(endings, key=len, reverse=True):
        by_tail.setdefault(ending[-2:], []).append(ending)
    return {tail: tuple(group) for tail, group in by_tail.items()}


_TAILS_2: Final = _by_tail(_STEP_2)
_TAILS_3: Final = _by_tail(_STEP_3)
_TAILS_4: Final = _by_tail(_STEP_4)


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return the stem of a lower-case ASCII word; very short and very long words are returned as they are."""
    if not _MIN_LENGTH <= len(word) <= _MAX_LENGTH:
        return word
    if word[-1] == "s":
        word = _step_1a(word)
    if word[-1] in "dg":
        word = _step_1b(word)
    if word[-1] == "y":
        word = _step_1c(word)
    if endings := _TAILS_2.get(word[-2:]):
        word = _replace(word, endings, _STEP_2)
    if endings := _TAILS_3.get(word[-2:]):
        word = _replace(word, endings, _STEP_3)
    if endings := _TAILS_4.get(word[-2:]):
        word = _step_4(word, endings)
    return _step_5(word) if word[-1] in "el" else word


def _step_1a(word: str) -> str:
    """Return a word that ends with s without its plural ending."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _step_1b(word: str) -> str:
    """Return the word without -ed or -ing."""
    if word.endswith("eed"):
        return word[:-1] if _SOME.match(word[:-3]) else word
    rest = word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word.removesuffix(ending)
    if rest == word or not _VOWEL.match(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _ends_double(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    if _ONE.match(rest) and _ends_short(rest):
        return rest + "e"
    return rest


def _step_1c(word: str) -> str:
    """Return a word that ends with y with an i instead, if a vowel comes before it."""
    return word[:-1] + "i" if _VOWEL.match(word[:-1]) else word


def _replace(word: str, endings: tuple[str, ...], replacements: dict[str, str]) -> str:
    """Return the word with the longest of these endings replaced, if m > 0 before it."""
    for ending in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + replacements[ending] if _SOME.match(rest) else word
    return word


def _step_4(word: str, endings: tuple[str, ...]) -> str:
    """Return the word without the longest of these endings, if m > 1 before it."""
    for ending in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if not _MORE.match(rest) or (ending == "ion" and rest[-1] not in "st"):
                return word
            return rest
    return word


def _step_5(word: str) -> str:
    """Return the word without a final e or a doubled final l."""
    if word.endswith("e"):
        rest = word[:-1]
        if _MORE.match(rest) or (_ONE.match(rest) and not _ends_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _MORE.match(word[:-1]) else word


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and not _is_vowel(word, len(word) - 1)


def _ends_short(word: str) -> bool:
    """Return whether the word ends with consonant, vowel, consonant, and the last is not w, x or y."""
    last = len(word) - 1
    return (
        last >= 2
        and word[last] not in "wxy"
        and not _is_vowel(word, last)
        and _is_vowel(word, last - 1)
        and not _is_vowel(word, last - 2)
    )


def _is_vowel(word: str, place: int) -> bool:
    letter = word[place]
    return letter in "aeiou" or (letter == "y" and place > 0 and not _is_vowel(word, place - 1))
