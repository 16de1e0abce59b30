"""Compression keeps exact slices."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragstone.retrieval.ranking.compression import answering_slice
from ragstone.text import query_terms

PROSE = "The lock is held by one writer. Bananas are yellow. Readers never wait for it. Apples fall from trees."


def test_only_the_sentences_that_answer_stay() -> None:
    start, end = answering_slice(PROSE, query_terms("which fruit is yellow"), by_lines=False)
    assert PROSE[start:end] == "Bananas are yellow."


def test_lines_are_kept_whole_in_code() -> None:
    code = "import os\n\ndef alpha():\n    return lock.acquire()\n\ndef beta():\n    return 2\n"
    start, end = answering_slice(code, query_terms("lock acquire"), by_lines=True)
    assert code[start:end] == "    return lock.acquire()"


def test_nothing_matching_keeps_the_whole_text() -> None:
    assert answering_slice(PROSE, query_terms("zeppelin"), by_lines=False) == (0, len(PROSE))


@given(st.text(max_size=400), st.text(max_size=40), st.booleans())
def test_any_text_and_query_give_a_slice_inside_the_text(
    text: str, query: str, by_lines: bool
) -> None:
    start, end = answering_slice(text, query_terms(query), by_lines=by_lines)
    assert 0 <= start <= end <= len(text)
