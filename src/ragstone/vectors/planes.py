"""What the turbo index keeps of a vector, and how a query meets it.

Two planes of the rotated vector: its signs around the centre of the data (one bit a coordinate, scanned whole) and
its coordinates in sixteen even steps (four bits, read only for what the scan let through).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.rotation import Rotation
from ragstone.vectors.unit import products

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

SEED = 71
BLOCK = 32  # mixed in one go, twice: as good as blocks of 128 (recall@10 .983 and .975) in a third of the time
LARGE, LARGE_BLOCK = 1024, 64  # beyond so many coordinates two rounds of 32 would not reach most of them
STEP = np.float32(0.3352)  # the best even step for a Gaussian in sixteen levels (Max, 1960)
SLACK = 0.4  # by the root of the dimension: what a cosine by codes may be too low beside another (.0061 of 384, thrice)
PIECE = 256  # rows encoded at a time
# Of a query's coordinates the largest are asked, the others tell less than they disturb: among 100k mixtures of MiniLM
# vectors 800 slots held .980 of the nearest 10 when all were asked, .992 with .8, .994 with .7 and .6, .993 with .5.
# The answer as a whole, for the bench's 1,000 queries, 900 others of their kind and 300 of another field (whose nearest
# are far away): .991 .993 .792 with .65 through 1,000 slots, .992 .995 .800 with .5, .991 .993 .790 with .5 and 850.
ASKED = 0.5


@dataclass(frozen=True, slots=True)
class Question:
    """A query as the scan asks it: signs, which of them count, and how much each word of them tells."""

    rotated: Matrix
    words: NDArray[np.uint64]
    mask: NDArray[np.uint64]
    weight: Matrix


class Planes:
    """Turns vectors of one dimension into planes."""

    def __init__(self, dimension: int) -> None:
        """Fix the sizes."""
        self._rotation = Rotation(dimension, seed=SEED, largest_block=BLOCK if dimension <= LARGE else LARGE_BLOCK)
        self.width = self._rotation.padded
        self.words = self.width // 64
        self.code_bytes = self.width // 2
        self._root = np.float32(np.sqrt(self.width))
        self.slack = SLACK * self.width**0.5 / float(STEP)

    def rotate(self, unit: Matrix) -> Matrix:
        """Return unit vectors rotated and stretched, so that a coordinate has variance one."""
        rotated = self._rotation.apply(unit)
        rotated *= self._root
        return rotated

    def encode(self, unit: Matrix, centre: Matrix) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Return signs and codes of unit vectors, worked out in pieces that stay in the processor's cache."""
        words = np.empty((len(unit), self.words), np.uint64)
        codes = np.empty((len(unit), self.code_bytes), np.uint8)
        for first in range(0, len(unit), PIECE):
            rotated = self.rotate(unit[first : first + PIECE])
            words[first : first + PIECE] = _packed(rotated > centre)
            codes[first : first + PIECE] = self._codes(rotated)
        return words, codes

    def centre(self, total: NDArray[np.float64], count: int) -> Matrix:
        """Return the rotated mean of so many vectors with that sum."""
        rotated: Matrix = self.rotate((total / count).astype(np.float32)[None])[0]
        return rotated

    def question(self, query: Matrix) -> Question:
        """Return a unit query as the scan asks it.

        A vector is the centre and, along each coordinate, a step to one side of it: what it adds to the inner product
        has the sign of the query's own coordinate, whichever side of the centre the query is on.
        """
        rotated = self.rotate(query[None])[0]
        sizes = np.abs(rotated)
        unasked = int((1 - ASKED) * self.width)
        sides = np.empty((2, self.width), np.bool_)
        np.greater(rotated, 0, out=sides[0])
        np.greater_equal(sizes, np.partition(sizes, unasked)[unasked], out=sides[1])
        signs, mask = _packed(sides)
        return Question(rotated, signs, mask, np.vecdot(sizes.reshape(self.words, 64), sides[1].reshape(-1, 64)))

    def _codes(self, rotated: Matrix) -> NDArray[np.uint8]:
        """Return the coordinates in sixteen steps: first half in low nibbles, second half in high ones."""
        rotated *= np.float32(1) / STEP
        rotated += np.float32(8)
        steps = np.clip(rotated, 0, 15, out=rotated).astype(np.uint8).view(np.uint64)  # to shift eight bytes at once
        half = self.width // 16
        packed: NDArray[np.uint8] = (steps[:, :half] | (steps[:, half:] << np.uint64(4))).view(np.uint8)
        return packed

    def code_scores(self, rotated_query: Matrix, codes: NDArray[np.uint8]) -> Matrix:
        """Return numbers in the order of the inner products; what is the same for all rows is left out."""
        half = self.width // 2
        high = rotated_query[half:] * np.float32(1 / 16)
        # A byte is its low nibble and sixteen times its high one: taken whole for these, the low ones are set right.
        numbers = codes.astype(np.float32)
        scores = products(numbers, high)
        np.bitwise_and(codes, np.uint8(15), out=numbers, casting="unsafe")
        scores += products(numbers, rotated_query[:half] - high)
        return scores


def _packed(sides: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return rows of yes and no, 64 to a word."""
    return np.packbits(sides, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
