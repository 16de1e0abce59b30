"""The terms that a text is found by.

Plain words are stemmed, names are indexed as a whole and in parts, scripts without spaces in pairs of characters. The
parts of a name are its words (`getUserName`, `get_user_name`, `get-user-name` → get, user, name). Its whole is its
parts joined and stemmed, so that `userName`, `user_name` and "username" share a term. A term has only [a-z0-9_] and
non-ASCII letters, so a tokenizer that splits at everything else keeps it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from ragstone.text.stemming import stem

LONGEST_TERM: Final = 64
_MAX_QUERY_CHARACTERS: Final = 10_000
_MAX_CACHED_WORDS: Final = 1 << 16
_MAX_JOINED_NAMES: Final = 4
"""A dotted name of more names has no term for its whole."""

_RANDOM_PARTS: Final = 6
_RANDOM_LENGTH: Final = 2.5
"""A run of at least this many parts that are on average shorter than this is a hash or a blob: only its whole is a
term."""

# Names may be dotted or hyphenated. The bound prevents that a megabyte of "a-a-a-" is one name.
_ASCII_WORD: Final = re.compile("[A-Za-z0-9_][A-Za-z0-9_]*+(?:[-.][A-Za-z0-9_]++){0,7}+")
_NAME_PART: Final = re.compile(
    "[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\x00-\x7f]+"
)
_UUID: Final = re.compile("(?=.*[0-9])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4,12})+$")
_NAME_RUN: Final = re.compile("[A-Za-z0-9]+|[^\x00-\x7f]+")

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
    return _join_terms(_find_words(text))


def query_terms(text: str, limit: int = 64) -> list[str]:
    """Return the distinct terms of a query in order, without stop words unless it has only these."""
    words = _query_words(text)
    all_terms = _join_terms(_content_words(words) or words).split()
    distinct = list(dict.fromkeys(all_terms))
    return distinct[: max(limit, 0)]


def has_content_words(text: str) -> bool:
    """Return whether a query has a word that is no stop word."""
    return bool(_content_words(_query_words(text)))


def _query_words(text: str) -> list[str]:
    return _find_words(_CONTRACTION.sub(" ", text[:_MAX_QUERY_CHARACTERS]))


def _content_words(words: Sequence[str]) -> list[str]:
    return [word for word in words if word.casefold() not in STOPWORDS]


def _find_words(text: str) -> list[str]:
    """Return the words, names and unspaced runs of a text as they are written."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return _foreign_word().findall(text)


@cache
def _foreign_word() -> re.Pattern[str]:
    """Return the expression for words beyond ASCII; it is compiled on first use from all combining marks."""
    blocks = (
        range(0x300, 0x2000),
        range(0x20D0, 0x2100),
        range(0xA600, 0xAC00),
        range(0xFE20, 0xFE30),
    )
    characters = map(chr, chain(*blocks))
    marks = "".join(char for char in characters if unicodedata.category(char)[0] == "M")
    letters = f"[^\\W{_UNSPACED}]"
    word = f"{letters}+(?:[{marks}]+{letters}*)*"
    return re.compile(f"{word}(?:[-.]{word}){{0,7}}|[{_UNSPACED}]+")


@cache
def _unspaced_character() -> re.Pattern[str]:
    """Return the expression for a character of an unspaced script; it is compiled on first use, which takes 3 ms."""
    return re.compile(f"[{_UNSPACED}]")


def _join_terms(words: Sequence[str]) -> str:
    """Return the terms of words with spaces between them."""
    longest = max(map(len, words), default=0)
    word_terms = _cached_terms if longest <= LONGEST_TERM else _word_terms
    return " ".join(map(word_terms, words))


def _word_terms(word: str) -> str:
    """Return the terms of one word with spaces between them; those of short words are cached."""
    if len(word) > LONGEST_TERM:
        return _compute_terms(word)
    return _cached_terms(word)


