"""Differences that are luck and differences that are not."""

from __future__ import annotations

import random

import pytest

from evals.bootstrap import grouped_mean, paired_difference


def test_the_mean_over_groups_gives_each_group_the_same_weight() -> None:
    assert grouped_mean([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"]) == 0.5
    assert grouped_mean([], []) == 0.0


def test_a_clear_difference_has_a_small_p_and_a_sensible_error() -> None:
    luck = random.Random(3)
    worse = [luck.random() for _ in range(300)]
    better = [value + 0.2 + luck.uniform(-0.3, 0.3) for value in worse]
    found = paired_difference(better, worse, [""] * 300)
    assert found["difference"] == pytest.approx(0.2, abs=0.03)
    assert found["standard_error"] == pytest.approx(0.6 / 12**0.5 / 300**0.5, rel=0.2)
    assert found["p"] < 0.01


def test_no_difference_has_a_p_of_one() -> None:
    assert paired_difference([0.5, 0.7], [0.5, 0.7], ["", ""])["p"] == 1.0


def test_luck_is_not_called_a_difference() -> None:
    luck = random.Random(4)
    one, other = [luck.random() for _ in range(200)], [luck.random() for _ in range(200)]
    assert paired_difference(one, other, ["a", "b"] * 100)["p"] > 0.05
