"""Maximal marginal relevance: results that are relevant and do not repeat each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.retrieval.ranking.parameters import MMR_RELEVANCE

if TYPE_CHECKING:
    from ragstone.types import Matrix


def diversify(relevance: Sequence[float], vectors: Matrix, top_k: int) -> list[int]:
    """Return the places of the results to show, in order; row n of `vectors` belongs to `relevance[n]`."""
    free = list(range(len(relevance)))
    nearest = [0.0] * len(relevance)
    chosen: list[int] = []
    while free and len(chosen) < top_k:
        best = max(free, key=lambda place: _gain(relevance[place], nearest[place]))
        chosen.append(best)
        free.remove(best)
        similarities = (vectors @ vectors[best]).tolist()
        nearest = list(map(max, nearest, similarities))
    return chosen


def _gain(relevance: float, nearest: float) -> float:
    """Return how much a result adds, given its similarity to the nearest chosen one."""
    return MMR_RELEVANCE * relevance - (1.0 - MMR_RELEVANCE) * nearest
