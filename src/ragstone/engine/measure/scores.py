"""Scores of ranked answers, and the uncertainty of the difference between two settings."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

DEPTH: Final = 10
"""Hits that are looked at; an answer below counts as not found."""
_RESAMPLES: Final = 2000


@dataclass(frozen=True, slots=True)
class Quality:
    """Recall and mean reciprocal rank of one setting over some questions."""

    questions: int
    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one setting is than another in MRR, with the interval that holds the true value."""

    mrr: float
    low: float
    high: float

    @property
    def is_certain(self) -> bool:
        """Return whether the interval has no zero in it."""
        return self.low > 0.0 or self.high < 0.0


def measure_quality(ranks: Sequence[int | None]) -> Quality:
    """Return the scores of ranks from 1 on; None for an answer that was not found."""
    return Quality(
        len(ranks),
        _recall(ranks, 1),
        _recall(ranks, 5),
        _recall(ranks, DEPTH),
        _mean([_reciprocal(rank) for rank in ranks]),
    )


def compare(
    ranks: Sequence[int | None],
    others: Sequence[int | None],
    *,
    certainty: float,
    seed: int,
) -> Difference:
    """Return how much better `ranks` are than `others`, which answer the same questions.

    The questions are drawn again with replacement many times (a paired bootstrap).
    """
    gains = [
        _reciprocal(rank) - _reciprocal(other)
        for rank, other in zip(ranks, others, strict=True)
    ]
    if not gains:
        return Difference(0.0, 0.0, 0.0)
    chooser = random.Random(seed)  # noqa: S311 - a sample, no secret
    means = sorted(_mean(chooser.choices(gains, k=len(gains))) for _ in range(_RESAMPLES))
    cut = int(_RESAMPLES * (1.0 - certainty) / 2)
    return Difference(_mean(gains), means[cut], means[_RESAMPLES - 1 - cut])


def _recall(ranks: Sequence[int | None], depth: int) -> float:
    return _mean([float(rank is not None and rank <= depth) for rank in ranks])


def _reciprocal(rank: int | None) -> float:
    return 0.0 if rank is None else 1.0 / rank


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
