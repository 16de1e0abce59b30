"""The best scalar quantiser for a Gaussian, as levels and the borders between them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

ROUNDS = 400  # Lloyd's steps: up to 4 bits settle before that, above it the starting point is nearly right
SETTLED = 1e-7


@lru_cache(maxsize=16)
def levels(bits: int) -> Matrix:
    """Return the 2^bits reconstruction levels for N(0, 1), ascending; without bits there is only zero."""
    if not bits:
        return np.zeros(1, np.float32)
    half = 2**bits // 2
    # The quantiles of N(0, 3) are optimal in the limit of many levels (Panter and Dite), so few steps remain.
    points = [math.sqrt(3) * _quantile(0.5 + (i + 0.5) / (2 * half)) for i in range(half)]
    for _ in range(ROUNDS):
        borders = [0.0, *((a + b) / 2 for a, b in zip(points, points[1:], strict=False)), math.inf]
        moved = [_centroid(a, b) for a, b in zip(borders, borders[1:], strict=False)]
        change = max(abs(a - b) for a, b in zip(points, moved, strict=True))
        points = moved
        if change < SETTLED:
            break
    table: Matrix = np.array([-p for p in reversed(points)] + points, np.float32)
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
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi) if math.isfinite(x) else 0.0


def _centroid(low: float, high: float) -> float:
    """Return the mean of N(0, 1) between two positive borders."""
    root = math.sqrt(2)
    mass = (math.erfc(low / root) - (math.erfc(high / root) if math.isfinite(high) else 0.0)) / 2
    return (_density(low) - _density(high)) / mass


def _quantile(share: float) -> float:
    """Return where N(0, 1) has this share below, by bisection."""
    low, high = -10.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        below = math.erfc(-middle / math.sqrt(2)) / 2
        low, high = (middle, high) if below < share else (low, middle)
    return (low + high) / 2
