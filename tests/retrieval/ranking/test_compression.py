"""Compression keeps exact slices."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.retrieval.ranking.compression import answering_slices, best_slice, cut_slices
from ragstone.text import query_terms
from ragstone.types import Span

PROSE = "The lock is held by one writer. Bananas are yellow. Readers never wait for it. Apples fall from trees."


PYTHON = '''\
def wait_after(attempt):
    """Wait longer after each failure."""
    return min(30, 2 ** attempt)


def login_required(view):
    """Let logged in users through."""
    def wrapper(*args):
        if request.user is None:
            abort(401)
        return view(*args)
    return wrapper


# Customers call this.
@route("/orders/<order_id>/pay")
@login_required
def pay(order_id):
    order = Order.get(order_id)
    if order is None:
        abort(404)
    charge(order.total)
    return order
'''
TYPESCRIPT = """\
function waitAfter(attempt: number) {
  return Math.min(30, 2 ** attempt);
}

/** Refunds a customer. */
@Post()
export async function giveBack(
  card: Card,
  amount: number,
) {
  const charge = await find(card);
  return charge.cancel(amount);
}

function unrelated() {
  return 1;
}
"""


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


def best(text: str, query: str, most: int, *, by_lines: bool = True) -> str:
    bounds = best_slice(text, query_terms(query), most, by_lines=by_lines)
    assert bounds is not None
    return text[bounds[0] : bounds[1]]


def test_the_best_lines_of_a_function_are_its_decorators_and_its_body() -> None:
    part = best(PYTHON, "explain the pay route", 240)
    assert "def pay(order_id):" in part
    assert part.endswith("    return order")


def test_a_line_of_a_body_answers_a_question_about_its_function() -> None:
    part = best(PYTHON, "what does abort 401 do in login_required", 80)
    assert "abort(401)" in part


@pytest.mark.parametrize("most", range(80, 480, 20))
@pytest.mark.parametrize("query", ["pay route of an order", "refund a customer", "attempt"])
@pytest.mark.parametrize("text", [PYTHON, TYPESCRIPT])
def test_the_best_lines_do_not_end_between_a_header_and_its_body(
    text: str, query: str, most: int
) -> None:
    last = best(text, query, most).splitlines()[-1].strip()
    assert not last.startswith(("@", "#", "/**", "def ", "export", "function", "if "))


def test_a_comment_above_a_function_answers_for_its_body() -> None:
    part = best(TYPESCRIPT, "refund", 180)
    assert "/** Refunds a customer. */" in part
    assert "charge.cancel" in part


def test_a_header_is_better_than_nothing() -> None:
    assert (
        best(
            "def wait_after(attempt):\n    return minimum(30, 2 ** attempt)\n",
            "wait attempt",
            25,
        )
        == "def wait_after(attempt):"
    )


def test_the_best_sentences_are_around_the_answer() -> None:
    text = "Apples fall. The tide turns at noon. It turns again at six. Bananas are yellow."
    assert "six" in best(text, "when does it turn", 60, by_lines=False)


@given(st.text(max_size=400), st.text(max_size=40), st.integers(1, 400), st.booleans())
def test_the_best_slice_is_never_too_long(
    text: str, query: str, most: int, by_lines: bool
) -> None:
    bounds = best_slice(text, query_terms(query), most, by_lines=by_lines)
    if bounds is not None:
        assert 0 < bounds[1] - bounds[0] <= most


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
