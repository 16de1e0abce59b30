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
    points = [math.sqrt(3) * _quantile(0.5 + (place + 0.5) / (2 * half)) for place in range(half)]
    for _ in range(MAX_ROUNDS):
        middles = [(low + high) / 2 for low, high in pairwise(points)]
        moved = [_mean_between(low, high) for low, high in pairwise([0.0, *middles, math.inf])]
        change = max(abs(before - after) for before, after in zip(points, moved, strict=True))
        points = moved
        if change < TOLERANCE:
            break
    table: Matrix = np.array([-point for point in reversed(points)] + points, np.float32)
    table.setflags(write=False)
    return table


@lru_cache(maxsize=16)
def borders(bits: int) -> Matrix:
    """Return the 2^bits - 1 values at which the next level begins."""
    table = levels(bits)
    between: Matrix = (table[1:] + table[:-1]) / np.float32(2)
    between.setflags(write=False)
    return between


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _share_below(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _mean_between(low: float, high: float) -> float:
    """Return the mean of N(0, 1) between two positive borders."""
    # Of small tails, so that no digits are lost.
    mass = (math.erfc(low / math.sqrt(2)) - math.erfc(high / math.sqrt(2))) / 2
    return (_density(low) - _density(high)) / mass


def _quantile(share: float) -> float:
    """Return the value below which this share of N(0, 1) lies, by bisection."""
    low, high = -10.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        if _share_below(middle) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2
