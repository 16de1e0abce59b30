"""Suggests another spelling if words of a query are in no searched document, but words near them are.

A word that English has is no mistake, even if no document has it: the built-in vocabulary knows the usual ones.

A suggested word is read from a passage in scope, so it is never one of another project. It is never a secret either,
because secrets are removed before a text is stored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os.path import commonprefix
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final

from ragstone.embed.wordpiece import vocabulary_words
from ragstone.text import STOPWORDS, terms
from ragstone.types import Request, StoredChunk

if TYPE_CHECKING:
    from ragstone.protocols import DocumentReader

DID_YOU_MEAN: Final = "Did you mean: {}?"
_MAX_QUERY: Final = 200
"""Longer queries are pasted texts, whose unknown words are no mistakes."""
_MAX_CORRECTED: Final = 8
_MAX_PASSAGES: Final = 16
_LONG_WORD: Final = 8
"""From this length on, a word may differ by two letters."""
# A code such as `E1042` is no word: another code is another thing, so runs beside a digit are left out.
_WORD: Final = re.compile(r"(?<![^\W_])[^\W\d_]{3,24}(?![^\W_])")
_SHORT_WORD: Final = 4
"""A word of up to this many letters is a mistake only if two of its letters are swapped: "kex" or "cfg" is none."""
_NAME_PART: Final = re.compile("[A-Z]?[a-z]{4,23}")
_ENDINGS: Final = frozenset(("", "s", "es", "d", "ed", "r", "er", "y", "ly"))
"""Endings that make another word and no mistake: "maker" beside "makes"."""
_MIN_STEM: Final = 4
_MIN_PART: Final = 4
"""Letters of each part of a compound word."""
_UNSPACED: Final = "\u0e00"
"""Scripts from here on have no spaces between words."""


def suggest_spelling(
    request: Request, view: DocumentReader, best: Sequence[StoredChunk]
) -> str:
    """Return the query with near words of the searched documents in place of unknown ones; empty if there are none.

    Words two letters away are looked for in the best passages only, because an index cannot be asked for them.
    """
    query = request.query
    if len(query) > _MAX_QUERY:
        return ""
    replacements = {}
    for word in _unknown_words(request, view)[:_MAX_CORRECTED]:
        if len(word) <= _SHORT_WORD:
            near = _swap_back(word.casefold(), request, view)
        else:
            passages = [*best, *_passages_with_near_terms(word, request, view)]
            near = _nearest_word(word.casefold(), _written_words(passages))
        if near:
            replacements[word] = _in_case_of(word, near)
    if not replacements:
        return ""
    return _WORD.sub(lambda match: replacements.get(match[0], match[0]), query)


def _unknown_words(request: Request, view: DocumentReader) -> list[str]:
    """Return the words of the query that neither English nor a document in scope has.

    A name is known by its parts too.
    """
    words = [word for word in dict.fromkeys(_WORD.findall(request.query)) if _is_word(word)]
    known_terms = view.known_terms(request.scope, terms(" ".join(words)))
    unknown = []
    for word in words:
        joined, *parts = terms(word)
        has_known_parts = bool(parts) and known_terms.issuperset(parts)
        if joined not in known_terms and not has_known_parts:
            unknown.append(word)
    if not unknown:
        return []
    return [word for word in unknown if word.casefold() not in vocabulary_words()]


def _max_distance(word: str) -> int:
    """Return how many letters may differ: two in a long word that is no compound, such as "overheats"."""
    if len(word) < _LONG_WORD:
        return 1
    cuts = range(_MIN_PART, len(word) - _MIN_PART + 1)
    if any(vocabulary_words() >= {word[:cut], word[cut:]} for cut in cuts):
        return 1
    return 2


def _is_word(word: str) -> bool:
    return word.casefold() not in STOPWORDS and max(word) < _UNSPACED


def _swap_back(word: str, request: Request, view: DocumentReader) -> str:
    """Return the usual English word that two swapped letters of a short word make; empty if no document has it."""
    swapped = list(_swap_neighbours(word))
    usual = [near for near in swapped if near in vocabulary_words()]
    known_terms = view.known_terms(request.scope, terms(" ".join(usual)))
    for near in usual:
        if near in STOPWORDS or known_terms.issuperset(terms(near)):
            return near
    return ""


def _swap_neighbours(word: str) -> Iterator[str]:
    """Yield the word with two neighbouring letters swapped; the first letter, which is mostly right, is moved last."""
    for place in [*range(1, len(word) - 1), 0]:
        yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def _passages_with_near_terms(
    word: str, request: Request, view: DocumentReader
) -> Iterable[StoredChunk]:
    """Return passages in scope with a word that is one letter away."""
    edited = terms(" ".join(_edit(word.casefold())))
    near = view.known_terms(request.scope, list(dict.fromkeys(edited)))
    rows = view.search_words(
        request.scope, sorted(near), limit=_MAX_PASSAGES, filter=request.filter
    )
    return view.chunks(request.scope.project, [row.id for row in rows]).values()


def _edit(word: str) -> Iterator[str]:
    """Yield all words one letter away: one left out, swapped, replaced or added. The first letter is mostly right."""
    letters = sorted({*ascii_lowercase, *word})
    for place in range(1, len(word) + 1):
        start, rest = word[:place], word[place:]
        yield start + rest[1:]
        yield start[:-1] + rest[:1] + start[-1] + rest[1:]
        for letter in letters:
            yield start + letter + rest[1:]
            yield start + letter + rest


def _written_words(passages: Iterable[StoredChunk]) -> Counter[str]:
    """Return the words and the parts of names in passages, and how often each is there."""
    words: Counter[str] = Counter()
    for row in passages:
        chunk = row.chunk
        text = f"{row.uri} {chunk.symbol} {chunk.header} {chunk.text}"
        words.update(_WORD.findall(text))
        words.update(_NAME_PART.findall(text))
    return words


def _nearest_word(word: str, written: Counter[str]) -> str:
    """Return the nearest of the written words, the most frequent of several.

    Empty if none is near, or if one has another ending only: then the word is correct.
    """
    most = _max_distance(word)
    nearest: list[tuple[int, int, str]] = []
    for candidate, count in written.items():
        folded = candidate.casefold()
        if not _may_be_near(word, folded, most):
            continue
        if _has_other_ending(word, folded):
            return ""
        distance = edit_distance(word, folded)
        if 0 < distance <= most:
            nearest.append((distance, -count, candidate))
    return min(nearest)[2] if nearest else ""


def _may_be_near(word: str, other: str, most: int) -> bool:
    """Return whether two words can be near, by a look at their letters, which is cheap."""
    has_same_start = word[0] == other[0] or word[:2] == other[1::-1]
    if not has_same_start or abs(len(word) - len(other)) > most:
        return False
    return len(set(word) ^ set(other)) <= 2 * most


def _has_other_ending(word: str, other: str) -> bool:
    """Return whether two words are forms of one word."""
    stem = commonprefix((word, other))
    if word == other or len(stem) < _MIN_STEM:
        return False
    return word[len(stem) :] in _ENDINGS and other[len(stem) :] in _ENDINGS


def edit_distance(first: str, second: str) -> int:
    """Return how many letters must be added, left out, replaced or swapped with the next one to get the second word."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for place, letter in enumerate(first, start=1):
        above, before, row = before, row, [place]
        for column, other in enumerate(second, start=1):
            cost = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != other))
            is_swap = first[place - 2 : place] == second[column - 2 : column][::-1]
            if is_swap and place > 1 and column > 1:
                cost = min(cost, above[column - 2] + 1)
            row.append(cost)
    return row[-1]


def _in_case_of(word: str, near: str) -> str:
    """Return a near word in the case of the query's word; a name in mixed case stays as it is written."""
    is_plain = near.isupper() or near[1:].islower()
    if word.islower() and is_plain:
        return near.lower()
    return near
