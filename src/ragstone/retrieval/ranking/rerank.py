"""Other orders of the best candidates: by a reranker, and by maximal marginal relevance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ragstone.errors import ProviderError
from ragstone.retrieval.ranking.parameters import MMR_RELEVANCE

if TYPE_CHECKING:
    from ragstone.types import Matrix

_LARGEST_LOGIT: Final = 12.0
"""Beyond this, the logistic function does not tell scores apart."""
_STEP: Final = 0.999
"""A lower score stays visibly lower, even if both are at the end of the range."""


def rerank_scores(raw: Sequence[float], count: int) -> list[float]:
    """Return the scores between 0 and 1 in the same order; raise `ProviderError` if they are no scores of the texts.

    Scores that are all between 0 and 1 are kept. Other scores are logits of a cross-encoder, negative for most texts.
    """
    if len(raw) != count or not all(math.isfinite(score) for score in raw):
        raise ProviderError(
            f"the reranker gave {len(raw)} scores for {count} texts, or no numbers"
        )
    if all(0 <= score <= 1 for score in raw):
        return [float(score) for score in raw]
    scores = [0.0] * count
    previous_raw = previous = math.inf
    for position in sorted(range(count), key=lambda place: -raw[place]):
        score = _logistic(raw[position])
        if raw[position] < previous_raw:
            score = min(score, previous * _STEP)
        previous_raw, previous = raw[position], score
        scores[position] = score
    return scores


def _logistic(score: float) -> float:
    bounded = max(-_LARGEST_LOGIT, min(_LARGEST_LOGIT, score))
    return 1 / (1 + math.exp(-bounded))


def diversify(relevance: Sequence[float], vectors: Matrix, top_k: int) -> list[int]:
    """Return the places of results that are relevant and do not repeat each other, in order.

    Row n of `vectors` belongs to `relevance[n]`.
    """
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
