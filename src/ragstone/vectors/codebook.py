"""What TurboQuant leaves of a matrix, and its versioned, checksummed bytes."""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import InputError

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

Mode = Literal["mse", "prod"]

MAGIC = b"RGTQ"
VERSION = 1
_HEAD = struct.Struct("<4sHBBIIQQ")  # magic, version, bits, mode, dimension, outliers, rows, seed
_CRC = struct.Struct("<I")
_MODES: tuple[Mode, ...] = ("mse", "prod")


@dataclass(frozen=True, slots=True)
class Codebook:
    """A compressed matrix with all that is needed to read it back."""

    bits: int
    mode: Mode
    dimension: int
    seed: int
    scales: Matrix
    codes: NDArray[np.uint8]
    outlier_channels: NDArray[np.uint32]
    outlier_scales: Matrix
    outlier_values: NDArray[np.int8]
    residual_lengths: Matrix
    residual_signs: NDArray[np.uint8]

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self.scales)

    @property
    def code_bits(self) -> int:
        """Return how many bits a coordinate's level takes; `prod` spends one of its bits on the residual."""
        return self.bits - (self.mode == "prod")

    @property
    def nbytes(self) -> int:
        """Return how many bytes the arrays take."""
        return sum(array.nbytes for array in self._arrays())

    def rows(self, first: int, last: int) -> Codebook:
        """Return the part for some rows."""
        kept = [array if array is self.outlier_channels else array[first:last] for array in self._arrays()]
        return Codebook(self.bits, self.mode, self.dimension, self.seed, *kept)

    def _arrays(self) -> list[NDArray[Any]]:
        return [
            self.scales,
            self.codes,
            self.outlier_channels,
            self.outlier_scales,
            self.outlier_values,
            self.residual_lengths,
            self.residual_signs,
        ]

    def to_bytes(self) -> bytes:
        """Return the codebook as bytes that know their version and would show damage."""
        head = _HEAD.pack(
            MAGIC,
            VERSION,
            self.bits,
            _MODES.index(self.mode),
            self.dimension,
            len(self.outlier_channels),
            len(self),
            self.seed,
        )
        body = head + b"".join(_little_endian(array).tobytes() for array in self._arrays())
        return body + _CRC.pack(zlib.crc32(body))


def padded_dimension(dimension: int) -> int:
    """Return how many coordinates are coded: whole blocks of 16, a power of two below that."""
    return -(-dimension // 16) * 16 if dimension > 8 else 8


def from_bytes(data: bytes) -> Codebook:
    """Return the codebook these bytes hold, or raise `InputError` where they are damaged or of another version."""
    if len(data) < _HEAD.size + _CRC.size or data[:4] != MAGIC:
        raise InputError("These bytes are not a TurboQuant codebook.")
    _, version, bits, mode, dimension, outliers, rows, seed = _HEAD.unpack_from(data)
    if version != VERSION:
        raise InputError(
            f"This TurboQuant codebook has format {version}, this Ragstone reads {VERSION}.", hint="compress it again"
        )
    if zlib.crc32(data[: -_CRC.size]) != _CRC.unpack(data[-_CRC.size :])[0]:
        raise InputError("This TurboQuant codebook is damaged.", hint="compress it again")
    if not (1 <= bits <= 8 and mode < len(_MODES) and dimension):
        raise InputError("This TurboQuant codebook has settings that do not exist.")
    shapes = _shapes((bits, _MODES[mode], dimension, outliers, rows))
    expected = sum(dtype.itemsize * math.prod(shape) for dtype, shape in shapes)
    if len(data) != _HEAD.size + expected + _CRC.size:
        raise InputError("This TurboQuant codebook holds another number of vectors than it says.")
    arrays, at = [], _HEAD.size
    for dtype, shape in shapes:
        size = math.prod(shape)
        arrays.append(np.frombuffer(data, dtype, count=size, offset=at).reshape(shape))
        at += size * dtype.itemsize
    if outliers and int(arrays[2].max()) >= dimension:
        raise InputError("This TurboQuant codebook names channels that do not exist.")
    return Codebook(bits, _MODES[mode], dimension, seed, *arrays)


def _shapes(about: tuple[int, Mode, int, int, int]) -> list[tuple[np.dtype[Any], tuple[int, ...]]]:
    """Return type and shape of every array, in the order they are written."""
    bits, mode, dimension, outliers, rows = about
    padded = padded_dimension(dimension)
    residual = rows if mode == "prod" else 0
    coded = padded * (bits - (mode == "prod")) // 8
    return [
        (np.dtype("<f4"), (rows,)),
        (np.dtype("u1"), (rows, coded)),
        (np.dtype("<u4"), (outliers,)),
        (np.dtype("<f4"), (rows if outliers else 0,)),
        (np.dtype("i1"), (rows, outliers)),
        (np.dtype("<f4"), (residual,)),
        (np.dtype("u1"), (residual, padded // 8)),
    ]


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
