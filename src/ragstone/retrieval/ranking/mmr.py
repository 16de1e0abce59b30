"""Maximal marginal relevance: results that are relevant and do not repeat each other."""

from __future__ import annotations

import numpy as np

from ragstone.retrieval.ranking.parameters import MMR_RELEVANCE
from ragstone.types import Matrix


def diversify(relevance: list[float], vectors: Matrix, top_k: int) -> list[int]:
    """Return the places of the results to show, in order; row n of `vectors` belongs to `relevance[n]`."""
    scores = np.asarray(relevance, dtype=np.float32)
    count = len(scores)
    nearest = np.zeros(count, dtype=np.float32)
    free = np.ones(count, dtype=bool)
    chosen: list[int] = []
    while len(chosen) < min(top_k, count):
        penalty = (1.0 - MMR_RELEVANCE) * nearest
        gain = MMR_RELEVANCE * scores - penalty
        gain[~free] = -np.inf
        best = int(np.argmax(gain))
        chosen.append(best)
        free[best] = False
        nearest = np.maximum(nearest, vectors @ vectors[best])
    return chosen
