"""The terms that a text is found by.

Plain words are stemmed, names are indexed as a whole and in parts, scripts without spaces in pairs of characters. The
parts of a name are its words (`getUserName`, `get_user_name`, `get-user-name` → get, user, name). Its whole is its
parts joined and stemmed, so that `userName`, `user_name` and "username" share a term. A term has only [a-z0-9_] and
non-ASCII letters, so a tokenizer that splits at everything else keeps it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import Final

from ragstone.text.stemming import stem
from ragstone.text.word_cache import WordCache

LONGEST_TERM: Final = 64
_MAX_QUERY_CHARACTERS: Final = 10_000
_MAX_JOINED_NAMES: Final = 4
"""A dotted name of more names has no term for its whole."""

_RANDOM_PARTS: Final = 6
_RANDOM_LENGTH: Final = 2.5
"""A run of at least this many parts that are on average shorter than this is a hash or a blob: only its whole is a
term."""

# Names may be dotted or hyphenated. The bound prevents that a megabyte of "a-a-a-" is one name.
_find_ascii: Final = re.compile("[A-Za-z0-9_][A-Za-z0-9_]*+(?:[-.][A-Za-z0-9_]++){0,7}+").findall
_find_parts: Final = re.compile(
    "[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\x00-\x7f]+"
).findall
_is_hash: Final = re.compile(
    "(?=.*[0-9])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4,12})+$"
).match  # such as a UUID
_find_runs: Final = re.compile("[A-Za-z0-9]+|[^\x00-\x7f]+").findall

_UNSPACED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u1000-\u1049\u1050-\u109f\u1100-\u11ff\u1780-\u17d3\u17e0-\u17e9"
    "\u2f00-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
"""Thai, Lao, Myanmar, Khmer, Han, kana, Hangul: written without spaces, or with endings attached to words."""

_DIACRITICS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")
_UNDECOMPOSED: Final = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ı": "i", "æ": "ae", "Æ": "AE",
     "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ß": "ss", "ẞ": "SS"}
)  # fmt: skip
_NAME_SEPARATORS: Final = str.maketrans("", "", "-_")
_RECEIVERS: Final = frozenset({"self", "cls", "this"})

STOPWORDS: Final = frozenset(
    "a about an and any are as at be been but by can could did didn do does doesn don for from had has have he her his"
    " how i if in into is isn it its me my no nor not of on or our she should so some such than that the their them"
    " then there these they this those to us was we were what when where which who whom why will with"
    " would you your".split()
)
"""Words of a question that an answer need not have: dropped from queries, kept in the index."""
_CONTRACTION: Final = re.compile(r"(?<=\w)['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)


def terms(text: str) -> list[str]:
    """Return the index terms of a text in order, repeated as often as they occur."""
    return spaced_terms(text).split()


def spaced_terms(text: str) -> str:
    """Return the index terms of a text with spaces between them."""
    return " ".join(map(_terms_by_word.__getitem__, _words(text)))


def query_terms(text: str, limit: int = 64) -> list[str]:
    """Return the distinct terms of a query in order, without stop words unless it has only these."""
    words = _words(_CONTRACTION.sub(" ", text[:_MAX_QUERY_CHARACTERS]))
    content_words = [word for word in words if word.casefold() not in STOPWORDS]
    spaced = " ".join(map(_terms_by_word.__getitem__, content_words or words))
    distinct = dict.fromkeys(spaced.split())
    return list(distinct)[: max(limit, 0)]


def _words(text: str) -> list[str]:
    """Return the words, names and unspaced runs of a text as they are written."""
    return _find_ascii(text) if text.isascii() else _foreign_finder()(text)


@cache
def _foreign_finder() -> Callable[[str], list[str]]:
    """Return the function that finds words beyond ASCII; it is compiled on first use from all combining marks."""
    blocks = (
        range(0x300, 0x2000),
        range(0x20D0, 0x2100),
        range(0xA600, 0xAC00),
        range(0xFE20, 0xFE30),
    )
    characters = map(chr, chain(*blocks))
    marks = "".join(
        character for character in characters if unicodedata.category(character).startswith("M")
    )
    letters = f"[^\\W{_UNSPACED}]"
    word = f"{letters}+(?:[{marks}]+{letters}*)*"
    return re.compile(f"{word}(?:[-.]{word}){{0,7}}|[{_UNSPACED}]+").findall


@cache
def _unspaced_matcher() -> Callable[[str], re.Match[str] | None]:
    """Return the function that matches unspaced runs; it is compiled on first use, which takes 3 ms."""
    return re.compile(f"[{_UNSPACED}]").match


def _compute_terms(word: str) -> str:
    """Return the terms of one word, name or unspaced run, with spaces between them."""
    if word.isascii():
        return " ".join(_ascii_terms(word))
    if _unspaced_matcher()(word):
        return " ".join(_pairs(unicodedata.normalize("NFKC", word)))
    return " ".join(_foreign_terms(word))


_terms_by_word: Final = WordCache(_compute_terms)


def _ascii_terms(word: str) -> list[str]:
    """Return the terms of an ASCII word or name."""
    if word.isalpha() and word.islower():
        return [stem(word[:LONGEST_TERM])]
    return _dotted_terms(word) if "." in word else _name_terms(word)


def _pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters of an unspaced run."""
    return [run[place : place + 2] for place in range(len(run) - 1)] or [run]


