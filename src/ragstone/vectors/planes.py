"""What the turbo index keeps of a vector, and how a query meets it.

Two planes of the rotated vector: its signs around the centre of the data (one bit a coordinate, scanned whole) and
its coordinates in sixteen even steps (four bits, read only for what the scan let through).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.rotation import Rotation
from ragstone.vectors.unit import products

if TYPE_CHECKING:
    from ragstone.protocols import Matrix
    from ragstone.vectors.segments import Segment

SEED = 71
STEP = np.float32(0.3352)  # the best even step for a Gaussian in sixteen levels (Max, 1960)
BARRED = np.uint16(65535)  # a distance no vector has
PIECE = 512  # rows encoded at a time
SAMPLE = 4096  # distances looked at to find the threshold
WORDS_IN_A_BYTE = 3  # 3 * 64 set bits still fit a byte, 4 do not


class Planes:
    """Turns vectors of one dimension into planes."""

    def __init__(self, dimension: int) -> None:
        """Fix the sizes."""
        self._rotation = Rotation(dimension, seed=SEED)
        self.width = self._rotation.padded
        self.words = self.width // 64
        self.code_bytes = self.width // 2
        self._root = np.float32(np.sqrt(self.width))

    def rotate(self, unit: Matrix) -> Matrix:
        """Return unit vectors rotated and stretched, so that a coordinate has variance one."""
        return self._rotation.apply(unit) * self._root

    def encode(self, unit: Matrix, centre: Matrix) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Return signs and codes of unit vectors, worked out in pieces that stay in the processor's cache."""
        words = np.empty((len(unit), self.words), np.uint64)
        codes = np.empty((len(unit), self.code_bytes), np.uint8)
        for first in range(0, len(unit), PIECE):
            rotated = self.rotate(unit[first : first + PIECE])
            words[first : first + PIECE] = self.signs(rotated, centre)
            codes[first : first + PIECE] = self.codes(rotated)
        return words, codes

    def centre(self, total: NDArray[np.float64], count: int) -> Matrix:
        """Return the rotated mean of so many vectors with that sum."""
        rotated: Matrix = self.rotate((total / count).astype(np.float32)[None])[0]
        return rotated

    def signs(self, rotated: Matrix, centre: Matrix) -> NDArray[np.uint64]:
        """Return which side of the centre each coordinate is on, 64 to a word."""
        return np.packbits(rotated > centre, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)

    def codes(self, rotated: Matrix) -> NDArray[np.uint8]:
        """Return the coordinates in sixteen steps: first half in low nibbles, second half in high ones."""
        steps = (rotated / STEP + np.float32(8)).clip(0, 15).astype(np.uint8)
        half = self.width // 2
        packed: NDArray[np.uint8] = steps[:, :half] | (steps[:, half:] << np.uint8(4))
        return packed

    def code_scores(self, rotated_query: Matrix, codes: NDArray[np.uint8]) -> Matrix:
        """Return numbers in the order of the inner products; what is the same for all rows is left out."""
        half = self.width // 2
        low = products((codes & np.uint8(15)).astype(np.float32), rotated_query[:half])
        high = products((codes >> np.uint8(4)).astype(np.float32), rotated_query[half:])
        scores: Matrix = low + high
        return scores


def distances(segments: Sequence[Segment], query_words: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return how many signs of each vector differ from the query's, over all segments."""
    out = np.empty(sum(segment.count for segment in segments), np.uint16)
    first = 0
    for segment in segments:
        _segment_distances(segment, query_words, out[first : first + segment.count])
        first += segment.count
    return out


def _segment_distances(segment: Segment, query_words: NDArray[np.uint64], out: NDArray[np.uint16]) -> None:
    """Fill in one segment's distances; sums stay in bytes as long as they fit, which halves the work."""
    differing = np.empty(segment.count, np.uint64)
    counted, summed = np.empty(segment.count, np.uint8), np.empty(segment.count, np.uint8)
    for start in range(0, len(query_words), WORDS_IN_A_BYTE):
        for word in range(start, min(start + WORDS_IN_A_BYTE, len(query_words))):
            np.bitwise_xor(segment.planes[word, : segment.count], query_words[word], out=differing)
            np.bitwise_count(differing, out=counted if word > start else summed)
            if word > start:
                summed += counted
        if start:
            out += summed
        else:
            out[:] = summed


def nearest(found: NDArray[np.uint16], wanted: int) -> NDArray[np.int64]:
    """Return the places of at least `wanted` small distances (all there are, if fewer), in order of place."""
    threshold = _threshold(found, wanted)
    places = np.flatnonzero(found <= threshold)
    while len(places) < wanted and threshold < BARRED - 1:
        threshold = min(int(BARRED) - 1, threshold + max(2, threshold // 16))
        places = np.flatnonzero(found <= threshold)
    if len(places) > 3 * wanted:
        # Many equal distances, or a sample that misled: the exact cut costs more, but only here.
        kept = np.argpartition(found[places], 2 * wanted)[: 2 * wanted]
        places = np.sort(places[kept])
    return places.astype(np.int64, copy=False)


def _threshold(found: NDArray[np.uint16], wanted: int) -> int:
    """Return a distance that about `wanted` do not exceed, judged from a sample, rather too large than too small."""
    if len(found) <= wanted:
        return int(BARRED) - 1
    sample = found[:: max(1, len(found) // SAMPLE) | 1]
    expected = wanted * len(sample) / len(found)
    rank = min(len(sample) - 1, int(expected + np.sqrt(expected)) + 1)
    return min(int(np.partition(sample, rank)[rank]), int(BARRED) - 1)
