"""Whether a difference between two rankings is more than luck: the paired bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
SEED = 7


class Difference(TypedDict):
    """A mean difference with its standard error and two-sided p."""

    difference: float
    standard_error: float
    p: float


def grouped_mean(values: Sequence[float], groups: Sequence[str]) -> float:
    """Return the mean over groups of each group's mean; one group gives the plain mean."""
    if not values:
        return 0.0
    by_group: dict[str, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        by_group.setdefault(group, []).append(value)
    return sum(sum(part) / len(part) for part in by_group.values()) / len(by_group)


def standard_error(values: Sequence[float], groups: Sequence[str]) -> float:
    """Return the standard error of the mean over groups, questions resampled inside the groups."""
    return float(resampled_means(np.asarray(values, dtype=np.float64), groups).std(ddof=1))


def resampled_means(values: NDArray[np.float64], groups: Sequence[str]) -> NDArray[np.float64]:
    """Return the mean over groups of many samples, each drawn from the values of its group."""
    names = np.asarray(groups)
    random = np.random.default_rng(SEED)
    means = np.zeros(RESAMPLES)
    unique = np.unique(names)
    for group in unique:
        part = values[names == group]
        places = random.integers(0, part.size, (RESAMPLES, part.size))
        means += part[places].mean(axis=1) / unique.size
    return means


def paired_difference(
    one: Sequence[float], other: Sequence[float], groups: Sequence[str]
) -> Difference:
    """Return how much better `one` is than `other` question by question, resampled inside the groups."""
    deltas = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    means = resampled_means(deltas, groups)
    below, above = int((means <= 0).sum()), int((means >= 0).sum())
    return {
        "difference": grouped_mean(deltas.tolist(), list(groups)),
        "standard_error": float(means.std(ddof=1)) if means.size > 1 else 0.0,
        "p": min(1.0, 2 * (min(below, above) + 1) / (RESAMPLES + 1)),
    }