def _compute_terms(word: str) -> str:
    if word.isascii():
        word_terms = _ascii_terms(word)
    elif _unspaced_character().match(word):
        word_terms = _pairs(unicodedata.normalize("NFKC", word))
    else:
        word_terms = _foreign_terms(word)
    return " ".join(word_terms)


# A corpus repeats the same words.
_cached_terms: Final = lru_cache(_MAX_CACHED_WORDS)(_compute_terms)


def _ascii_terms(word: str) -> list[str]:
    """Return the terms of an ASCII word or name."""
    if word.isalpha() and word.islower():
        return [stem(word[:LONGEST_TERM])]
    if "." in word:
        return _dotted_terms(word)
    return _name_terms(word)


def _pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters of an unspaced run."""
    if len(run) < 2:
        return [run]
    return [run[place : place + 2] for place in range(len(run) - 1)]


def _foreign_terms(word: str) -> list[str]:
    """Return the terms of a word with letters beyond ASCII, without their diacritics."""
    decomposed = unicodedata.normalize("NFKD", word).translate(_UNDECOMPOSED)
    bare = unicodedata.normalize("NFC", _DIACRITICS.sub("", decomposed))
    all_terms: list[str] = []
    # The compatibility form of one character may be several words, also of other scripts: ⑴ is "(1)".
    for piece in _find_words(bare):
        if _unspaced_character().match(piece):
            all_terms += _pairs(piece)
        elif "." in piece:
            all_terms += _dotted_terms(piece)
        else:
            all_terms += _name_terms(piece)
    return all_terms


def _dotted_terms(word: str) -> list[str]:
    """Return the terms of a dotted name: the joined name, then the terms of its names."""
    names = word.split(".")
    own_names = names
    if names[0].lower() in _RECEIVERS:
        own_names = names[1:]
    joined: list[str] = []
    if names[0].isdigit():  # a version or an address
        joined = _joined_term("_".join(names).casefold())
    elif 1 < len(own_names) <= _MAX_JOINED_NAMES:
        bare_name = "".join(own_names).translate(_NAME_SEPARATORS)
        joined = _joined_term(bare_name.casefold())
    return joined + [_word_terms(name) for name in names]


def _name_terms(name: str) -> list[str]:
    """Return the terms of a name without dots: the joined name, then its parts, each stemmed."""
    if "-" in name and _UUID.match(name):
        parts = name.casefold().split("-")
    else:
        parts = _name_parts(name)
    stems = [_stem_if_word(part) for part in parts]
    if len(parts) < 2:
        return stems
    separator = ""
    if name[0].isdigit() and "-" in name:
        separator = "_"  # a date is not the number that its digits make
    return _joined_term(separator.join(parts)) + stems


def _name_parts(name: str) -> list[str]:
    """Return the lower-case parts of a name; a random or very long run is one part."""
    if name.islower() and name.isascii() and name.replace("_", "").isalpha():
        return [part[:LONGEST_TERM] for part in name.split("_") if part]
    parts: list[str] = _NAME_PART.findall(name)
    if len(parts) >= _RANDOM_PARTS or len(name) > LONGEST_TERM:
        runs = _NAME_RUN.findall(name)
        parts = list(chain.from_iterable(map(_split_run, runs)))
    return [part.casefold()[:LONGEST_TERM] for part in parts]


def _split_run(run: str) -> list[str]:
    """Return the parts of a run of letters and digits, or the run itself if it looks random or is too long."""
    if len(run) > LONGEST_TERM:
        return [run]
    if is_random(run):
        return [run]
    return _NAME_PART.findall(run)


def is_random(run: str) -> bool:
    """Return whether a run of letters and digits looks random: its parts are many and short."""
    parts = _NAME_PART.findall(run)
    return len(parts) >= _RANDOM_PARTS and len(run) < _RANDOM_LENGTH * len(parts)


def _joined_term(name: str) -> list[str]:
    """Return a joined name as a term, or nothing if it is too long."""
    if len(name) > LONGEST_TERM:
        return []
    return [_stem_if_word(name)]


def _stem_if_word(term: str) -> str:
    if term.isascii() and term.isalpha():
        return stem(term)
    return term
