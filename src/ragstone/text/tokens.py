"""The number of tokens of a text for a model, estimated without its vocabulary.

It is calibrated on WordPiece (uncased BERT, the built-in embedder): every punctuation mark and every word is one token,
and a word costs more if it is long and unlike plain English. On pieces of 1,000 characters the mean error is 4 to 5 %
for prose and 4 % for code. Text with many rare terms (medicine) is underestimated, by 8 % overall and by 20 % in one
piece of twenty; other European languages by 7 to 15 %: leave that much room below a limit.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from math import ceil
from typing import Final, NamedTuple

_PUNCTUATION: Final = bytes(c for c in range(33, 127) if not chr(c).isalnum())
_TO_SPACE: Final = bytes(
    32 if c in _PUNCTUATION or c < 33 or c > 126 else c for c in range(256)
)
_TO_SPACE_IN_LINES: Final = bytes(c if c == 10 else to for c, to in enumerate(_TO_SPACE))
_MARKS: Final = re.compile("[\u0300-\u036f]+")
_HUMP: Final = re.compile(rb"[a-z][A-Z]")
_ENGLISH_ENDING: Final = re.compile(
    rb"(?:ing|ions?|ed|ers?|ly|ments?|ity|ities|[ai]ble|ies|ness|al|ive|ous|[ae]nce|[ae]nt|ate[ds]?|[ao]ry|ure|is[mt]|age|ful|less)$"
)

# Tokens of a word of letters beyond the first one, by its length: measured over sources, docstrings and readmes.
_ENGLISH: Final = (
    0, 0, 0.06, 0.2, 0.13, 0.08, 0.16, 0.16, 0.22, 0.36, 0.51, 0.63, 0.78, 0.8, 1.04, 1.86, 2.3,
)  # fmt: skip
_OTHER: Final = (
    0, 0, 0.09, 0.28, 0.2, 0.28, 0.44, 0.5, 0.81, 1.08, 1.35, 1.81, 2.4, 2.57, 3.12, 3.42, 3.93,
)  # fmt: skip
_TOKENS_PER_LETTER: Final = 0.4
"""For each further letter of a word that is longer than these tables."""

# In prose nearly every word is in the vocabulary, in code fewer are. Punctuation per word distinguishes them.
_PROSE_RARITY: Final = 0.14
_RARITY_BY_DENSITY: Final = 0.81
_MAX_DENSITY: Final = 1.2
# Accents show a language that the vocabulary was not made for (French and German: one in five words has one).
_RARITY_BY_ACCENTS: Final = 8.0
_MAX_RARITY: Final = 1.2

_MAX_CACHED_WORDS: Final = 1 << 16
_MAX_CACHED_LENGTH: Final = 64
_MAX_TOKEN_CHARACTERS: Final = 16


class ExcessTokens(NamedTuple):
    """The tokens of a word beyond the first one."""

    certain: float = 0.0
    by_rarity: float = 0.0
    """Tokens that are multiplied by the rarity of the text's words."""


def _compute_excess(word: bytes) -> ExcessTokens:
    """Return the excess tokens of a word of letters and digits."""
    length = len(word)
    if word.isdigit():
        return ExcessTokens(max(0.0, 0.6 * (length - 2.4)))
    if not word.isalpha():
        return ExcessTokens(0.55 * (length - 0.5))
    if not word.islower() and _HUMP.search(word):
        return ExcessTokens(max(1.3, 0.29 * (length - 3)))
    table = _OTHER
    if _ENGLISH_ENDING.search(word[-8:].lower()):
        table = _ENGLISH
    longest = len(table) - 1
    # No vocabulary has longer words, so the further letters cost the same in prose.
    further = max(0.0, _TOKENS_PER_LETTER * (length - longest))
    return ExcessTokens(further, table[min(length, longest)])


# A corpus repeats the same words.
_cached_excess: Final = lru_cache(_MAX_CACHED_WORDS)(_compute_excess)


def _excess_tokens(word: bytes) -> ExcessTokens:
    if len(word) > _MAX_CACHED_LENGTH:
        return _compute_excess(word)
    return _cached_excess(word)


def _strip_accents(text: str) -> tuple[str, int]:
    """Return a text without accents, and the number of accents."""
    decomposed = unicodedata.normalize("NFD", text)
    bare = _MARKS.sub("", decomposed)
    return bare, len(decomposed) - len(bare)


