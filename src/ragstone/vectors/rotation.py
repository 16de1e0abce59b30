"""A random rotation that is quick both ways: sign flips and Hadamard blocks, from a seed alone."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

# Multiplications that BLAS does in the calling thread: its own wait for each other by spinning. In pieces of this size
# a rotation took as long and a third less of the processor; with both cores busy it had been 7 of a build's 10 s.
ALONE = 2**18
LARGEST_BLOCK = 256  # beyond it one dense block costs more than a second round over smaller ones


class Rotation:
    """Spreads every coordinate over all others; padded to a multiple of `unit` where the dimension is odd.

    Sign flips come from SHAKE-256, not from NumPy's generators, whose streams may change between releases
    while stored rows must stay readable.
    """

    def __init__(self, dimension: int, *, seed: int, unit: int = 64, largest_block: int = LARGEST_BLOCK) -> None:
        """Work out signs and blocks; smaller blocks are quicker and mix less thoroughly."""
        self.dimension = dimension
        self.padded = -(-dimension // unit) * unit
        self.block = min(largest_block, self.padded & -self.padded)
        self.blocks = self.padded // self.block
        rounds = 1 if self.blocks == 1 else 2
        self._signs = [_signs(f"ragstone:{seed}:{self.padded}:{turn}", self.padded) for turn in range(rounds)]
        self._hadamard = _hadamard(self.block)

    def apply(self, matrix: Matrix) -> Matrix:
        """Return the rows rotated, `padded` wide."""
        rows = len(matrix)
        if self.padded > self.dimension:
            matrix = np.pad(matrix, ((0, 0), (0, self.padded - self.dimension)))
        out = self._mixed(matrix * self._signs[0])
        for signs in self._signs[1:]:
            woven = out.reshape(rows, self.blocks, self.block).transpose(0, 2, 1).reshape(rows, self.padded)
            out = self._mixed(woven * signs)
        return out

    def revert(self, matrix: Matrix) -> Matrix:
        """Return the rows turned back, `dimension` wide."""
        rows = len(matrix)
        out = self._mixed(matrix)
        for signs in self._signs[:0:-1]:
            woven = (out * signs).reshape(rows, self.block, self.blocks).transpose(0, 2, 1)
            out = self._mixed(woven.reshape(rows, self.padded))
        return (out * self._signs[0])[:, : self.dimension]

    def _mixed(self, matrix: Matrix) -> Matrix:
        """Return the rows with every block mixed in itself; done twice, it is undone."""
        flat = matrix.reshape(-1, self.block)
        few = max(1, ALONE // self.block**2)
        if len(flat) <= few:
            return (flat @ self._hadamard).reshape(len(matrix), self.padded)
        mixed = np.empty(flat.shape, np.float32)
        whole = len(flat) - len(flat) % few
        pieces = (-1, few, self.block)
        np.matmul(flat[:whole].reshape(pieces), self._hadamard, out=mixed[:whole].reshape(pieces))
        np.matmul(flat[whole:], self._hadamard, out=mixed[whole:])
        return mixed.reshape(len(matrix), self.padded)


def _signs(label: str, count: int) -> Matrix:
    """Return +1 and -1, the same for the same label for ever."""
    bits = np.unpackbits(np.frombuffer(hashlib.shake_256(label.encode()).digest(-(-count // 8)), np.uint8))[:count]
    signs: Matrix = bits.astype(np.float32) * 2 - 1
    return signs


@lru_cache(maxsize=8)
def _hadamard(size: int) -> Matrix:
    """Return the symmetric orthogonal Hadamard matrix of a power of two."""
    matrix = np.ones((1, 1), np.float32)
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    scaled: Matrix = np.ascontiguousarray(matrix / np.sqrt(np.float32(size)))
    return scaled
