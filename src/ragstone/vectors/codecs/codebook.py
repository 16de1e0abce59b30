"""A matrix compressed by TurboQuant, and its versioned, checksummed bytes."""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import InputError
from ragstone.types import Matrix
from ragstone.vectors.normalise import Array

Mode = Literal["mse", "prod"]

MAGIC = b"RGTQ"
VERSION = 1
_HEAD = struct.Struct(
    "<4sHBBIIQQ"
)  # magic, version, bits, mode, dimension, outliers, rows, seed
_CRC = struct.Struct("<I")
_MODES: tuple[Mode, ...] = ("mse", "prod")
_ARRAYS = (
    "scales",
    "codes",
    "outlier_channels",
    "outlier_scales",
    "outlier_values",
    "residual_lengths",
    "residual_signs",
)
"""The arrays of a codebook in the order in which they are written."""


@dataclass(frozen=True, slots=True)
class Codebook:
    """A compressed matrix with everything that is needed to decompress it."""

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

    @classmethod
    def without_outliers(
        cls, *, bits: int, dimension: int, seed: int, scales: Matrix, codes: NDArray[np.uint8]
    ) -> Codebook:
        """Return a codebook of mode `mse` that has only scales and codes."""
        return cls(
            bits=bits,
            mode="mse",
            dimension=dimension,
            seed=seed,
            scales=scales,
            codes=codes,
            outlier_channels=np.empty(0, np.uint32),
            outlier_scales=np.empty(0, np.float32),
            outlier_values=np.empty((len(scales), 0), np.int8),
            residual_lengths=np.empty(0, np.float32),
            residual_signs=np.empty((0, 0), np.uint8),
        )

    @classmethod
    def joined(cls, parts: list[Codebook]) -> Codebook:
        """Return the codebooks of consecutive rows of one matrix as one codebook."""
        first = parts[0]
        arrays = {}
        for name in _ARRAYS:
            arrays[name] = np.concatenate([getattr(part, name) for part in parts])
        arrays["outlier_channels"] = first.outlier_channels
        return cls(first.bits, first.mode, first.dimension, first.seed, **arrays)

    def __len__(self) -> int:
        """Return the number of vectors."""
        return len(self.scales)

    @property
    def code_bits(self) -> int:
        """Return the number of bits for the level of a coordinate; `prod` uses one of its bits for the residual."""
        if self.mode == "prod":
            return self.bits - 1
        return self.bits

    @property
    def nbytes(self) -> int:
        """Return the size of the arrays in bytes."""
        return sum(array.nbytes for array in self._arrays())

    def rows(self, first: int, last: int) -> Codebook:
        """Return the codebook of some of the rows."""
        arrays = {name: getattr(self, name)[first:last] for name in _ARRAYS}
        arrays["outlier_channels"] = self.outlier_channels
        return Codebook(self.bits, self.mode, self.dimension, self.seed, **arrays)

    def to_bytes(self) -> bytes:
        """Return the codebook as bytes with a version and a checksum."""
        mode = _MODES.index(self.mode)
        sizes = (self.dimension, len(self.outlier_channels), len(self), self.seed)
        head = _HEAD.pack(MAGIC, VERSION, self.bits, mode, *sizes)
        arrays = [_little_endian(array).tobytes() for array in self._arrays()]
        body = head + b"".join(arrays)
        return body + _CRC.pack(zlib.crc32(body))

    def _arrays(self) -> list[Array]:
        return [getattr(self, name) for name in _ARRAYS]


def padded_dimension(dimension: int) -> int:
    """Return the number of coded coordinates: a multiple of 16, or 8 for up to 8 coordinates."""
    if dimension <= 8:
        return 8
    return -(-dimension // 16) * 16


def from_bytes(data: bytes) -> Codebook:
    """Return the codebook in these bytes; raise `InputError` if they are damaged or of another version."""
    body = _check_body(data)
    _, _, bits, mode_number, dimension, outliers, rows, seed = _HEAD.unpack_from(data)
    if not (1 <= bits <= 8 and mode_number < len(_MODES) and dimension):
        raise InputError("This TurboQuant codebook has settings that do not exist.")
    mode = _MODES[mode_number]
    layout = _array_layout(bits, mode, dimension, outliers, rows)
    size = sum(dtype.itemsize * math.prod(shape) for dtype, shape in layout)
    if len(body) != _HEAD.size + size:
        raise InputError(
            "This TurboQuant codebook holds another number of vectors than it says."
        )
    arrays = _read_arrays(data, layout)
    if outliers and int(arrays[2].max()) >= dimension:
        raise InputError("This TurboQuant codebook names channels that do not exist.")
    return Codebook(bits, mode, dimension, seed, *arrays)


def _check_body(data: bytes) -> bytes:
    """Return the bytes without their checksum; raise `InputError` if they are damaged or of another version."""
    if len(data) < _HEAD.size + _CRC.size or data[:4] != MAGIC:
        raise InputError("These bytes are not a TurboQuant codebook.")
    version = _HEAD.unpack_from(data)[1]
    if version != VERSION:
        raise InputError(
            f"This TurboQuant codebook has format {version}, this Ragstone reads {VERSION}.",
            hint="compress it again",
        )
    body = data[: -_CRC.size]
    if _CRC.pack(zlib.crc32(body)) != data[-_CRC.size :]:
        raise InputError("This TurboQuant codebook is damaged.", hint="compress it again")
    return body


_ArrayLayout = list[tuple[np.dtype[np.generic], tuple[int, ...]]]


def _array_layout(
    bits: int, mode: Mode, dimension: int, outliers: int, rows: int
) -> _ArrayLayout:
    """Return type and shape of every array, in the order in which they are written."""
    padded = padded_dimension(dimension)
    code_bits = bits
    residual_rows = 0
    if mode == "prod":
        code_bits -= 1
        residual_rows = rows
    outlier_rows = 0
    if outliers:
        outlier_rows = rows
    code_bytes = padded * code_bits // 8
    return [
        (np.dtype("<f4"), (rows,)),
        (np.dtype("u1"), (rows, code_bytes)),
        (np.dtype("<u4"), (outliers,)),
        (np.dtype("<f4"), (outlier_rows,)),
        (np.dtype("i1"), (rows, outliers)),
        (np.dtype("<f4"), (residual_rows,)),
        (np.dtype("u1"), (residual_rows, padded // 8)),
    ]


def _read_arrays(data: bytes, layout: _ArrayLayout) -> list[Array]:
    arrays = []
    offset = _HEAD.size
    for dtype, shape in layout:
        count = math.prod(shape)
        array = np.frombuffer(data, dtype, count=count, offset=offset)
        arrays.append(array.reshape(shape))
        offset += count * dtype.itemsize
    return arrays


def _little_endian(array: Array) -> Array:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
