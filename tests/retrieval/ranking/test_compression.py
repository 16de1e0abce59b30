"""Compression keeps exact slices."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ragstone.retrieval.ranking.compression import answering_slices, cut_slices
from ragstone.text import query_terms
from ragstone.types import Span

PROSE = "The lock is held by one writer. Bananas are yellow. Readers never wait for it. Apples fall from trees."


def slices(text: str, query: str, *, by_lines: bool = False) -> list[str]:
    bounds = answering_slices(text, query_terms(query), by_lines=by_lines)
    return [text[start:end] for start, end in bounds]


def test_only_the_sentences_that_answer_stay() -> None:
    assert slices(PROSE, "which fruit is yellow") == ["Bananas are yellow."]


def test_a_sentence_between_two_answers_is_left_out() -> None:
    kept = slices(PROSE, "which fruit is yellow and which falls from trees")
    assert kept == ["Bananas are yellow.", "Apples fall from trees."]


def test_neighbouring_sentences_that_answer_are_one_slice() -> None:
    kept = slices(PROSE, "yellow bananas, readers wait")
    assert kept == ["Bananas are yellow. Readers never wait for it."]


def test_lines_are_kept_whole_in_code() -> None:
    code = "import os\n\ndef alpha():\n    return lock.acquire()\n\ndef beta():\n    return 2\n"
    assert slices(code, "lock acquire", by_lines=True) == ["    return lock.acquire()"]


def test_nothing_matching_keeps_the_whole_text() -> None:
    assert slices(PROSE, "zeppelin") == [PROSE]


@given(st.text(max_size=400), st.text(max_size=40), st.booleans())
def test_any_text_and_query_give_slices_in_order_with_their_places(
    text: str, query: str, by_lines: bool
) -> None:
    bounds = answering_slices(text, query_terms(query), by_lines=by_lines)
    assert all(0 <= start <= end <= len(text) for start, end in bounds)
    assert all(before[1] <= after[0] for before, after in pairwise(bounds))
    size = len(text.encode("utf-8", "surrogatepass"))
    whole = Span(0, len(text), 0, size, 1, 1 + text.count("\n"))
    for part in cut_slices(text, whole, bounds):
        assert text[part.span.start : part.span.end] == part.text
        assert part.span.line_start == 1 + text[: part.span.start].count("\n")
