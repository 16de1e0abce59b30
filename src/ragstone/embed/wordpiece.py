"""BERT's uncased WordPiece in pure Python: text to token ids, the same ids as the reference gives.

Most of a corpus is the same words over and over, so whole blank-separated words are remembered with their ids and the
common path is one dictionary look-up a word. Names of special tokens in a text ("[SEP]") are read as plain text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from ragstone.embed.characters import DROPPED, IDEOGRAPHS, PUNCTUATION
from ragstone.errors import ConfigError

CACHED_WORDS = 200_000
CACHED_LENGTH = 64
LONGEST_WORD = 100
"""A longer word is one unknown token, as in the reference."""
WINDOW_SLACK = 8
PART = 1 << 16
"""Characters split at a time. Only a run of this many letters without any break would be cut inside."""

_DROP = re.compile(f"[{DROPPED}]+")
_SPACE_OUT = re.compile(f"([{IDEOGRAPHS}])")
_PIECE = re.compile(rf"[{PUNCTUATION}]|[^\s{PUNCTUATION}]+")
# `str.split` takes these for blanks, while the reference drops them and so joins what they part.
_FALSE_BLANKS = re.compile("[\x0b\x0c\x1c-\x1f\x85]+")

_BORDER = re.compile(r"[ \t\r\n!-/:-@\[-`{-~]")


def normalise(text: str) -> str:
    """Return the text cleaned, ideographs spaced out, accents off, in lower case."""
    if text.isascii():
        return _DROP.sub("", text).lower()
    spaced = _SPACE_OUT.sub(r" \1 ", _DROP.sub("", text))
    bare = _DROP.sub("", unicodedata.normalize("NFD", spaced))
    # The reference lowers letter by letter, so a sigma at a word's end stays an ordinary one.
    return bare.replace("Σ", "σ").lower()


def pieces(text: str) -> list[str]:
    """Return a normalised text's words and punctuation marks."""
    return _PIECE.findall(text)


def _parts(text: str) -> Iterator[str]:
    """Yield a text in parts small enough to be split at once, cut where no word is."""
    start = 0
    while start < len(text):
        end = start + PART
        if end < len(text):
            border = _BORDER.search(text, end, end + PART)
            end = border.end() if border else end + PART
        part = text[start:end]
        yield _FALSE_BLANKS.sub("", part) if _FALSE_BLANKS.search(part) else part
        start = end


class _Words(dict[str, tuple[int, ...]]):
    """Words with their ids; one not seen before is worked out on the way."""

    def __init__(self, tokenizer: WordPiece) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> tuple[int, ...]:
        ids = self._tokenizer.word_ids(word)
        if len(word) <= CACHED_LENGTH:
            if len(self) >= CACHED_WORDS:
                self.clear()
            self[word] = ids
        return ids


class WordPiece:
    """Turns text into the ids of a vocabulary; safe to share between threads."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._ids = {token: number for number, token in enumerate(vocabulary)}
        try:
            self.pad, self.unknown, self.first, self.last = (
                self._ids[name] for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
            )
        except KeyError as missing:
            raise ConfigError(
                f"The vocabulary has no {missing.args[0]} token.", hint="install ragstone again"
            ) from None
        self._continued = frozenset(number for token, number in self._ids.items() if token.startswith("##"))
        self._longest = max(map(len, self._ids))
        self._words = _Words(self)

    @classmethod
    def from_file(cls, path: Path) -> WordPiece:
        """Return a tokenizer with the vocabulary of a file, one token a line."""
        try:
            return cls(path.read_text(encoding="utf-8").splitlines())
        except OSError as error:
            raise ConfigError(
                f"The vocabulary {path.name} cannot be read: {error.strerror}.", hint="install ragstone again"
            ) from error

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without the markers at its ends."""
        return list(chain.from_iterable(self.words(text)))

    def count(self, text: str) -> int:
        """Return how many ids a text has, without the markers at its ends."""
        return sum(map(len, self.words(text)))

    def words(self, text: str) -> Iterator[tuple[int, ...]]:
        """Yield the ids of each blank-separated word; of a huge text only a part is held at a time."""
        known = self._words.__getitem__
        return chain.from_iterable(map(known, part.split()) for part in _parts(text))

    def windows(self, text: str, size: int) -> Iterator[list[int]]:
        """Yield the ids in windows of about equal length, at most `size`, cut between words where there are any."""
        ids = self.encode(text) if len(text) <= PART else []
        total = len(ids) or self.count(text)
        if total == len(ids) <= size:
            if ids:
                yield ids
            return
        number = -(-total // size)
        # Words rarely end where a window does; the slack keeps what is left over from becoming a tiny last window.
        even = min(size, -(-total // max(1, number)) + WINDOW_SLACK)
        window: list[int] = []
        for word in self.words(text):
            for part in self._cut(word, even) if len(word) > even else (word,):
                if len(window) + len(part) > even:
                    yield window
                    window = []
                window.extend(part)
        if window:
            yield window

    def word_ids(self, word: str) -> tuple[int, ...]:
        """Return the ids of one blank-separated word, worked out afresh."""
        return tuple(chain.from_iterable(map(self._longest_first, pieces(normalise(word)))))

    def _longest_first(self, piece: str) -> list[int]:
        """Return the ids of the longest known beginnings, taken one after the other; unknown if one is missing."""
        if len(piece) > LONGEST_WORD:
            return [self.unknown]
        ids: list[int] = []
        start, prefix = 0, ""
        while start < len(piece):
            for end in range(min(len(piece), start + self._longest), start, -1):
                known = self._ids.get(prefix + piece[start:end])
                if known is not None:
                    break
            else:
                return [self.unknown]
            ids.append(known)
            start, prefix = end, "##"
        return ids

    def _cut(self, word: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
        """Yield a word in parts of at most `size`, cut before a piece that continues nothing where possible."""
        start = 0
        while len(word) - start > size:
            end = start + size
            while end > start and word[end] in self._continued:
                end -= 1
            end = end if end > start else start + size
            yield word[start:end]
            start = end
        yield word[start:]
