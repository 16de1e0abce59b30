"""Scores of a reranker, brought to the range from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ragstone.errors import ProviderError

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
