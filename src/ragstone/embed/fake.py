"""An embedder without a model, for tests and dry runs: it hashes words. Texts that share words are near."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.config import Settings
from ragstone.embed.argument_checks import check_texts
from ragstone.protocols import Progress
from ragstone.types import Role, Space

Vectors: TypeAlias = NDArray[np.float32]

DIMENSION = 128
PLACES = 4
"""Each word adds to this many numbers, so that two words seldom look the same."""
_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """Embeds by hashing words: 128 numbers of unit length, the same on every machine and in every process."""

    space = Space(
        embedder="fake", model="hashed-words", dimension=DIMENSION, normalised=True, version="1"
    )
    max_tokens = 8192

    def embed(
        self, texts: Sequence[str], role: Role = "document", *, progress: Progress | None = None
    ) -> Vectors:
        """Return one unit row per text, in order."""
        check_texts(texts, role)
        rows = np.zeros((len(texts), DIMENSION), np.float32)
        for number, text in enumerate(texts):
            rows[number] = _vector(text)
            if progress is not None:
                progress("embed", number + 1, len(texts))
        return rows

    def count_tokens(self, text: str) -> int:
        """Return the number of words."""
        return sum(1 for _ in _WORD.finditer(text))


def configured(settings: Settings) -> FakeEmbedder:
    """Return the embedder; it has no settings."""
    return FakeEmbedder()


def _vector(text: str) -> Vectors:
    sums = [0.0] * DIMENSION
    for word, count in Counter(_WORD.findall(text.casefold())).items():
        weight = count**0.5  # repeated words count more, but less than in proportion
        for place, sign in _places(word):
            sums[place] += sign * weight
    vector = np.array(sums, np.float32)
    length = np.linalg.norm(vector)
    if length == 0:  # no words, or words that cancel out
        vector[0] = length = np.float32(1)
    return np.asarray(vector / length, dtype=np.float32)


@lru_cache(maxsize=65_536)
def _places(word: str) -> tuple[tuple[int, int], ...]:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=2 * PLACES).digest()
    places = [byte % DIMENSION for byte in digest[::2]]
    signs = [byte % 2 * 2 - 1 for byte in digest[1::2]]  # 1 or -1
    return tuple(zip(places, signs, strict=True))
