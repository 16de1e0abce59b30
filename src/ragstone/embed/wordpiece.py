"""BERT's uncased WordPiece in pure Python: it returns the same token ids as the reference.

A corpus repeats the same words, so the ids of words are cached. Names of special tokens in a text ("[SEP]") are read
as plain text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

from ragstone.embed.bert_characters import DROPPED, IDEOGRAPHS, PUNCTUATION
from ragstone.errors import ConfigError

CACHED_WORDS = 200_000
MAX_CACHED_LENGTH = 64
MAX_WORD_LENGTH = 100
"""A longer word is one unknown token, as in the reference."""
WINDOW_SLACK = 8
PART = 1 << 16
"""Characters that are split at a time. A run of letters is cut only if it is longer than that."""

VOCABULARY = Path(__file__).parent / "data" / "minilm-vocab.txt"

_WORD = re.compile(r"[^\W\d_]{3,}")
_DROP = re.compile(f"[{DROPPED}]+")
_SPACE_OUT = re.compile(f"([{IDEOGRAPHS}])")
_PIECE = re.compile(rf"[{PUNCTUATION}]|[^\s{PUNCTUATION}]+")
# `str.split` treats these as blanks, but the reference drops them and joins their neighbours.
_FALSE_BLANKS = re.compile("[\x0b\x0c\x1c-\x1f\x85]+")

_BORDER = re.compile(r"[ \t\r\n!-/:-@\[-`{-~]")


@cache
def vocabulary_words() -> frozenset[str]:
    """Return the words of the built-in vocabulary, in lower case: the usual words and names of English."""
    tokens = VOCABULARY.read_text("utf-8").splitlines()
    return frozenset(token for token in tokens if token.isalpha())


def has_unusual_word(text: str) -> bool:
    """Return whether a word of three letters or more is not in the built-in vocabulary."""
    words = _WORD.findall(text.lower())
    return not vocabulary_words().issuperset(words)


def normalise(text: str) -> str:
    """Return the text in lower case, without accents and control characters, with blanks around ideographs."""
    if text.isascii():
        return _DROP.sub("", text).lower()
    spaced = _SPACE_OUT.sub(r" \1 ", _DROP.sub("", text))
    bare = _DROP.sub("", unicodedata.normalize("NFD", spaced))
    # The reference lowers letter by letter, so that a sigma at the end of a word is not changed to a final one.
    return bare.replace("Σ", "σ").lower()


def pieces(text: str) -> list[str]:
    """Return the words and punctuation marks of a normalised text."""
    return _PIECE.findall(text)


def _parts(text: str) -> Iterator[str]:
    """Yield a text in parts that are small enough to be split, cut between words."""
    start = 0
    while start < len(text):
        end = start + PART
        if end < len(text):
            end = _next_border(text, end)
        yield _FALSE_BLANKS.sub("", text[start:end])
        start = end


def _next_border(text: str, start: int) -> int:
    """Return the end of the first character after `start` that separates words, or of the next part."""
    limit = start + PART
    border = _BORDER.search(text, start, limit)
    if border is None:
        return limit
    return border.end()


class WordPiece:
    """Converts text to the ids of a vocabulary. Threads may share it."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._ids = {token: number for number, token in enumerate(vocabulary)}
        self.pad = self._special_id("[PAD]")
        self.unknown = self._special_id("[UNK]")
        self.first = self._special_id("[CLS]")
        self.last = self._special_id("[SEP]")
        continued = [number for token, number in self._ids.items() if token.startswith("##")]
        self._continued = frozenset(continued)
        self._longest = max(map(len, self._ids))
        self._cached_ids = lru_cache(CACHED_WORDS)(self._compute_ids)

    @classmethod
    def from_file(cls, path: Path) -> WordPiece:
        """Return a tokenizer with the vocabulary of a file, one token per line."""
        try:
            return cls(path.read_text(encoding="utf-8").splitlines())
        except OSError as error:
            raise ConfigError(
                f"The vocabulary {path.name} cannot be read: {error.strerror}.",
                hint="install ragstone again",
            ) from error

    def _special_id(self, token: str) -> int:
        if token not in self._ids:
            raise ConfigError(
                f"The vocabulary has no {token} token.", hint="install ragstone again"
            )
        return self._ids[token]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without markers."""
        return list(chain.from_iterable(self.words(text)))

    def count(self, text: str) -> int:
        """Return the number of ids of a text, without markers."""
        return sum(map(len, self.words(text)))

    def words(self, text: str) -> Iterator[tuple[int, ...]]:
        """Yield the ids of each blank-separated word; a huge text is split part by part."""
        for part in _parts(text):
            yield from map(self.word_ids, part.split())

    def windows(self, text: str, size: int) -> Iterator[list[int]]:
        """Yield the ids in windows of about equal length, at most `size`, cut between words if possible."""
        total = self.count(text)
        count = max(1, -(-total // size))
        # Words rarely end where a window ends; the slack avoids a tiny last window.
        length = min(size, -(-total // count) + WINDOW_SLACK)
        window: list[int] = []
        for word in self.words(text):
            for part in self._cut(word, length):
                if len(window) + len(part) > length:
                    yield window
                    window = []
                window.extend(part)
        if window:
            yield window

    def word_ids(self, word: str) -> tuple[int, ...]:
        """Return the ids of one blank-separated word; those of short words are cached."""
        if len(word) > MAX_CACHED_LENGTH:
            return self._compute_ids(word)
        return self._cached_ids(word)

    def _compute_ids(self, word: str) -> tuple[int, ...]:
        ids: list[int] = []
        for piece in pieces(normalise(word)):
            ids += self._split_piece(piece)
        return tuple(ids)

    def _split_piece(self, piece: str) -> list[int]:
        """Return the ids of the longest known prefixes, one after the other; if one is unknown, the unknown token."""
        if len(piece) > MAX_WORD_LENGTH:
            return [self.unknown]
        ids: list[int] = []
        start = 0
        while start < len(piece):
            end, token = self._longest_prefix(piece, start)
            if token is None:
                return [self.unknown]
            ids.append(token)
            start = end
        return ids

    def _longest_prefix(self, piece: str, start: int) -> tuple[int, int | None]:
        """Return the end and the id of the longest known token that begins at `start`."""
        prefix = ""
        if start:
            prefix = "##"
        longest_end = min(len(piece), start + self._longest)
        for end in range(longest_end, start, -1):
            token = self._ids.get(prefix + piece[start:end])
            if token is not None:
                return end, token
        return start, None

    def _cut(self, word: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
        """Yield a word in parts of at most `size`, if possible cut before a token that begins a piece."""
        start = 0
        while len(word) - start > size:
            end = start + size
            while end > start and word[end] in self._continued:
                end -= 1
            if end == start:
                end = start + size
            yield word[start:end]
            start = end
        yield word[start:]
