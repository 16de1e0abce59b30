"""The scores on cases small enough to check by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.metrics import (
    binary_ndcg,
    coverage,
    graded_ndcg,
    merged,
    overlap,
    recall_at,
    same_path,
    within_budget,
)

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=6)


def characters(spans: list[tuple[int, int]]) -> set[int]:
    return {position for start, end in spans for position in range(start, end)}


def test_half_an_excerpt_in_a_chunk_twice_as_long_scores_a_half_a_quarter_and_a_fifth() -> None:
    found = coverage([("a", 50, 250)], [("a", 0, 100)])
    assert found.recall == 0.5
    assert found.precision == 0.25
    assert found.iou == 50 / (200 + 50)


def test_what_is_retrieved_twice_counts_once_and_costs_twice() -> None:
    found = coverage([("a", 0, 100), ("a", 0, 100)], [("a", 0, 100)])
    assert found.recall == 1.0
    assert found.precision == 0.5
    assert found.iou == 0.5


def test_the_same_characters_of_another_document_do_not_count() -> None:
    assert coverage([("b", 0, 100)], [("a", 0, 100)]) == (0.0, 0.0, 0.0)


def test_nothing_retrieved_scores_nothing() -> None:
    assert coverage([], [("a", 0, 10)]) == (0.0, 0.0, 0.0)


def test_a_budget_keeps_the_first_hits_and_cuts_the_last() -> None:
    assert within_budget([("a", 0, 30), ("b", 5, 45), ("c", 0, 9)], 50) == [
        ("a", 0, 30),
        ("b", 5, 25),
    ]


@given(SPANS, SPANS)
def test_overlap_counts_the_positions_in_both(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    assert overlap(left, right) == len(characters(left) & characters(right))


@given(SPANS)
def test_merged_spans_hold_the_same_positions_and_do_not_touch(
    spans: list[tuple[int, int]],
) -> None:
    joined = merged(spans)
    assert characters(joined) == characters(spans)
    assert all(one[1] < two[0] for one, two in zip(joined, joined[1:], strict=False))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("src/click/core.py", "src/click/core.py", True),
        ("core.py", "src/click/core.py", True),
        ("repo/src/click/core.py", "src/click/core.py", True),
        ("src\\click\\core.py", "src/click/core.py", True),
        ("hardcore.py", "core.py", False),
        ("src/click/core.py", "src/flask/core.py", False),
    ],
)
def test_paths_match_from_a_slash_on(one: str, other: str, same: bool) -> None:
    assert same_path(one, other) is same


def test_two_targets_found_first_and_third() -> None:
    ideal = 1 + 1 / math.log2(3)
    assert binary_ndcg([1, 3], 2) == pytest.approx((1 + 0.5) / ideal)


def test_a_missed_target_lowers_the_gain_and_more_targets_than_places_do_not() -> None:
    assert binary_ndcg([1, None], 2) < 1.0
    assert binary_ndcg(list(range(1, 11)), 25) == pytest.approx(1.0)


def test_two_targets_at_one_rank_count_once() -> None:
    assert binary_ndcg([1, 1], 2) == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_a_document_that_comes_twice_is_ranked_at_its_first_place() -> None:
    assert graded_ndcg(["x", "x", "a"], {"a": 1.0}) == pytest.approx(1 / math.log2(3))


def test_recall_counts_distinct_names_up_to_k() -> None:
    assert recall_at(["a", "a", "b", "c"], {"b", "c"}, 2) == 0.5
    assert recall_at([], set(), 5) == 0.0
