"""Turns among documents: best first, and each says where it is from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.memory.merge import SUPERSEDED, merge_explanations, turn_hit
from ragstone.retrieval.ranking.confidence import NOTHING_FITS
from ragstone.types import Explanation, Hit, Span, Turn

SPAN = Span(0, 3, 0, 3, 1, 1)


def explain_hits(*hits: Hit) -> Explanation:
    return Explanation(
        "q", "keywords", (), {}, {"space": 1.0}, len(hits), hits, (), ("a note",), 1.0
    )


def document(score: float) -> Hit:
    return Hit("a.md__chunk_0", "one", score, {}, "a.md", 0, "default", SPAN)


def turn(index: int, score: float, *duplicates: str) -> Hit:
    uri = f"turn:{index:09d}"
    return Hit(
        f"{uri}__chunk_0",
        "two",
        score,
        {"index": index},
        uri,
        0,
        "s/x",
        SPAN,
        "turn",
        duplicates=duplicates,
    )


def test_a_turn_names_its_session_and_its_restatements() -> None:
    hit = turn_hit(turn(7, 0.5, "turn:000000009:1", "other/s/turn:000000012:1-3"), {})
    assert (hit.citation, hit.doc_id) == ("memory:s/x turn 7", "memory:s/x__turn_7__chunk_0")
    assert hit.duplicates == ("memory:s/x turn 9", "memory:other/s turn 12")


def test_a_turn_that_no_longer_holds_counts_less_and_says_why() -> None:
    later = {7: Turn("s", 9, "user", "", 0.0, because='"a" became "b"')}
    hit = turn_hit(turn(7, 0.5), later)
    assert (hit.score, hit.citation) == (
        0.5 * SUPERSEDED,
        "memory:s/x turn 7 (superseded by turn 9)",
    )
    assert hit.metadata["superseded_because"] == '"a" became "b"'


def test_both_lists_become_one_and_every_dropped_hit_is_listed() -> None:
    both = merge_explanations(
        explain_hits(document(0.6)),
        explain_hits(turn(1, 0.9), turn(2, 0.1), turn(3, 0.5)),
        lambda _: {},
        top_k=2,
        min_score=0.2,
    )
    assert [hit.score for hit in both.hits] == [0.9, 0.6]
    assert [entry.doc_id for entry in both.dropped] == [
        "memory:s/x__turn_3__chunk_0",
        "memory:s/x__turn_2__chunk_0",
    ]
    assert (both.candidates, both.notes) == (4, ("a note",))


def test_a_superseded_turn_never_stands_before_the_turn_that_supersedes_it() -> None:
    later = {1: Turn("s", 2, "user", "", 0.0), 2: Turn("s", 3, "user", "", 0.0)}
    both = merge_explanations(
        explain_hits(document(0.5)),
        explain_hits(turn(1, 0.9), turn(2, 0.3), turn(3, 0.1)),
        lambda _: later,
        top_k=4,
        min_score=0.0,
    )
    assert [hit.metadata.get("index") for hit in both.hits] == [3, 2, 1, None]


@pytest.mark.parametrize(
    ("document_score", "turn_score", "notes"),
    [(0.1, 0.75, ()), (0.75, 0.1, ()), (0.1, 0.15, (NOTHING_FITS,))],
)
def test_a_note_that_nothing_fits_is_about_documents_and_turns(
    document_score: float, turn_score: float, notes: tuple[str, ...]
) -> None:
    weak = (NOTHING_FITS,)
    documents = replace(
        explain_hits(document(document_score)), notes=weak if document_score < 0.2 else ()
    )
    turns = replace(explain_hits(turn(1, turn_score)), notes=weak if turn_score < 0.2 else ())
    both = merge_explanations(documents, turns, lambda _: {}, top_k=1, min_score=0.0)
    assert both.notes == notes
