"""Scores of ranks, and the certainty of a difference."""

from __future__ import annotations

from ragstone.engine.measure.scores import Difference, compare, measure_quality


def test_ranks_give_recall_and_mean_reciprocal_rank() -> None:
    quality = measure_quality([1, 2, None, 10])
    assert (quality.recall_at_1, quality.recall_at_5, quality.recall_at_10) == (0.25, 0.5, 0.75)
    assert quality.mrr == (1 + 0.5 + 0.1) / 4
    assert measure_quality([]).mrr == 0.0


def test_a_clear_difference_is_certain_and_chance_is_not() -> None:
    clear = compare([1] * 40, [3] * 40, certainty=0.95, seed=1)
    assert clear.is_certain and clear.low > 0
    chance = compare([1, 3] * 20, [3, 1] * 20, certainty=0.95, seed=1)
    assert not chance.is_certain and chance.mrr == 0.0
    assert compare([], [], certainty=0.95, seed=1) == Difference(0.0, 0.0, 0.0)
