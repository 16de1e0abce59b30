from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.retrieval.ask.quotes import build_question, check_quotes, is_declined
from ragstone.types import Cited, Span

PIECES = [
    Cited(
        "a__chunk_0",
        "a.md:1",
        "The ferry leaves\nat nine from the “north quay”.",
        0.9,
        "a.md",
        0,
        Span(0, 9, 0, 9, 1, 1),
    ),
    Cited("b__chunk_0", "b.md:1", "Lunch is at noon.", 0.5, "b.md", 0, Span(0, 9, 0, 9, 1, 1)),
]


def test_line_breaks_case_and_marks_of_a_quotation_do_not_count() -> None:
    answer = 'It leaves at nine [1: "the ferry leaves at nine from the "north quay""] and [2: “Lunch is at noon.”].'
    quotes = check_quotes(
        'At nine [1: "the ferry leaves at nine"] [2: “Lunch is at noon.”]', PIECES
    )
    assert [(quote.number, quote.citation, quote.found) for quote in quotes] == [
        (1, "a.md:1", True),
        (2, "b.md:1", True),
    ]
    assert check_quotes(answer, PIECES)[-1].found


@pytest.mark.parametrize(
    "answer",
    [
        '[1: "the ferry leaves at ten"]',
        '[2: "the ferry leaves at nine"]',
        '[7: "the ferry leaves"]',
        '[0: "the ferry leaves"]',
        '[1: "the"]',
    ],
)
def test_words_that_are_not_in_the_passage_are_not_found(answer: str) -> None:
    assert [quote.found for quote in check_quotes(answer, PIECES)] == [False]


def test_declining_is_understood_however_it_is_dressed() -> None:
    assert is_declined("NOT FOUND")
    assert is_declined(" Not found. ")
    assert is_declined("**NOT FOUND**")
    assert is_declined("NOT FOUND: the passages speak of lunch")
    assert not is_declined('Not found in the shop, but [1: "the ferry leaves at nine"]')
    assert not is_declined("The ferry was not found.")


def test_passages_are_numbered_inside_a_fence() -> None:
    asked = build_question("when?", PIECES, "abcd")
    assert asked.startswith("<<<passages abcd>>>\n[1] a.md:1\nThe ferry leaves")
    assert asked.endswith("<<<end abcd>>>\n\nQuestion: when?")


@given(st.text())
def test_any_answer_can_be_checked(answer: str) -> None:
    check_quotes(answer, PIECES)
    is_declined(answer)
