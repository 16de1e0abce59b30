"""Which terms a text is found by: plain words stemmed, identifiers whole and in parts, scripts without spaces in pairs.

One rule for all: the parts of a name are its words (`getUserName`, `get_user_name`, `get-user-name` → get, user, name)
and its whole is the parts joined, each stemmed like any other word, so that `userName`, `user_name`, "username" meet.
A term holds only [a-z0-9_] and non-ASCII letters, so a tokenizer that splits at everything else takes it as one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain
from typing import Final

from ragstone.text.stemming import stem

LONGEST_TERM: Final = 64
_CACHE_WORDS: Final = 1 << 15
_CACHED_FOREIGN: Final = 24
_QUERY_CHARACTERS: Final = 10_000
_MOST_DOTTED: Final = 4

_RANDOM_PARTS: Final = 6
_RANDOM_LENGTH: Final = 2.5
"""A run of this many parts or more, on average shorter than this, is a hash or a blob: only its whole is a term."""

# Names may be dotted or hyphenated; the bound keeps a megabyte of "a-a-a-" from being one name.
_find_ascii: Final = re.compile("[A-Za-z0-9_][A-Za-z0-9_]*+(?:[-.][A-Za-z0-9_]++){0,7}+").findall
_find_parts: Final = re.compile("[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\x00-\x7f]+").findall
_is_hash: Final = re.compile("(?=.*[0-9])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4,12})+$").match  # such as a UUID
_find_runs: Final = re.compile("[A-Za-z0-9]+|[^\x00-\x7f]+").findall

_UNSPACED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u1000-\u1049\u1050-\u109f\u1100-\u11ff\u1780-\u17d3\u17e0-\u17e9"
    "\u2f00-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
"""Thai, Lao, Myanmar, Khmer, Han, kana, Hangul: written without spaces, or with words that glue to their endings."""

_DIACRITICS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")
_UNDECOMPOSED: Final = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ı": "i", "æ": "ae", "Æ": "AE",
     "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ß": "ss", "ẞ": "SS"}
)  # fmt: skip
_JOINED: Final = str.maketrans("", "", "-_")
_SQUEEZED: Final = str.maketrans("", "", "-_.")
_BEGINNING: Final = 3
_PUT_ON: Final = ("e", "i")  # what a stem may end with where its word had another letter or none
_OBJECT_ITSELF: Final = frozenset({"self", "cls", "this"})

STOPWORDS: Final = frozenset(
    "a about an and any are as at be been but by can could did didn do does doesn don for from had has have he her his"
    " how i if in into is isn it its me my no nor not of on or our she should so some such than that the their them"
    " then there these they this those to us was we were what when where which who whom why will with"
    " would you your".split()
)
"""Words a question has and an answer need not: dropped from queries, kept in the index."""
_CONTRACTION: Final = re.compile(r"(?<=\w)['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)


class _Known(dict[str, str]):
    """Word as written → its terms. Two generations, so that a full cache forgets only what was not used lately."""

    def __init__(self) -> None:
        super().__init__()
        self._older: dict[str, str] = {}

    def __missing__(self, word: str) -> str:
        found = self._older.get(word)
        if found is None:
            plain = word.islower() and word.isalpha() and word.isascii()
            found = stem(word[:LONGEST_TERM]) if plain else " ".join(_analyse(word))
        if len(word) <= (LONGEST_TERM if word.isascii() else _CACHED_FOREIGN):
            if len(self) >= _CACHE_WORDS:
                self._older = dict(self)
                self.clear()
            self[word] = found
        return found


_known: Final = _Known()


def terms(text: str) -> list[str]:
    """Return the index terms of a text in order, repeated as often as they occur."""
    return spaced_terms(text).split()


def spaced_terms(text: str) -> str:
    """Return the same terms with spaces between them."""
    return " ".join(map(_known.__getitem__, _words(text)))


def query_terms(text: str, limit: int = 64) -> list[str]:
    """Return the distinct terms of a query in order, without stop words unless it has nothing else."""
    words = _words(_CONTRACTION.sub(" ", text[:_QUERY_CHARACTERS]))
    telling = [word for word in words if word.casefold() not in STOPWORDS]
    found = dict.fromkeys(" ".join(map(_known.__getitem__, telling or words)).split())
    return list(found)[: max(limit, 0)]


def beginnings(wanted: Iterable[str]) -> list[str]:
    """Return for each term what stands in the squeezed form of every text that has it: a look instead of an analysis.

    A stem differs from its word in the last letters only, and the whole of a name is the name without its separators.
    """
    bare = [term.translate(_SQUEEZED) for term in wanted]
    return [term[: max(1, min(_BEGINNING, len(term) - term.endswith(_PUT_ON)))] for term in bare]


def squeezed(text: str) -> str | None:
    """Return a text in small letters without what separates the parts of names; None for one beyond ASCII."""
    return text.lower().translate(_SQUEEZED) if text.isascii() else None


def _words(text: str) -> list[str]:
    """Return the words, names and unspaced runs of a text as they are written."""
    return _find_ascii(text) if text.isascii() else _finder()(text)


@cache
def _finder() -> Callable[[str], list[str]]:
    """Return the finder for text beyond ASCII; made on first use, as it has to know every combining mark."""
    blocks = (range(0x300, 0x2000), range(0x20D0, 0x2100), range(0xA600, 0xAC00), range(0xFE20, 0xFE30))
    marks = "".join(char for char in map(chr, chain(*blocks)) if unicodedata.category(char).startswith("M"))
    letters = f"[^\\W{_UNSPACED}]"
    word = f"{letters}+(?:[{marks}]+{letters}*)*"
    return re.compile(f"{word}(?:[-.]{word}){{0,7}}|[{_UNSPACED}]+").findall


@cache
def _unspaced() -> Callable[[str], re.Match[str] | None]:
    """Return what tells whether a run is written without spaces; made on first use, as compiling it takes 3 ms."""
    return re.compile(f"[{_UNSPACED}]").match


def _analyse(word: str) -> list[str]:
    """Return the terms of one word, name or unspaced run."""
    if word.isascii():
        if word.isalpha() and word.islower():
            return [stem(word[:LONGEST_TERM])]
        return _dotted(word) if "." in word else _name(word)
    if _unspaced()(word):
        return _pairs(unicodedata.normalize("NFKC", word))
    return _foreign(word)


def _pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters of an unspaced run."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _foreign(word: str) -> list[str]:
    """Return the terms of a word with letters beyond ASCII, its diacritics removed."""
    bare = _DIACRITICS.sub("", unicodedata.normalize("NFKD", word).translate(_UNDECOMPOSED))
    bare = unicodedata.normalize("NFC", bare)
    # Compatibility forms may fall apart into several words, and those into other scripts: ⑴ is "(1)".
    found: list[str] = []
    for piece in _words(bare):
        if _unspaced()(piece):
            found += _pairs(piece)
        else:
            found += _dotted(piece) if "." in piece else _name(piece)
    return found


def _dotted(word: str) -> list[str]:
    """Return the terms of a dotted name: its whole, then those of its names."""
    names = word.split(".")
    own = names[1:] if names[0].lower() in _OBJECT_ITSELF else names
    whole: list[str] = []
    if names[0].isdigit():  # a version or an address
        whole = _whole("_".join(names).casefold())
    elif 1 < len(own) <= _MOST_DOTTED:
        # The parts joined are the name without what separates them.
        whole = _whole("".join(own).translate(_JOINED).casefold())
    return whole + [_known[name] for name in names]


def _name(name: str) -> list[str]:
    """Return the terms of a name without dots: its whole, then its parts, each stemmed."""
    parts = name.casefold().split("-") if "-" in name and _is_hash(name) else _parts(name)
    if len(parts) < 2:
        return [_stem(part) for part in parts]
    joint = "_" if name[0].isdigit() and "-" in name else ""  # a date stays apart from the number its digits make
    return _whole(joint.join(parts)) + [stem(part) if part.isascii() and part.isalpha() else part for part in parts]


def _parts(name: str) -> list[str]:
    """Return the lower-case parts of a name; a random or endless run is one part."""
    if name.islower() and name.isascii() and name.replace("_", "").isalpha():
        return [part[:LONGEST_TERM] for part in name.split("_") if part]
    parts: list[str] = _find_parts(name)
    if len(parts) < _RANDOM_PARTS and len(name) <= LONGEST_TERM:
        return [part.casefold()[:LONGEST_TERM] for part in parts]
    found: list[str] = []
    for run in _find_runs(name):
        pieces = [run] if len(run) > LONGEST_TERM else _find_parts(run)
        if len(pieces) >= _RANDOM_PARTS and len(run) < _RANDOM_LENGTH * len(pieces):
            pieces = [run]
        found += [piece.casefold()[:LONGEST_TERM] for piece in pieces]
    return found


def _whole(whole: str) -> list[str]:
    """Return the whole as a term, or nothing where it is too long to be looked for."""
    if len(whole) > LONGEST_TERM:
        return []
    # Each whole is met once, and would only push parts, which are met often, out of the cache.
    return [stem.__wrapped__(whole) if whole.isascii() and whole.isalpha() else whole]


def _stem(term: str) -> str:
    return stem(term) if term.isascii() and term.isalpha() else term
