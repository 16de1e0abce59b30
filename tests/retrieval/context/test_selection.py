"""A caller's own pieces and retrieved hits are ranked together."""

from __future__ import annotations

from ragstone.retrieval.context.builder import ContextRequest, build_context
from ragstone.retrieval.context.selection import (
    Candidate,
    estimate_relevance,
    merge_hits,
    score_candidates,
)
from ragstone.text import query_terms

TASK = "when does the ferry leave"
TERMS = query_terms(TASK)


def test_own_and_retrieved_pieces_share_one_ranking_and_one_budget() -> None:
    own = score_candidates(
        [
            Candidate("Lunch is at noon.", "chat"),
            Candidate("The ferry leaves when the bell rings.", "notes"),
        ],
        TERMS,
        [None, None],
    )
    retrieved = score_candidates(
        [Candidate("The ferry leaves at nine.", "docs/ferry.md", 0.9)], TERMS, [None]
    )
    both = merge_hits(own, retrieved)
    assert {hit.source_doc_id for hit in both[:2]} == {"docs/ferry.md", "notes"}
    assert both[2].source_doc_id == "chat"
    context = build_context(ContextRequest(TASK, 190), both)
    assert "at nine" in context.text
    assert context.tokens <= 190


def test_a_text_in_both_lists_is_shown_once() -> None:
    own = score_candidates([Candidate("The ferry\nleaves.", "chat", 0.5)], TERMS, [None])
    retrieved = score_candidates([Candidate("The ferry leaves.", "docs", 0.9)], TERMS, [None])
    assert [hit.source_doc_id for hit in merge_hits(own, retrieved)] == ["chat"]


def test_relevance_is_the_mean_of_term_share_and_cosine_from_0_to_1() -> None:
    assert (
        estimate_relevance("the ferry leaves", TERMS, None)
        > estimate_relevance("lunch", TERMS, None)
        == 0.0
    )
    assert estimate_relevance("lunch", TERMS, 0.8) == 0.4
    assert estimate_relevance("x", [], -1.0) == 0.0
    assert score_candidates([Candidate("x", "y", 7.0)], TERMS, [None])[0].score == 1.0
