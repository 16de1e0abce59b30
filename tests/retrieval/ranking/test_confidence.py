"""How sure an answer is: words that are there, and meaning that is near."""

from __future__ import annotations

import pytest

from ragstone.retrieval.ranking.confidence import Background, Calibration, confidence
from ragstone.types import Chunk, ListTrace, Span, StoredChunk


def row(number: int, text: str) -> StoredChunk:
    return StoredChunk(
        number,
        number,
        "default",
        f"{number}.md",
        "",
        "doc",
        "",
        {},
        Chunk(text, Span(0, 9, 0, 9, 1, 1), 0),
    )


CALIBRATIONS = {"minilm": Calibration(unrelated=Background(mean=0.05, deviation=0.1))}


def near(score: float) -> tuple[ListTrace, ...]:
    return (ListTrace("minilm", 1, score, 1.0, 0.5),)


def test_all_words_and_the_very_meaning_are_sure() -> None:
    weights = {"words": 0.5, "minilm": 0.5}
    assert confidence(
        [row(1, "ferry bell")], {1: near(1.0)}, weights, ["ferri", "bell"], CALIBRATIONS
    ) == pytest.approx(1.0)


def test_half_of_the_words_alone_are_half_sure() -> None:
    terms = ["ferri", "bell"]
    assert confidence([row(1, "ferry dock")], {1: ()}, {"words": 1.0}, terms, {}) == 0.5


@pytest.mark.parametrize("unrelated", [0.05, 0.7])
def test_the_cosine_of_unrelated_texts_counts_for_nothing(unrelated: float) -> None:
    weights = {"words": 0.5, "minilm": 0.5}
    calibrations = {"minilm": Calibration(unrelated=Background(mean=unrelated))}
    traces = {1: near(unrelated)}
    assert confidence([row(1, "ferry")], traces, weights, ["bell"], calibrations) == 0.0


def test_the_surest_of_the_best_counts_wherever_it_stands() -> None:
    rows = [row(1, "dock"), row(2, "ferry bell"), row(3, "ferry")]
    traces = {1: near(0.9), 2: near(0.4), 3: near(0.1)}
    weights = {"words": 0.5, "minilm": 0.5}
    alone = [
        confidence([single], traces, weights, ["ferri", "bell"], CALIBRATIONS)
        for single in rows
    ]
    assert (
        confidence(rows, traces, weights, ["ferri", "bell"], CALIBRATIONS)
        == max(alone)
        == alone[1]
    )


def test_nothing_found_is_not_sure() -> None:
    assert confidence([], {}, {"words": 1.0}, ["bell"], {}) == 0.0
