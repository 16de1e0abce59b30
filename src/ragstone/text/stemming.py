"""The stem of an English word by Porter's algorithm of 1980."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_MIN_LENGTH: Final = 3
_MAX_LENGTH: Final = 64

# Porter writes a word as [C](VC)^m[V]; y is a vowel after a consonant. m counts the VC pairs.
# The first group is possessive, because the first y of a word is never a vowel.
_C: Final = "[^aeiou][^aeiouy]*"
_V: Final = "[aeiouy][aeiou]*"
_M_ABOVE_0: Final = re.compile(f"(?:{_C})?+{_V}{_C}")
_M_IS_1: Final = re.compile(f"(?:{_C})?+{_V}{_C}(?:{_V})?$")
_M_ABOVE_1: Final = re.compile(f"(?:{_C})?+{_V}{_C}{_V}{_C}")
_HAS_VOWEL: Final = re.compile(f"(?:{_C})?+[aeiouy]")

# If one ending is part of another, the longer one comes first.
_STEP_2: Final = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3: Final = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4: Final = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return the stem of a lower-case ASCII word; very short and very long words are returned as they are."""
    if not _MIN_LENGTH <= len(word) <= _MAX_LENGTH:
        return word
    word = _remove_plural(word)
    word = _remove_ed_or_ing(word)
    word = _replace_final_y(word)
    word = _replace_ending(word, _STEP_2)
    word = _replace_ending(word, _STEP_3)
    word = _remove_ending(word)
    word = _remove_final_e(word)
    return _remove_double_l(word)


def _remove_plural(word: str) -> str:
    """Step 1a."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _remove_ed_or_ing(word: str) -> str:
    """Step 1b."""
    if word.endswith("eed"):
        if _M_ABOVE_0.match(word[:-3]):
            return word[:-1]
        return word
    rest = word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word.removesuffix(ending)
    if rest == word or not _HAS_VOWEL.match(rest):
        return word
    return _repair_end(rest)


def _repair_end(rest: str) -> str:
    """Return the rest of a word after step 1b with a proper ending: hop(p), fil(e), conflat(e)."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _ends_double(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    if _M_IS_1.match(rest) and _ends_short(rest):
        return rest + "e"
    return rest


def _replace_final_y(word: str) -> str:
    """Step 1c."""
    rest = word[:-1]
    if word.endswith("y") and _HAS_VOWEL.match(rest):
        return rest + "i"
    return word


def _replace_ending(word: str, replacements: dict[str, str]) -> str:
    """Steps 2 and 3: the ending is replaced if m > 0 before it."""
    for ending, replacement in replacements.items():
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            if _M_ABOVE_0.match(rest):
                return rest + replacement
            return word
    return word


def _remove_ending(word: str) -> str:
    """Step 4: the ending is removed if m > 1 before it; -ion only after s or t."""
    for ending in _STEP_4:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            if not _M_ABOVE_1.match(rest):
                return word
            if ending == "ion" and rest[-1] not in "st":
                return word
            return rest
    return word


def _remove_final_e(word: str) -> str:
    """Step 5a."""
    if not word.endswith("e"):
        return word
    rest = word[:-1]
    if _M_ABOVE_1.match(rest):
        return rest
    if _M_IS_1.match(rest) and not _ends_short(rest):
        return rest
    return word


def _remove_double_l(word: str) -> str:
    """Step 5b."""
    if word.endswith("ll") and _M_ABOVE_1.match(word[:-1]):
        return word[:-1]
    return word


def _ends_double(word: str) -> bool:
    """Return whether the word ends with the same consonant twice."""
    if len(word) < 2 or word[-1] != word[-2]:
        return False
    return not _is_vowel(word, len(word) - 1)


def _ends_short(word: str) -> bool:
    """Return whether the word ends with consonant, vowel, consonant, and the last is not w, x or y."""
    last = len(word) - 1
    if last < 2 or word[last] in "wxy":
        return False
    is_vowel = [_is_vowel(word, place) for place in (last - 2, last - 1, last)]
    return is_vowel == [False, True, False]


def _is_vowel(word: str, place: int) -> bool:
    letter = word[place]
    if letter == "y":
        return place > 0 and not _is_vowel(word, place - 1)
    return letter in "aeiou"
