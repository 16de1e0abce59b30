"""How sure an answer is: words that are there, and meaning that is near."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragstone.retrieval.ranking.confidence import (
    WEAK_CONFIDENCE,
    Background,
    Calibration,
    confidence,
)
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


def confidence_of(
    rows: Sequence[StoredChunk],
    traces: dict[int, tuple[ListTrace, ...]],
    terms: Sequence[str],
    calibrations: dict[str, Calibration] = CALIBRATIONS,
) -> float:
    return confidence(rows, traces, terms, calibrations, counts_words=True)


def test_all_words_and_the_very_meaning_are_sure() -> None:
    sure = confidence_of([row(1, "ferry bell")], {1: near(1.0)}, ["ferri", "bell"])
    assert sure == pytest.approx(1.0)


def test_half_of_the_words_alone_are_the_limit_of_an_answer_that_fits() -> None:
    half = confidence_of([row(1, "ferry dock")], {1: ()}, ["ferri", "bell"], {})
    third = confidence_of([row(1, "ferry dock")], {1: ()}, ["ferri", "bell", "horn"], {})
    assert third < half == pytest.approx(WEAK_CONFIDENCE)


@pytest.mark.parametrize("unrelated", [0.05, 0.7])
def test_the_cosine_of_unrelated_texts_counts_for_nothing(unrelated: float) -> None:
    calibrations = {"minilm": Calibration(unrelated=Background(mean=unrelated))}
    traces = {1: near(unrelated)}
    assert confidence_of([row(1, "ferry")], traces, ["bell"], calibrations) == 0.0


def test_the_same_cosine_says_less_in_a_larger_collection() -> None:
    sure = []
    for chunks in (1, 50, 5000):
        calibration = Calibration(Background(mean=0.05, deviation=0.1), chunks=chunks)
        sure.append(
            confidence_of([row(1, "dock")], {1: near(0.35)}, ["bell"], {"minilm": calibration})
        )
    assert sure[0] > sure[1] > WEAK_CONFIDENCE > sure[2]


def test_a_passage_with_every_word_of_the_query_always_fits() -> None:
    calibrations = {"minilm": Calibration(Background(mean=0.05, deviation=0.1), chunks=9000)}
    traces = {1: near(0.0)}
    assert confidence_of([row(1, "E1042")], traces, ["e1042"], calibrations) > WEAK_CONFIDENCE
    assert confidence_of([row(1, "E1043")], traces, ["e1042"], calibrations) < WEAK_CONFIDENCE


def test_the_surest_of_the_best_counts_wherever_it_stands() -> None:
    rows = [row(1, "dock"), row(2, "ferry bell"), row(3, "ferry")]
    traces = {1: near(0.3), 2: near(0.7), 3: near(0.1)}
    alone = [confidence_of([single], traces, ["ferri", "bell"]) for single in rows]
    assert confidence_of(rows, traces, ["ferri", "bell"]) == max(alone) == alone[1]


def test_nothing_found_is_not_sure() -> None:
    assert confidence_of([], {}, ["bell"], {}) == 0.0
