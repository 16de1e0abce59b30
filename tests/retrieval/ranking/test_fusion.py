"""Fusion: the lists decide, every list counts, and the same lists always give the same order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.retrieval.ranking.confidence import Background, Calibration
from ragstone.retrieval.ranking.fusion import (
    list_weights,
    query_type,
    reciprocal_rank,
    weighted_sum,
)
from ragstone.types import Scored

SCORES = st.dictionaries(st.integers(1, 40), st.floats(-5, 50, allow_nan=False), max_size=30)


def ranked(scores: dict[int, float]) -> list[Scored]:
    return [
        Scored(key, value)
        for key, value in sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    ]


@given(SCORES, SCORES)
def test_every_row_of_every_list_is_a_candidate_exactly_once(
    words: dict[int, float], near: dict[int, float]
) -> None:
    lists = {"words": ranked(words), "minilm": ranked(near)}
    for fuse in (weighted_sum, reciprocal_rank):
        fused = fuse(lists, {"words": 0.4, "minilm": 0.6}).best
        assert sorted(c.id for c in fused) == sorted(set(words) | set(near))


@given(SCORES, SCORES)
def test_fused_scores_fall_and_are_never_negative(
    words: dict[int, float], near: dict[int, float]
) -> None:
    lists = {"words": ranked(words), "minilm": ranked(near)}
    for fuse in (weighted_sum, reciprocal_rank):
        scores = [c.score for c in fuse(lists, {"words": 0.4, "minilm": 0.6}).best]
        assert scores == sorted(scores, reverse=True)
        assert all(score >= 0.0 for score in scores)


@given(SCORES)
def test_one_list_alone_keeps_its_order(words: dict[int, float]) -> None:
    rows = ranked(words)
    for fuse in (weighted_sum, reciprocal_rank):
        fused = fuse({"words": rows}, {"words": 1.0}).best
        order = {c.id: c.score for c in fused}
        assert all(order[a.id] >= order[b.id] for a, b in zip(rows, rows[1:], strict=False))


def test_a_row_that_leads_both_lists_leads_the_fused_one() -> None:
    lists = {
        "words": ranked({1: 9.0, 2: 3.0, 3: 1.0}),
        "minilm": ranked({3: 0.5, 1: 0.9, 2: 0.4}),
    }
    assert weighted_sum(lists, {"words": 0.5, "minilm": 0.5}).best[0].id == 1
    assert reciprocal_rank(lists, {"words": 0.5, "minilm": 0.5}).best[0].id == 1


def test_the_best_of_a_list_without_a_good_match_counts_little() -> None:
    lists = {"words": ranked({1: 9.0, 2: 8.0}), "minilm": ranked({2: 0.75, 1: 0.70})}
    weights = {"words": 0.5, "minilm": 0.5}
    wide, narrow = Background(mean=0.70, deviation=0.1), Background(mean=0.70, deviation=0.01)
    flat = {"minilm": Calibration(collection=wide, chunks=3000)}
    telling = {"minilm": Calibration(collection=narrow, chunks=3000)}
    assert weighted_sum(lists, weights, calibrations=flat).best[0].id == 1
    assert weighted_sum(lists, weights, calibrations=telling).best[0].id == 2


def test_the_best_match_by_words_counts_less_if_it_has_few_of_the_words() -> None:
    lists = {"words": ranked({1: 9.0, 2: 5.0}), "minilm": ranked({2: 0.80, 1: 0.70})}
    weights = {"words": 0.5, "minilm": 0.5}
    background = Background(mean=0.60, deviation=0.05)
    scale = {"minilm": Calibration(collection=background, chunks=3000)}
    for share, first in ((1.0, 1), (0.5, 1), (0.1, 2)):
        fused = weighted_sum(lists, weights, calibrations=scale, words_share=share)
        assert fused.best[0].id == first


def test_a_cosine_counts_more_if_it_stands_out_of_a_small_collection() -> None:
    lists = {"words": ranked({1: 9.0}), "minilm": ranked({2: 0.80, 1: 0.60})}
    weights = {"words": 0.5, "minilm": 0.5}
    background = Background(mean=0.60, deviation=0.05)
    for chunks, first in ((20, 2), (100_000, 1)):
        scale = {"minilm": Calibration(collection=background, chunks=chunks)}
        assert weighted_sum(lists, weights, calibrations=scale).best[0].id == first


def test_a_text_without_a_vector_yet_counts_by_words_alone() -> None:
    lists = {"words": ranked({1: 9.0, 2: 8.0}), "minilm": ranked({2: 0.80, 3: 0.70})}
    background = Background(mean=0.60, deviation=0.05)
    scale = {"minilm": Calibration(collection=background, chunks=3000)}
    fused = weighted_sum(lists, {"words": 0.5, "minilm": 0.5}, calibrations=scale)
    assert [(row.id, round(row.score, 2)) for row in fused.best[:2]] == [(1, 1.0), (2, 0.84)]


def test_a_trace_says_rank_score_and_weight_in_each_list() -> None:
    lists = {"words": ranked({1: 9.0, 2: 3.0}), "minilm": ranked({2: 0.9, 1: 0.1})}
    fused = weighted_sum(lists, {"words": 0.3, "minilm": 0.7})
    assert [(t.name, t.rank, t.score, t.weight) for t in fused.traces(2)] == [
        ("words", 2, 3.0, 0.3),
        ("minilm", 1, 0.9, 0.7),
    ]


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("getUserName", "symbol"),
        ("Engine.search", "symbol"),
        ("http_server", "symbol"),
        ("src/ragstone/engine.py", "symbol"),
        ("how are routes registered", "question"),
        ("who wrote this?", "question"),
        ("zinc supplements shorten the duration of a cold", "statement"),
        ("session management", "keywords"),
        ("routing", "keywords"),
        ("", "keywords"),
        ("🦀", "keywords"),
    ],
)
def test_a_query_reads_as_a_name_a_question_or_a_few_words(query: str, kind: str) -> None:
    assert query_type(query) == kind


def test_words_alone_answer_while_there_are_no_vectors() -> None:
    assert list_weights("question", {"minilm": 0.0}, words=True) == {"words": 1.0}


def test_half_covering_vectors_count_half() -> None:
    full = list_weights("question", {"minilm": 1.0}, words=True)
    half = list_weights("question", {"minilm": 0.5}, words=True)
    assert half["minilm"] == pytest.approx(full["minilm"] / 2)
    assert sum(half.values()) == pytest.approx(1.0)
