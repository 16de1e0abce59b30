"""Codecs that keep a vector as whole numbers and one scale."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.types import Matrix
from ragstone.vectors.codecs.row_codec import RowCodec, Table
from ragstone.vectors.normalise import nonzero, products, unit_rows

LARGEST_INT10 = np.float32(511)
_SHIFTS = np.array([[0], [2], [4], [6]], np.uint8)


class IntegerCodec(RowCodec, ABC):
    """A codec whose rows decode to whole numbers times their scale."""

    def encode(self, matrix: Matrix) -> list[bytes]:
        """Return one row of bytes per vector; vectors are scaled to length one."""
        unit = unit_rows(matrix, self.dimension)
        return self._to_rows(self._encode_unit(unit))

    def decode(self, rows: Sequence[bytes]) -> Matrix:
        """Return the vectors of these rows; raise `StoreError` if one has the wrong length."""
        table = self._to_table(rows)
        matrix = self._numbers(table).astype(np.float32)
        matrix *= table["scale"][:, None]
        return matrix

    def scores(self, query: Matrix, rows: Sequence[bytes]) -> Matrix:
        """Return the inner product of a query with every row; each is scaled once instead of each number."""
        table = self._to_table(rows)
        numbers = self._numbers(table).astype(np.float32)
        scores = products(numbers, query.reshape(-1))
        scores *= table["scale"]
        return scores

    @abstractmethod
    def _encode_unit(self, unit: Matrix) -> Table:
        """Return the rows of unit vectors."""

    @abstractmethod
    def _numbers(self, table: Table) -> NDArray[np.int16]:
        """Return the whole numbers of every row."""


class Int10Codec(IntegerCodec):
    """Ten bits a number: the upper eight of each, then the lower two, four to a byte.

    The scale brings the rounded vector to length one, so that a score is a cosine.
    """

    name = "int10"

    def __init__(self, dimension: int) -> None:
        """Fix the layout of a row."""
        self._quarter = -(-dimension // 4)
        upper = ("upper", "i1", (dimension,))
        lower = ("lower", "u1", (self._quarter,))
        super().__init__(dimension, [upper, lower])

    def _encode_unit(self, unit: Matrix) -> Table:
        steps = _round_to(unit, LARGEST_INT10)
        squares = np.vecdot(steps, steps)
        numbers = steps.astype(np.int16)
        table = np.empty(len(unit), self._layout)
        table["scale"] = 1 / np.sqrt(nonzero(squares))
        table["upper"] = numbers >> 2
        table["lower"] = self._pack_lower(numbers)
        return table

    def _pack_lower(self, numbers: NDArray[np.int16]) -> NDArray[np.uint8]:
        """Return the lower two bits of every number: byte n holds those of the numbers n, q + n, 2q + n and 3q + n."""
        bits = np.zeros((len(numbers), 4 * self._quarter), np.uint8)
        bits[:, : self.dimension] = numbers & 3
        quarters = bits.reshape(len(numbers), 4, self._quarter)
        packed: NDArray[np.uint8] = np.bitwise_or.reduce(quarters << _SHIFTS, axis=1)
        return packed

    def _numbers(self, table: Table) -> NDArray[np.int16]:
        packed = table["lower"][:, None, :]
        quarters = (packed >> _SHIFTS) & np.uint8(3)
        lower = quarters.reshape(len(table), 4 * self._quarter)
        upper = table["upper"].astype(np.int16) << 2
        numbers: NDArray[np.int16] = upper | lower[:, : self.dimension]
        return numbers


class EvenCodec(IntegerCodec):
    """Whole numbers of 8 or 16 bits. Version 0.1 offered these as settings; its vectors are still read."""

    def __init__(self, dimension: int, *, bits: int) -> None:
        """Fix the layout of a row."""
        self.name = f"int{bits}"
        super().__init__(dimension, [("row", f"<i{bits // 8}", (dimension,))])
        self._largest = np.float32(2 ** (bits - 1) - 1)

    def _encode_unit(self, unit: Matrix) -> Table:
        table = np.empty(len(unit), self._layout)
        table["scale"] = _largest(unit) / self._largest
        table["row"] = _round_to(unit, self._largest)
        return table

    def _numbers(self, table: Table) -> NDArray[np.int16]:
        numbers: NDArray[np.int16] = table["row"]
        return numbers


def _largest(unit: Matrix) -> Matrix:
    """Return the largest absolute number of every row."""
    largest: Matrix = np.abs(unit).max(axis=1, initial=0.0)
    return largest


def _round_to(unit: Matrix, limit: np.float32) -> Matrix:
    """Return the rows scaled so that the largest number is `limit`, and rounded."""
    factors = limit / nonzero(_largest(unit))
    return np.rint(unit * factors[:, None])