def _foreign_terms(word: str) -> list[str]:
    """Return the terms of a word with letters beyond ASCII, without their diacritics."""
    bare = _DIACRITICS.sub("", unicodedata.normalize("NFKD", word).translate(_UNDECOMPOSED))
    bare = unicodedata.normalize("NFC", bare)
    all_terms: list[str] = []
    # The compatibility form of one character may be several words, also of other scripts: ⑴ is "(1)".
    for piece in _words(bare):
        if _unspaced_matcher()(piece):
            all_terms += _pairs(piece)
        elif "." in piece:
            all_terms += _dotted_terms(piece)
        else:
            all_terms += _name_terms(piece)
    return all_terms


def _dotted_terms(word: str) -> list[str]:
    """Return the terms of a dotted name: its whole, then those of its names."""
    names = word.split(".")
    own_names = names[1:] if names[0].lower() in _RECEIVERS else names
    whole: list[str] = []
    if names[0].isdigit():  # a version or an address
        whole = _whole_term("_".join(names).casefold())
    elif 1 < len(own_names) <= _MAX_JOINED_NAMES:
        whole = _whole_term("".join(own_names).translate(_NAME_SEPARATORS).casefold())
    return whole + [_terms_by_word[name] for name in names]


def _name_terms(name: str) -> list[str]:
    """Return the terms of a name without dots: its whole, then its parts, each stemmed."""
    parts = _hash_or_parts(name)
    stems = [_stem_if_word(part) for part in parts]
    if len(parts) < 2:
        return stems
    # A date is joined differently from the number that its digits make.
    joint = "_" if name[0].isdigit() and "-" in name else ""
    return _whole_term(joint.join(parts)) + stems


def _hash_or_parts(name: str) -> list[str]:
    if "-" in name and _is_hash(name):
        return name.casefold().split("-")
    return _parts(name)


def _parts(name: str) -> list[str]:
    """Return the lower-case parts of a name; a random or very long run is one part."""
    if name.islower() and name.isascii() and name.replace("_", "").isalpha():
        return [part[:LONGEST_TERM] for part in name.split("_") if part]
    parts: list[str] = _find_parts(name)
    if len(parts) < _RANDOM_PARTS and len(name) <= LONGEST_TERM:
        return [part.casefold()[:LONGEST_TERM] for part in parts]
    all_parts: list[str] = []
    for run in _find_runs(name):
        pieces = [run] if len(run) > LONGEST_TERM else _find_parts(run)
        if len(pieces) >= _RANDOM_PARTS and len(run) < _RANDOM_LENGTH * len(pieces):
            pieces = [run]
        all_parts += [piece.casefold()[:LONGEST_TERM] for piece in pieces]
    return all_parts


def _whole_term(whole: str) -> list[str]:
    """Return the whole of a name as a term, or nothing if it is too long."""
    return [_stem_if_word(whole)] if len(whole) <= LONGEST_TERM else []


def _stem_if_word(term: str) -> str:
    return stem(term) if term.isascii() and term.isalpha() else term
