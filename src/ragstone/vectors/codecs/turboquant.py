"""TurboQuant: a random rotation, a scalar quantiser for the result, one length correction per vector.

After a random rotation every coordinate of a vector looks Gaussian, so one table of levels (Lloyd-Max) serves all of
them and nothing is learned. `mode="mse"` uses all bits for the levels and corrects the length, which is best for
search. `mode="prod"` uses one bit of each coordinate for the sign of the rotated residual (QJL), which makes inner
products unbiased and a little noisier. Channels that dominate the others stay out of the rotation, with eight bits
each; `outlier_ratio` is the largest share of them.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ConfigError, InputError
from ragstone.types import Matrix
from ragstone.vectors.codecs.bit_packing import pack, unpack
from ragstone.vectors.codecs.codebook import Codebook, Mode, from_bytes, padded_dimension
from ragstone.vectors.codecs.lloyd_max import borders, levels
from ragstone.vectors.normalise import finite_rows, nonzero, row_lengths
from ragstone.vectors.rotation import Rotation

DEFAULT_SEED = 20_504
BATCH = 8192
"""Rows that are processed at a time, so that a large matrix does not need its size again in memory."""
OUTLIER_ENERGY = 11
"""A channel is an outlier if it has this many times the mean energy. Eight more bits for the levels of all channels
divide the error by about 1 + 8 ln(4) / d, so eight bits are better spent on a channel with more than 8 ln(4) = 11 times the
mean."""
MAX_NUMBER = 1e18
"""The square of a larger number would overflow."""


class TurboQuantizer:
    """Compresses vectors to a few bits per coordinate and compares them without decompressing."""

    def __init__(
        self,
        bits: int = 4,
        outlier_ratio: float = 0.05,
        mode: Mode = "mse",
        *,
        seed: int = DEFAULT_SEED,
    ) -> None:
        """Store the settings; raise `ConfigError` if one is out of range."""
        if bits not in range(1, 9):
            raise ConfigError(f"TurboQuant works with 1 to 8 bits, not {bits}.")
        if not 0 <= outlier_ratio <= 0.5:
            raise ConfigError(f"The outlier ratio is between 0 and 0.5, not {outlier_ratio}.")
        if mode not in ("mse", "prod"):
            raise ConfigError(f"There is no TurboQuant mode {mode!r}.", hint="use mse or prod")
        self.bits = bits
        self.outlier_ratio = outlier_ratio
        self.mode: Mode = mode
        self.seed = seed

    def compress(self, vectors: Matrix) -> Codebook:
        """Return the codebook of a matrix, one vector per row."""
        matrix = finite_rows(vectors)
        if not matrix.shape[1]:
            raise InputError("A vector has at least one number.")
        if matrix.size and np.abs(matrix).max() > MAX_NUMBER:
            raise InputError(
                "A vector holds a number too large to compress.",
                hint="bring vectors to length one",
            )
        channels = self._outlier_channels(matrix)
        starts = range(0, max(1, len(matrix)), BATCH)
        parts = [self._compress(matrix[start : start + BATCH], channels) for start in starts]
        return Codebook.joined(parts)

    def decompress(self, codebook: Codebook) -> Matrix:
        """Return the vectors, as exact as the codebook is."""
        vectors = np.empty((len(codebook), codebook.dimension), np.float32)
        for start in range(0, len(codebook), BATCH):
            part = codebook.rows(start, start + BATCH)
            vectors[start : start + BATCH] = _decompress(part)
        return vectors

    def inner_product(self, query: Matrix, codebook: Codebook) -> Matrix:
        """Return the inner product with every vector: one row per query, or a flat array for a flat query."""
        queries = finite_rows(query, codebook.dimension)
        rotated_queries = _rotation(codebook.dimension, codebook.seed).apply(queries)
        products: Matrix = np.empty((len(queries), len(codebook)), np.float32)
        for start in range(0, len(codebook), BATCH):
            part = codebook.rows(start, start + BATCH)
            scores = _score_rows(part, queries, rotated_queries)
            products[:, start : start + BATCH] = scores.T
        if np.ndim(query) == 1:
            products = products.reshape(-1)
        return products

    @staticmethod
    def serialize(codebook: Codebook) -> bytes:
        """Return a codebook as versioned, checksummed bytes."""
        return codebook.to_bytes()

    @staticmethod
    def deserialize(data: bytes) -> Codebook:
        """Return the codebook in these bytes; raise `InputError` if they are damaged or of another version."""
        return from_bytes(data)

    def _outlier_channels(self, matrix: Matrix) -> NDArray[np.uint32]:
        """Return the channels that dominate over all rows, the strongest if there are more than the settings allow."""
        most = int(self.outlier_ratio * matrix.shape[1])
        if not most or not len(matrix):
            return np.empty(0, np.uint32)
        energy = np.einsum("ij,ij->j", matrix, matrix, dtype=np.float64)
        strongest = np.argsort(-energy, kind="stable")[:most]
        outliers = strongest[energy[strongest] > OUTLIER_ENERGY * energy.mean()]
        return np.sort(outliers).astype(np.uint32)

    def _compress(self, matrix: Matrix, channels: NDArray[np.uint32]) -> Codebook:
        dimension = matrix.shape[1]
        code_bits = self.bits
        if self.mode == "prod":
            code_bits -= 1
        root = np.float32(math.sqrt(padded_dimension(dimension)))
        outlier_scales, outlier_values, rest = _split_outliers(matrix, channels)
        lengths = row_lengths(rest)
        unit = rest / nonzero(lengths)[:, None]
        rotated = _rotation(dimension, self.seed).apply(unit) * root
        codes = np.searchsorted(borders(code_bits), rotated).astype(np.uint8)
        quantised = levels(code_bits)[codes]
        packed_codes = codes[:, :0]
        if code_bits:
            packed_codes = pack(codes, code_bits)
        scales = lengths / root
        residual = rotated[:0]
        if self.mode == "mse":
            scales = scales * _length_correction(rotated, quantised)
        else:
            residual = rotated - quantised
        signs = _residual_rotation(dimension, self.seed).apply(residual) > 0
        return Codebook(
            bits=self.bits,
            mode=self.mode,
            dimension=dimension,
            seed=self.seed,
            scales=scales.astype(np.float32),
            codes=packed_codes,
            outlier_channels=channels,
            outlier_scales=outlier_scales,
            outlier_values=outlier_values,
            residual_lengths=row_lengths(residual),
            residual_signs=np.packbits(signs, axis=1, bitorder="little"),
        )


@lru_cache(maxsize=8)
def _rotation(dimension: int, seed: int) -> Rotation:
    return Rotation(dimension, seed=seed, unit=min(16, padded_dimension(dimension)))


@lru_cache(maxsize=8)
def _residual_rotation(dimension: int, seed: int) -> Rotation:
    padded = padded_dimension(dimension)
    return Rotation(padded, seed=seed + 1, unit=min(16, padded))


def _split_outliers(
    matrix: Matrix, channels: NDArray[np.uint32]
) -> tuple[Matrix, NDArray[np.int8], Matrix]:
    """Return scales and values of the outlier channels, and the matrix with zeros in their place."""
    if not len(channels):
        no_scales = np.empty(0, np.float32)
        no_values = np.empty((len(matrix), 0), np.int8)
        return no_scales, no_values, matrix
    outliers = matrix[:, channels]
    largest = np.abs(outliers).max(axis=1)
    scales = (largest / 127).astype(np.float32)
    rounded = np.rint(outliers / nonzero(scales)[:, None])
    values = rounded.clip(-127, 127).astype(np.int8)
    rest = matrix.copy()
    rest[:, channels] = 0
    return scales, values, rest


def _length_correction(rotated: Matrix, quantised: Matrix) -> Matrix:
    """Return the factor that makes each vector's inner product with itself exact: |x|^2 / <x, quantised x>."""
    squares = np.einsum("ij,ij->i", rotated, rotated)
    along = np.einsum("ij,ij->i", rotated, quantised)
    factor: Matrix = squares / nonzero(along)
    return factor


