"""Codecs of rows. A row has a fixed layout: a scale and some fields of whole numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ConfigError, StoreError
from ragstone.protocols import Codec
from ragstone.types import Matrix
from ragstone.vectors.codecs.codebook import Codebook, padded_dimension
from ragstone.vectors.codecs.turboquant import TurboQuantizer
from ragstone.vectors.normalise import nonzero, products, unit_rows

LENGTH_SLACK = 0.25
"""How far the length of a decoded vector may be from one: four bits a number do not keep it exactly."""

Table = NDArray[np.void]
"""Rows as a structured array."""


class RowCodec:
    """The base of all codecs: converts rows of bytes to a structured array and back."""

    name = ""

    def __init__(self, dimension: int, fields: list[tuple[str, str, tuple[int]]]) -> None:
        """Fix the layout of a row: the scale, then these fields."""
        self.dimension = dimension
        self._layout = np.dtype([("scale", "<f4"), *fields])
        self.row_bytes = self._layout.itemsize

    def decode(self, rows: Sequence[bytes]) -> Matrix:
        """Return the vectors of these rows; raise `StoreError` if one has the wrong length."""
        raise NotImplementedError

    def sound(self, rows: Sequence[bytes]) -> list[bool]:
        """Return for each row whether it is a vector: the right length, and numbers."""
        return read_rows(self, rows)[0]

    def _to_table(self, rows: Sequence[bytes]) -> Table:
        """Return the rows as one structured array; raise `StoreError` if one has the wrong length."""
        for row in rows:
            if len(row) != self.row_bytes:
                raise StoreError(
                    f"A stored vector is damaged: it has {len(row)} bytes instead of {self.row_bytes}.",
                    hint="embed the collection again",
                )
        return np.frombuffer(b"".join(rows), self._layout)

    def _to_rows(self, table: Table) -> list[bytes]:
        """Return the bytes of every row of a structured array."""
        rows: list[bytes] = table.view(f"V{self.row_bytes}").tolist()
        return rows


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


class CompactCodec(RowCodec):
    """Four bits a number, an eighth of float32; it costs some recall (0.93-0.95 at 10)."""

    name = "compact"

    def __init__(self, dimension: int) -> None:
        """Fix the layout of a row."""
        super().__init__(dimension, [("codes", "u1", (padded_dimension(dimension) // 2,))])
        self._quantizer = TurboQuantizer(bits=4, outlier_ratio=0.0)

    def encode(self, matrix: Matrix) -> list[bytes]:
        """Return one row of bytes per vector; vectors are scaled to length one."""
        codebook = self._quantizer.compress(unit_rows(matrix, self.dimension))
        table = np.empty(len(codebook), self._layout)
        table["scale"] = codebook.scales
        table["codes"] = codebook.codes
        return self._to_rows(table)

    def decode(self, rows: Sequence[bytes]) -> Matrix:
        """Return the vectors of these rows; raise `StoreError` if one has the wrong length."""
        return self._quantizer.decompress(self._codebook(rows))

    def scores(self, query: Matrix, rows: Sequence[bytes]) -> Matrix:
        """Return the inner product of a query with every row, without rotating the rows back."""
        return self._quantizer.inner_product(query.reshape(-1), self._codebook(rows))

    def _codebook(self, rows: Sequence[bytes]) -> Codebook:
        table = self._to_table(rows)
        return Codebook.without_outliers(
            bits=4,
            dimension=self.dimension,
            seed=self._quantizer.seed,
            scales=table["scale"],
            codes=table["codes"],
        )


CODECS: Mapping[str, Callable[[int], Codec]] = {
    "int10": Int10Codec,
    "compact": CompactCodec,
    "int16": partial(EvenCodec, bits=16),
    "int8": partial(EvenCodec, bits=8),
}
"""`int16` and `int8` are no longer offered as settings; vectors of version 0.1 may be stored in them."""


def codec(name: str, dimension: int) -> Codec:
    """Return the codec of that name; raise `ConfigError` if there is none."""
    if name not in CODECS:
        raise ConfigError(
            f"There is no vector storage {name!r}.", hint=f"use one of: {', '.join(CODECS)}"
        )
    if dimension < 1:
        raise ConfigError(f"A vector has at least one number, not {dimension}.")
    return CODECS[name](dimension)


def read_rows(codec: Codec | RowCodec, rows: Sequence[bytes]) -> tuple[list[bool], Matrix]:
    """Return for each row whether it is a vector (the right length, and numbers), and the vectors of those that are."""
    has_length = [len(row) == codec.row_bytes for row in rows]
    matrix = codec.decode(list(compress(rows, has_length)))
    with np.errstate(all="ignore"):  # a damaged row may hold numbers that overflow
        lengths = np.sqrt(np.vecdot(matrix, matrix))
        is_unit = np.abs(lengths - 1.0) < LENGTH_SLACK
    sound = np.array(has_length, np.bool_)
    sound[sound] = is_unit
    return sound.tolist(), matrix[is_unit]
