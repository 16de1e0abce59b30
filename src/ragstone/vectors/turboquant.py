"""TurboQuant: a random rotation, a scalar quantiser made for what it leaves, one length correction per vector.

After a random rotation every coordinate of a vector looks Gaussian whatever the data were, so one table of levels
(Lloyd-Max) serves all of them and nothing has to be learned. `mode="mse"` puts all bits into the levels and corrects
the length, which is best for search. `mode="prod"` spends one bit of each coordinate on the sign of the rotated
residual (QJL), which makes inner products unbiased and a little noisier. `outlier_ratio` keeps the strongest
channels out of the rotation, with eight bits each.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ConfigError, InputError
from ragstone.vectors.bits import pack, unpack
from ragstone.vectors.codebook import Codebook, Mode, from_bytes, padded_dimension
from ragstone.vectors.lloyd_max import borders, levels
from ragstone.vectors.rotation import Rotation
from ragstone.vectors.unit import finite_rows, lengths

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

DEFAULT_SEED = 20_504
BATCH = 8192  # rows worked on at a time, so that a large matrix does not need its size again in memory
LONGEST = 1e18  # a vector longer than this would overflow when squared


class TurboQuantizer:
    """Compresses vectors to a few bits per coordinate and compares them without unpacking."""

    def __init__(
        self, bits: int = 4, outlier_ratio: float = 0.05, mode: Mode = "mse", *, seed: int = DEFAULT_SEED
    ) -> None:
        """Keep the settings; a setting that cannot work is a `ConfigError`."""
        if not 1 <= bits <= 8:
            raise ConfigError(f"TurboQuant works with 1 to 8 bits, not {bits}.")
        if not 0 <= outlier_ratio <= 0.5:
            raise ConfigError(f"The outlier ratio is between 0 and 0.5, not {outlier_ratio}.")
        if mode not in ("mse", "prod"):
            raise ConfigError(f"There is no TurboQuant mode {mode!r}.", hint="use mse or prod")
        self.bits, self.outlier_ratio, self.mode, self.seed = bits, outlier_ratio, mode, seed

    def compress(self, vectors: Matrix) -> Codebook:
        """Return the codebook of a matrix, one vector per row."""
        matrix = finite_rows(vectors)
        if not matrix.shape[1]:
            raise InputError("A vector has at least one number.")
        if matrix.size and np.abs(matrix).max() > LONGEST:
            raise InputError("A vector holds a number too large to compress.", hint="bring vectors to length one")
        channels = self._outliers(matrix)
        parts = [self._compress(matrix[at : at + BATCH], channels) for at in range(0, len(matrix), BATCH)]
        return _joined(parts) if len(parts) > 1 else (parts or [self._compress(matrix, channels)])[0]

    def decompress(self, codebook: Codebook) -> Matrix:
        """Return the vectors as well as the codebook remembers them."""
        out = np.empty((len(codebook), codebook.dimension), np.float32)
        for at in range(0, len(codebook), BATCH):
            part = codebook.rows(at, at + BATCH)
            even = _levelled(part)
            if part.mode == "prod":
                even += _residual_rotation(part.dimension, part.seed).revert(_residual(part))
            restored = _rotation(part.dimension, part.seed).revert(even) * part.scales[:, None]
            if len(part.outlier_channels):
                restored[:, part.outlier_channels] += part.outlier_values * part.outlier_scales[:, None]
            out[at : at + BATCH] = restored
        return out

    def inner_product(self, query: Matrix, codebook: Codebook) -> Matrix:
        """Return the inner product with every vector: one row of them per query, flat for a flat query."""
        flat = np.ndim(query) == 1
        queries = finite_rows(query, codebook.dimension)
        turned = _rotation(codebook.dimension, codebook.seed).apply(queries)
        out = np.empty((len(queries), len(codebook)), np.float32)
        for at in range(0, len(codebook), BATCH):
            part = codebook.rows(at, at + BATCH)
            scores = _levelled(part) @ turned.T
            if part.mode == "prod":
                scores += _residual(part) @ _residual_rotation(part.dimension, part.seed).apply(turned).T
            scores *= part.scales[:, None]
            if len(part.outlier_channels):
                kept = part.outlier_values.astype(np.float32) @ queries[:, part.outlier_channels].T
                scores += kept * part.outlier_scales[:, None]
            out[:, at : at + BATCH] = scores.T
        return out[0] if flat else out

    def serialize(self, codebook: Codebook) -> bytes:
        """Return a codebook as versioned, checksummed bytes."""
        return codebook.to_bytes()

    def deserialize(self, data: bytes) -> Codebook:
        """Return the codebook in these bytes; `InputError` where they are damaged or of another version."""
        return from_bytes(data)

    def _outliers(self, matrix: Matrix) -> NDArray[np.uint32]:
        """Return the channels that carry the most energy over all rows."""
        count = int(self.outlier_ratio * matrix.shape[1])
        if not count or not len(matrix):
            return np.empty(0, np.uint32)
        energy = np.einsum("ij,ij->j", matrix, matrix, dtype=np.float64)
        return np.sort(np.argsort(-energy, kind="stable")[:count]).astype(np.uint32)

    def _compress(self, matrix: Matrix, channels: NDArray[np.uint32]) -> Codebook:
        dimension, code_bits = matrix.shape[1], self.bits - (self.mode == "prod")
        root = np.float32(math.sqrt(padded_dimension(dimension)))
        outlier_scales, outlier_values, rest = _split(matrix, channels)
        norms = lengths(rest)
        even = _rotation(dimension, self.seed).apply(rest / _nonzero(norms)[:, None]) * root
        codes = np.searchsorted(borders(code_bits), even).astype(np.uint8)
        near = levels(code_bits)[codes]
        correction = _length_correction(even, near) if self.mode == "mse" else np.float32(1)
        residual = even - near if self.mode == "prod" else even[:0]
        signs = _residual_rotation(dimension, self.seed).apply(residual) > 0
        return Codebook(
            self.bits,
            self.mode,
            dimension,
            self.seed,
            (norms / root * correction).astype(np.float32),
            pack(codes, code_bits) if code_bits else codes[:, :0],
            channels,
            outlier_scales,
            outlier_values,
            lengths(residual),
            np.packbits(signs, axis=1, bitorder="little"),
        )


@lru_cache(maxsize=8)
def _rotation(dimension: int, seed: int) -> Rotation:
    padded = padded_dimension(dimension)
    return Rotation(dimension, seed=seed, unit=min(16, padded))


@lru_cache(maxsize=8)
def _residual_rotation(dimension: int, seed: int) -> Rotation:
    padded = padded_dimension(dimension)
    return Rotation(padded, seed=seed + 1, unit=min(16, padded))


def _nonzero(numbers: Matrix) -> Matrix:
    """Return numbers fit to divide by: one where they are not above zero."""
    return np.where(numbers > 0, numbers, np.float32(1))


def _split(matrix: Matrix, channels: NDArray[np.uint32]) -> tuple[Matrix, NDArray[np.int8], Matrix]:
    """Return scale and values of the outlier channels, and what is left without them."""
    if not len(channels):
        return np.empty(0, np.float32), np.empty((len(matrix), 0), np.int8), matrix
    kept = matrix[:, channels]
    scales = (np.abs(kept).max(axis=1) / 127).astype(np.float32)
    values = np.rint(kept / _nonzero(scales)[:, None]).clip(-127, 127).astype(np.int8)
    rest = matrix.copy()
    rest[:, channels] = 0
    return scales, values, rest


def _length_correction(even: Matrix, near: Matrix) -> Matrix:
    """Return the factor that gives each vector its own inner product back: |x|^2 / <x, near x>."""
    own = np.einsum("ij,ij->i", even, even)
    along = np.einsum("ij,ij->i", even, near)
    factor: Matrix = own / _nonzero(along)
    return factor


def _levelled(part: Codebook) -> Matrix:
    """Return the rotated vectors as their levels."""
    if not part.code_bits:
        return np.zeros((len(part), padded_dimension(part.dimension)), np.float32)
    near: Matrix = levels(part.code_bits)[unpack(part.codes, part.code_bits)]
    return near


def _residual(part: Codebook) -> Matrix:
    """Return what the residual's signs stand for: sqrt(pi / 2) / sqrt(d) of its length along each."""
    padded = padded_dimension(part.dimension)
    signs = np.unpackbits(part.residual_signs, axis=1, bitorder="little").astype(np.float32) * 2 - 1
    weight = part.residual_lengths * np.float32(math.sqrt(math.pi / 2 / padded))
    along: Matrix = signs * weight[:, None]
    return along


def _joined(parts: list[Codebook]) -> Codebook:
    """Return parts of one matrix as one codebook."""
    first = parts[0]
    return Codebook(
        first.bits,
        first.mode,
        first.dimension,
        first.seed,
        np.concatenate([part.scales for part in parts]),
        np.concatenate([part.codes for part in parts]),
        first.outlier_channels,
        np.concatenate([part.outlier_scales for part in parts]),
        np.concatenate([part.outlier_values for part in parts]),
        np.concatenate([part.residual_lengths for part in parts]),
        np.concatenate([part.residual_signs for part in parts]),
    )