def estimate(text: str) -> int:
    """Return about how many tokens a model sees in a text."""
    accents = 0
    if not text.isascii():
        # The model removes accents too; any other character (Han, Cyrillic) is about one token.
        text, accents = _strip_accents(text)
    data = text.encode("ascii", "replace")
    words = data.translate(_TO_SPACE).split()
    return _sum_tokens(_count_punctuation(data), words, accents)


def estimate_up_to(text: str, most: int) -> int:
    """Return the estimate, or `most` + 1 if it is larger; that is faster for a long text."""
    if not text.isascii():
        return min(estimate(text), most + 1)
    data = text.encode()
    punctuation = _count_punctuation(data)
    words = data.translate(_TO_SPACE).split()
    if punctuation + len(words) > most:  # a word is at least one token
        return most + 1
    return min(_sum_tokens(punctuation, words), most + 1)


def weigh(text: str, start: int, end: int, size: int) -> int:
    """Return the tokens of a slice, or `size` + 1 if there are more."""
    if end - start > _MAX_TOKEN_CHARACTERS * size:
        return size + 1
    return estimate_up_to(text[start:end], size)


def estimate_lines(text: str) -> list[int]:
    """Return the estimate of every line of `text.split("\\n")`."""
    if not text.isascii():
        return [estimate(line) for line in text.split("\n")]
    data = text.encode()
    lines_without_punctuation = data.translate(None, _PUNCTUATION).split(b"\n")
    lines_of_words = data.translate(_TO_SPACE_IN_LINES).split(b"\n")
    estimates = []
    for words, bare in zip(lines_of_words, lines_without_punctuation, strict=True):
        punctuation = len(words) - len(bare)
        estimates.append(_sum_tokens(punctuation, words.split()))
    return estimates


def _count_punctuation(data: bytes) -> int:
    return len(data) - len(data.translate(None, _PUNCTUATION))


def _sum_tokens(punctuation: int, words: list[bytes], accents: int = 0) -> int:
    """Return the tokens of punctuation marks and words."""
    count = len(words)
    if not count:
        return punctuation
    certain = by_rarity = 0.0
    for word in words:
        excess = _excess_tokens(word)
        certain += excess.certain
        by_rarity += excess.by_rarity
    density = min(punctuation / (count + 1), _MAX_DENSITY)
    rarity = _PROSE_RARITY + _RARITY_BY_DENSITY * density
    if accents:
        accent_rarity = min(_RARITY_BY_ACCENTS * accents / count, _MAX_RARITY)
        rarity = max(rarity, accent_rarity)
    return round(punctuation + count + certain + by_rarity * rarity)


# A budget must hold for an unknown tokenizer. Over 3,300 pieces of code, prose, tables and twelve scripts, the
# byte-level vocabulary of a current chat model needed .63 of this count on average, and .95 of it at most. Over 2,000
# other pieces, cl100k and o200k needed .63 on average and 1.23 at most (a JSON list of rare words), and .97 for German.
_MARGIN: Final = 1.3
_TOKENS_PER_DIGIT: Final = 0.4
_SMALL_WORDS: Final = frozenset(
    b"der das den dem und ist sind wird werden nicht ein eine einen einer von mit auf im zum zur bis aus bei nach jede "
    b"wer les des une est dans pour avec sur qui el los las una por con para del que il gli che non della het een van "
    b"och att som det med ikke og".split()
)
"""Frequent words of German, French, Spanish, Italian, Dutch and Scandinavian languages that English does not have."""
_MAX_CHARACTERS_PER_TOKEN: Final = 5
"""A row of one repeated sign has few words, but at least one token for this many characters."""


def at_most(text: str) -> int:
    """Return an upper bound of the tokens of a text for any tokenizer, for budgets that must hold."""
    plain = text.encode("ascii", "ignore")
    digits = len(plain) - len(plain.translate(None, b"0123456789"))
    foreign_bytes = len(text.encode("utf-8", "replace")) - len(plain)  # each may be a token
    lines = plain.count(b"\n")
    tokens = max(_estimate_plain(text, plain), len(plain) / _MAX_CHARACTERS_PER_TOKEN)
    return ceil(tokens * _MARGIN + _TOKENS_PER_DIGIT * digits + lines + foreign_bytes)


def _estimate_plain(text: str, plain: bytes) -> int:
    """Return the estimate of the ASCII part of a text.

    Accents and the small words of other languages show that its long words are rare in a vocabulary.
    """
    accents = 0 if len(plain) == len(text) else _strip_accents(text)[1]
    words = plain.translate(_TO_SPACE).split()
    accents += sum(word.lower() in _SMALL_WORDS for word in words)
    return _sum_tokens(_count_punctuation(plain), words, accents)