def _decompress(part: Codebook) -> Matrix:
    """Return the vectors of a few rows."""
    rotated = _decode_levels(part)
    if part.mode == "prod":
        residual = _decode_residual(part)
        rotated += _residual_rotation(part.dimension, part.seed).revert(residual)
    restored = _rotation(part.dimension, part.seed).revert(rotated)
    restored *= part.scales[:, None]
    if len(part.outlier_channels):
        outliers = part.outlier_values * part.outlier_scales[:, None]
        restored[:, part.outlier_channels] += outliers
    return restored


def _score_rows(part: Codebook, queries: Matrix, rotated_queries: Matrix) -> Matrix:
    """Return the inner products of a few rows with every query: one row per vector, one column per query."""
    scores: Matrix = _decode_levels(part) @ rotated_queries.T
    if part.mode == "prod":
        rotation = _residual_rotation(part.dimension, part.seed)
        residual_queries = rotation.apply(rotated_queries)
        scores += _decode_residual(part) @ residual_queries.T
    scores *= part.scales[:, None]
    if len(part.outlier_channels):
        outlier_values = part.outlier_values.astype(np.float32)
        outlier_queries = queries[:, part.outlier_channels]
        outlier_scores = outlier_values @ outlier_queries.T
        scores += outlier_scores * part.outlier_scales[:, None]
    return scores


def _decode_levels(part: Codebook) -> Matrix:
    """Return the rotated vectors as their levels."""
    if not part.code_bits:
        return np.zeros((len(part), padded_dimension(part.dimension)), np.float32)
    codes = unpack(part.codes, part.code_bits)
    quantised: Matrix = levels(part.code_bits)[codes]
    return quantised


def _decode_residual(part: Codebook) -> Matrix:
    """Return the residuals: sqrt(pi / 2) / sqrt(d) of their length along each sign."""
    padded = padded_dimension(part.dimension)
    bits = np.unpackbits(part.residual_signs, axis=1, bitorder="little")
    signs = bits.astype(np.float32) * 2 - 1
    factor = np.float32(math.sqrt(math.pi / 2 / padded))
    weights = part.residual_lengths * factor
    residual: Matrix = signs * weights[:, None]
    return residual
