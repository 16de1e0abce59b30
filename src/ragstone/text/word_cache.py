"""A cache for the results of analysing words: most of a corpus is the same words again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Word = TypeVar("Word", bound="str | bytes")
Result = TypeVar("Result")

MAX_WORDS = 1 << 16
MAX_LENGTH = 64


class WordCache(dict[Word, Result]):
    """Results of a function by word: `cache[word]` computes a missing one.

    It is emptied when it is full, and long words are not kept. It is a dictionary because `map(cache.__getitem__, ...)`
    takes a fifth of the time of a function call for each word (207,000 words), and indexing does that for every word.
    """

    def __init__(self, compute: Callable[[Word], Result]) -> None:
        """Create an empty cache of a function."""
        super().__init__()
        self._compute = compute

    def __missing__(self, word: Word) -> Result:
        """Return the result for a word that is not in the cache."""
        result = self._compute(word)
        if len(word) <= MAX_LENGTH:
            if len(self) >= MAX_WORDS:
                self.clear()
            self[word] = result
        return result
