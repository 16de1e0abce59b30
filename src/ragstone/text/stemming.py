"""The stem of an English word, after Porter's algorithm of 1980."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_SHORTEST: Final = 3
_LONGEST: Final = 64

# Porter writes a word as [C](VC)^m[V]; y is a vowel after a consonant. m counts the VC pairs.
# The first group gives nothing back: a word's first y is never a vowel.
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
_STEP_3: Final = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4: Final = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


def _by_tail(endings: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return endings by their last two letters, the longest first: most words have none, and one look tells so."""
    found: dict[str, list[str]] = {}
    for ending in sorted(endings, key=len, reverse=True):
        found.setdefault(ending[-2:], []).append(ending)
    return {tail: tuple(some) for tail, some in found.items()}


_TAILS_2: Final = _by_tail(_STEP_2)
_TAILS_3: Final = _by_tail(_STEP_3)
_TAILS_4: Final = _by_tail(_STEP_4)


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return the stem of a lower-case ASCII word; very short and very long ones stay as they are."""
    if not _SHORTEST <= len(word) <= _LONGEST:
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
    """Return the word without its plural s."""
    if not word.endswith("s"):
        return word
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _step_1b(word: str) -> str:
    """Return the word without -ed or -ing."""
    if word.endswith("eed"):
        return word[:-1] if _SOME.match(word[:-3]) else word
    cut = 2 if word.endswith("ed") else 3 if word.endswith("ing") else 0
    if not cut or not _VOWEL.match(word[:-cut]):
        return word
    word = word[:-cut]
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double(word) and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _ONE.match(word) and _ends_short(word) else word


def _step_1c(word: str) -> str:
    """Return the word with a final y turned into i where a vowel comes before it."""
    return word[:-1] + "i" if word.endswith("y") and _VOWEL.match(word[:-1]) else word


def _replace(word: str, endings: tuple[str, ...], replacements: dict[str, str]) -> str:
    """Return the word with the longest of the endings that it has replaced where m > 0."""
    for ending in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + replacements[ending] if _SOME.match(rest) else word
    return word


def _step_4(word: str, endings: tuple[str, ...]) -> str:
    """Return the word without the longest of the derivational endings that it has where m > 1."""
    for ending in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return word if not _MORE.match(rest) or (ending == "ion" and rest[-1] not in "st") else rest
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
    """Return whether the word ends consonant, vowel, consonant, the last not w, x or y."""
    last = len(word) - 1
    return (
        last >= 2
        and word[last] not in "wxy"
        and not _is_vowel(word, last)
        and _is_vowel(word, last - 1)
        and not _is_vowel(word, last - 2)
    )


def _is_vowel(word: str, at: int) -> bool:
    letter = word[at]
    return letter in "aeiou" or (letter == "y" and at > 0 and not _is_vowel(word, at - 1))
