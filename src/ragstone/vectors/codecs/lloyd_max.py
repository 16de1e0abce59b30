"""The best scalar quantiser for a Gaussian (Lloyd-Max): its levels and the borders between them."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ragstone.types import Matrix

MAX_ROUNDS = 400
"""Up to 4 bits the levels converge earlier; above that the starting point is nearly right."""
TOLERANCE = 1e-7


@lru_cache(maxsize=16)
def levels(bits: int) -> Matrix:
    """Return the 2^bits levels for N(0, 1), ascending; for 0 bits only zero."""
    if not bits:
        return np.zeros(1, np.float32)
    half = 2**bits // 2
    # The quantiles of N(0, 3) are optimal in the limit of many levels (Panter and Dite).
    shares = [0.5 + (place + 0.5) / (2 * half) for place in range(half)]
    points = [math.sqrt(3) * _quantile(share) for share in shares]
    for _ in range(MAX_ROUNDS):
        moved = _move_to_means(points)
        changes = [abs(before - after) for before, after in zip(points, moved, strict=True)]
        points = moved
        if max(changes) < TOLERANCE:
            break
    mirrored = [-point for point in reversed(points)]
    table: Matrix = np.array(mirrored + points, np.float32)
    table.setflags(write=False)
    return table


def _move_to_means(points: list[float]) -> list[float]:
    """Return the positive levels, each moved to the mean of the values nearest to it."""
    middles = [(low + high) / 2 for low, high in pairwise(points)]
    limits = [0.0, *middles, math.inf]
    return [_mean_between(low, high) for low, high in pairwise(limits)]


@lru_cache(maxsize=16)
def borders(bits: int) -> Matrix:
    """Return the 2^bits - 1 values at which the next level begins."""
    table = levels(bits)
    between: Matrix = (table[1:] + table[:-1]) / np.float32(2)
    between.setflags(write=False)
    return between


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _share_above(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2


def _mean_between(low: float, high: float) -> float:
    """Return the mean of N(0, 1) between two positive borders."""
    # The shares above are small, so that no digits are lost.
    mass = _share_above(low) - _share_above(high)
    return (_density(low) - _density(high)) / mass


def _quantile(share: float) -> float:
    """Return the value below which this share of N(0, 1) lies, by bisection."""
    low, high = -10.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        share_below = _share_above(-middle)
        if share_below < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2
