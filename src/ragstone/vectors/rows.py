"""A vector as the store keeps it: bytes of one row, in one of four codecs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ConfigError, StoreError
from ragstone.protocols import Codec
from ragstone.vectors.codebook import Codebook, padded_dimension
from ragstone.vectors.turboquant import TurboQuantizer
from ragstone.vectors.unit import PIECE, products, shaped, unit_rows

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

LENGTH_SLACK = 0.25  # four bits a number do not keep the length exactly
LARGEST_OF_TEN = np.float32(511)
_PLACES = np.array([[0], [2], [4], [6]], np.uint8)
_MASKS = np.uint8(3) << _PLACES


class ScaledCodec(ABC):
    """Whole numbers and a scale for each row; a row's layout names the scale first."""

    name = ""

    def __init__(self, dimension: int, numbers: list[tuple[str, str, tuple[int]]]) -> None:
        """Fix the layout of a row: the scale, and these fields of numbers."""
        self.dimension = dimension
        self._layout = np.dtype([("scale", "<f4"), *numbers])
        self.row_bytes = self._layout.itemsize

    def encode(self, matrix: Matrix) -> list[bytes]:
        """Return one row of bytes per vector; vectors are brought to length one."""
        whole = shaped(matrix, self.dimension)
        pieces = [self._encoded(unit_rows(whole[at : at + PIECE])) for at in range(0, len(whole), PIECE)]
        return [row for piece in pieces for row in piece]

    def decode(self, rows: Sequence[bytes]) -> Matrix:
        """Return the vectors of these rows, or raise `StoreError` where one is damaged."""
        table = _table(rows, self._layout)
        matrix = np.empty((len(table), self.dimension), np.float32)
        for at in range(0, len(table), PIECE):
            matrix[at : at + PIECE] = self._numbers(table[at : at + PIECE])
            matrix[at : at + PIECE] *= table["scale"][at : at + PIECE, None]
        return matrix

    def sound(self, rows: Sequence[bytes]) -> list[bool]:
        """Return for each row whether it is a vector: the right length, and numbers."""
        return _sound(self, rows)

    @abstractmethod
    def scores(self, query: Matrix, rows: Sequence[bytes]) -> Matrix:
        """Return the inner product of a query with every row."""

    @abstractmethod
    def _encoded(self, unit: Matrix) -> list[bytes]:
        """Return rows of a piece of unit vectors."""

    @abstractmethod
    def _numbers(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return the whole numbers of every row."""


class EvenCodec(ScaledCodec):
    """Whole numbers in even steps."""

    number = "<i2"

    def __init__(self, dimension: int) -> None:
        """Fix the layout of a row."""
        super().__init__(dimension, [("row", self.number, (dimension,))])
        self._largest = np.float32(np.iinfo(self.number).max)

    def _encoded(self, unit: Matrix) -> list[bytes]:
        largest = np.maximum(unit.max(axis=1), -unit.min(axis=1))
        rows = np.empty(len(unit), self._layout)
        rows["scale"] = largest / self._largest
        factor = self._largest / np.where(largest > 0, largest, 1)
        rows["row"] = np.rint(unit * factor[:, None])
        return _cut(rows)

    def scores(self, query: Matrix, rows: Sequence[bytes]) -> Matrix:
        """Return the inner product of a query with every row, scaled once per row instead of once per number."""
        table = _table(rows, self._layout)
        scores = products(table["row"].astype(np.float32), query.reshape(-1))
        scores *= table["scale"]
        return scores

    def _numbers(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return the whole numbers of every row."""
        numbers: NDArray[Any] = table["row"]
        return numbers


class Int16Codec(EvenCodec):
    """Sixteen bits a coordinate: indistinguishable from float32 in search, at half its size."""

    name = "int16"


class Int10Codec(ScaledCodec):
    """Ten bits a coordinate, five eighths of int16: the upper eight of each, then the lower two, four to a byte.

    The scale brings what was rounded to length one again, so that a score is a cosine and nobody has to look.
    """

    name = "int10"

    def __init__(self, dimension: int) -> None:
        """Fix the layout of a row."""
        self._quarter = -(-dimension // 4)
        super().__init__(dimension, [("upper", "i1", (dimension,)), ("lower", "u1", (self._quarter,))])
        # What upper bits count for, and lower ones where they stand in their byte.
        lower = np.repeat(np.array([1, 1 / 4, 1 / 16, 1 / 64], np.float32), self._quarter)
        lower[dimension:] = 0
        self._weights = np.concatenate([np.full(dimension, 4, np.float32), lower])
        self._places = np.concatenate([np.arange(dimension), np.arange(4 * self._quarter) % dimension])

    def _encoded(self, unit: Matrix) -> list[bytes]:
        steps = np.abs(unit)
        largest = steps.max(axis=1)
        np.multiply(unit, (LARGEST_OF_TEN / np.where(largest > 0, largest, 1))[:, None], out=steps)
        np.rint(steps, out=steps)
        squares = np.vecdot(steps, steps)
        numbers = steps.astype(np.int16)
        rows = np.empty(len(unit), self._layout)
        rows["scale"] = 1 / np.sqrt(np.where(squares > 0, squares, 1))
        rows["upper"] = numbers >> 2
        rows["lower"] = self._lower(numbers)
        return _cut(rows)

    def _lower(self, numbers: NDArray[np.int16]) -> NDArray[np.uint8]:
        """Return the lower two bits of whole numbers, four to a byte."""
        bits = np.zeros((len(numbers), 4 * self._quarter), np.uint8)
        np.bitwise_and(numbers, 3, out=bits[:, : self.dimension], casting="unsafe")
        # Nothing is shifted out of a byte, so that eight of them may as well be shifted at once.
        wide: NDArray[Any] = bits.view(np.uint64 if self._quarter % 8 == 0 else np.uint8)
        first, second, third, fourth = wide.reshape(len(numbers), 4, -1).transpose(1, 0, 2)
        packed: NDArray[np.uint8] = (first | second << 2 | third << 4 | fourth << 6).view(np.uint8)
        return packed

    def scores(self, query: Matrix, rows: Sequence[bytes]) -> Matrix:
        """Return the inner product of a query with every row; upper and lower bits are not put together for it."""
        table = _table(rows, self._layout)
        asked = query.reshape(-1).take(self._places)
        asked *= self._weights
        numbers = np.empty((len(table), len(asked)), np.float32)
        numbers[:, : self.dimension] = table["upper"]
        lower = numbers[:, self.dimension :].reshape(len(table), 4, self._quarter)
        np.bitwise_and(table["lower"][:, None, :], _MASKS, out=lower, casting="unsafe")
        scores = products(numbers, asked)
        scores *= table["scale"]
        return scores

    def _numbers(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return the ten bits of every coordinate put together again."""
        numbers = np.zeros((len(table), 4 * self._quarter), np.int16)
        numbers[:, : self.dimension] = table["upper"]
        numbers <<= 2
        lower = (table["lower"][:, None, :] >> _PLACES) & np.uint8(3)
        numbers |= lower.reshape(len(table), 4 * self._quarter)
        return numbers[:, : self.dimension]


class Int8Codec(EvenCodec):
    """Eight bits a coordinate: a quarter of float32; of the true ten nearest about one in a hundred is missed."""

    name = "int8"
    number = "<i1"


class CompactCodec:
    """Four bits a coordinate by TurboQuant, an eighth of float32; costs some recall (0.93-0.95 at 10)."""

    name = "compact"

    def __init__(self, dimension: int) -> None:
        """Fix the layout of a row."""
        self.dimension = dimension
        self._quantizer = TurboQuantizer(bits=4, outlier_ratio=0.0)
        self._layout = np.dtype([("scale", "<f4"), ("codes", "u1", (padded_dimension(dimension) // 2,))])
        self.row_bytes = self._layout.itemsize

    def encode(self, matrix: Matrix) -> list[bytes]:
        """Return one row of bytes per vector; vectors are brought to length one."""
        codebook = self._quantizer.compress(unit_rows(matrix, self.dimension))
        rows = np.empty(len(codebook), self._layout)
        rows["scale"] = codebook.scales
        rows["codes"] = codebook.codes
        return _cut(rows)

    def decode(self, rows: Sequence[bytes]) -> Matrix:
        """Return the vectors of these rows, or raise `StoreError` where one is damaged."""
        return self._quantizer.decompress(self._codebook(rows))

    def sound(self, rows: Sequence[bytes]) -> list[bool]:
        """Return for each row whether it is a vector: the right length, and numbers."""
        return _sound(self, rows)

    def scores(self, query: Matrix, rows: Sequence[bytes]) -> Matrix:
        """Return the inner product of a query with every row, without rotating the rows back."""
        return self._quantizer.inner_product(query.reshape(-1), self._codebook(rows))

    def _codebook(self, rows: Sequence[bytes]) -> Codebook:
        table = _table(rows, self._layout)
        none = np.empty(0, np.float32)
        return Codebook(
            bits=4,
            mode="mse",
            dimension=self.dimension,
            seed=self._quantizer.seed,
            scales=table["scale"],
            codes=table["codes"],
            outlier_channels=np.empty(0, np.uint32),
            outlier_scales=none,
            outlier_values=np.empty((len(table), 0), np.int8),
            residual_lengths=none,
            residual_signs=np.empty((0, 0), np.uint8),
        )


CODECS: Mapping[str, Callable[[int], Codec]] = {
    "int10": Int10Codec,
    "int16": Int16Codec,
    "int8": Int8Codec,
    "compact": CompactCodec,
}


def codec(name: str, dimension: int) -> Codec:
    """Return the codec of that name, or raise `ConfigError` with the names there are."""
    if name not in CODECS:
        raise ConfigError(f"There is no vector storage {name!r}.", hint=f"use one of: {', '.join(CODECS)}")
    if dimension < 1:
        raise ConfigError(f"A vector has at least one number, not {dimension}.")
    return CODECS[name](dimension)


def read_rows(codec: Codec, rows: Sequence[bytes]) -> tuple[list[bool], Matrix]:
    """Return for each row whether it is a vector (the right length, and numbers), and the vectors of those that are."""
    whole = [len(row) == codec.row_bytes for row in rows]
    matrix = codec.decode(rows if all(whole) else [row for row, good in zip(rows, whole, strict=True) if good])
    with np.errstate(all="ignore"):  # what is no number is what is looked for
        near_one = np.abs(np.sqrt(np.vecdot(matrix, matrix)) - 1.0) < LENGTH_SLACK
    if near_one.all():
        return whole, matrix
    sound = iter(near_one.tolist())
    return [good and next(sound) for good in whole], matrix[near_one]


def _sound(codec: Codec, rows: Sequence[bytes]) -> list[bool]:
    """Return which rows have the right length and decode to a vector of about length one."""
    return read_rows(codec, rows)[0]


def _cut(table: NDArray[Any]) -> list[bytes]:
    """Return the bytes of every row of a table."""
    rows: list[bytes] = table.view(f"V{table.itemsize}").tolist()
    return rows


def _table(rows: Sequence[bytes], layout: np.dtype[Any]) -> NDArray[Any]:
    """Return the rows as one structured array, or raise `StoreError` where one has the wrong length."""
    size = layout.itemsize
    data = b"".join(rows)
    if wrongs := set(map(len, rows)) - {size}:
        wrong = min(wrongs)
        raise StoreError(
            f"A stored vector is damaged: it has {wrong} bytes instead of {size}.", hint="embed the collection again"
        )
    return np.frombuffer(data, layout)
