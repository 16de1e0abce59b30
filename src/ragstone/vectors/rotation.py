"""A random rotation that is fast in both directions: sign flips and Hadamard blocks, determined by a seed."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

from ragstone.types import Matrix

MAX_PRODUCT = 2**18
"""Multiplications that BLAS does in the calling thread. Its own threads wait for each other by spinning: with both
cores busy larger products took 7 of the 10 seconds of a build."""
LARGEST_BLOCK = 256
"""Above that one dense block costs more than a second round over smaller ones."""


class Rotation:
    """Spreads every coordinate over all others; vectors are padded to a multiple of `unit`.

    Sign flips come from SHAKE-256, because the streams of NumPy's generators may change between releases, and stored
    rows must stay readable.
    """

    def __init__(
        self, dimension: int, *, seed: int, unit: int = 64, largest_block: int = LARGEST_BLOCK
    ) -> None:
        """Compute signs and blocks; smaller blocks are faster and mix less thoroughly."""
        self.dimension = dimension
        self.padded = -(-dimension // unit) * unit
        self.block = min(largest_block, self.padded & -self.padded)
        self.blocks = self.padded // self.block
        rounds = 2
        if self.blocks == 1:
            rounds = 1
        labels = [f"ragstone:{seed}:{self.padded}:{number}" for number in range(rounds)]
        self._signs = [_signs(label, self.padded) for label in labels]
        self._hadamard = _hadamard(self.block)

    def apply(self, matrix: Matrix) -> Matrix:
        """Return the rows rotated, `padded` wide."""
        first_signs, *further_signs = self._signs
        padding = self.padded - self.dimension
        padded = np.pad(matrix, ((0, 0), (0, padding)))
        rotated = self._mix_blocks(padded * first_signs)
        for signs in further_signs:
            shuffled = _transpose(rotated, self.blocks, self.block)
            rotated = self._mix_blocks(shuffled * signs)
        return rotated

    def revert(self, matrix: Matrix) -> Matrix:
        """Return the rows rotated back, `dimension` wide."""
        first_signs, *further_signs = self._signs
        mixed = self._mix_blocks(matrix)
        for signs in reversed(further_signs):
            shuffled = _transpose(mixed * signs, self.block, self.blocks)
            mixed = self._mix_blocks(shuffled)
        restored = mixed * first_signs
        return restored[:, : self.dimension]

    def _mix_blocks(self, matrix: Matrix) -> Matrix:
        """Return the rows with every block multiplied by the Hadamard matrix; doing it twice undoes it."""
        blocks = matrix.reshape(-1, self.block)
        mixed = np.empty(blocks.shape, np.float32)
        at_once = max(1, MAX_PRODUCT // self.block**2)
        for start in range(0, len(blocks), at_once):
            end = start + at_once
            np.matmul(blocks[start:end], self._hadamard, out=mixed[start:end])
        return mixed.reshape(len(matrix), self.padded)


def _transpose(matrix: Matrix, rows: int, columns: int) -> Matrix:
    """Return the matrix with every row read as a small matrix and transposed."""
    tables = matrix.reshape(len(matrix), rows, columns)
    return tables.transpose(0, 2, 1).reshape(matrix.shape)


def _signs(label: str, count: int) -> Matrix:
    """Return +1 and -1, always the same for the same label."""
    size = -(-count // 8)
    digest = hashlib.shake_256(label.encode()).digest(size)
    bits = np.unpackbits(np.frombuffer(digest, np.uint8))
    signs: Matrix = bits[:count].astype(np.float32) * 2 - 1
    return signs


@lru_cache(maxsize=8)
def _hadamard(size: int) -> Matrix:
    """Return the symmetric orthogonal Hadamard matrix of a power of two."""
    matrix = np.ones((1, 1), np.float32)
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    scaled: Matrix = np.ascontiguousarray(matrix / np.sqrt(np.float32(size)))
    return scaled
