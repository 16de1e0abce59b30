from __future__ import annotations

from ragstone.retrieval.context.build import Wish, build
from ragstone.retrieval.context.select import Candidate, as_hits, merged, relevance
from ragstone.text import query_terms

TASK = "when does the ferry leave"
WANTED = query_terms(TASK)


def test_pieces_of_both_sides_are_ranked_by_relevance_in_one_budget() -> None:
    own = as_hits(
        [
            Candidate("Lunch is at noon.", "chat"),
            Candidate("The ferry leaves when the bell rings.", "notes"),
        ],
        WANTED,
        [None, None],
    )
    found = as_hits([Candidate("The ferry leaves at nine.", "docs/ferry.md", 0.9)], WANTED, [None])
    both = merged(own, found)
    assert {hit.source_doc_id for hit in both[:2]} == {"docs/ferry.md", "notes"}
    assert both[2].source_doc_id == "chat"
    made = build(Wish(TASK, 150), both)
    assert "at nine" in made.text
    assert made.tokens <= 150


def test_a_text_on_both_sides_is_shown_once() -> None:
    own = as_hits([Candidate("The ferry\nleaves.", "chat", 0.5)], WANTED, [None])
    found = as_hits([Candidate("The ferry leaves.", "docs", 0.9)], WANTED, [None])
    assert [hit.source_doc_id for hit in merged(own, found)] == ["chat"]


def test_relevance_is_words_and_meaning_between_nought_and_one() -> None:
    assert relevance("the ferry leaves", WANTED, None) > relevance("lunch", WANTED, None) == 0.0
    assert relevance("lunch", WANTED, 0.8) == 0.4
    assert relevance("x", [], -1.0) == 0.0
    assert as_hits([Candidate("x", "y", 7.0)], WANTED, [None])[0].score == 1.0
