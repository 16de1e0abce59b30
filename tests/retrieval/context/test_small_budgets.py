"""A budget that is too small gives one reason, and the smallest budget that is enough."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.retrieval.context.builder import ContextRequest, build_context
from ragstone.types import ContextFormat, Hit
from tests.retrieval.context.test_builder import PROSE, forms, frame, hit, hit_lists, tasks


@given(hits=hit_lists.filter(bool), more=st.integers(8, 300), form=forms, task=tasks)
def test_a_small_budget_gives_a_context_or_names_a_larger_one(
    hits: list[Hit], more: int, form: ContextFormat, task: str
) -> None:
    context = build_context(ContextRequest(task, frame(form, task) + more, form), hits)
    assert bool(context.cited) == bool(context.text) != bool(context.notes)
    for note in context.notes:
        enough = int(note.removesuffix(" are enough").rpartition(" ")[2])
        assert build_context(ContextRequest(task, enough, form), hits).cited
        assert build_context(ContextRequest(task, enough - 1, form), hits).notes == (
            note.replace(f"{context.budget:,} token", f"{enough - 1:,} token"),
        )


def test_a_window_that_is_too_small_is_named_with_one_that_is_enough() -> None:
    task = "when do the tides turn"
    narrow = build_context(ContextRequest(task, window=100), [hit("a.md", PROSE)])
    (note,) = narrow.notes
    assert note.startswith("a window of 100 tokens is too small; ")
    enough = int(note.removesuffix(" are enough").rpartition(" ")[2])
    assert build_context(ContextRequest(task, window=enough), [hit("a.md", PROSE)]).cited


def test_a_budget_without_room_is_the_only_reason_that_is_given() -> None:
    context = build_context(ContextRequest("tides", 1), [hit("a.md", PROSE, score=0.01)])
    (note,) = context.notes
    assert note.startswith("a budget of 1 token is too small; ")
    assert not context.needs_clarification
    assert not context.question


def test_a_context_of_an_empty_index_says_so_and_asks_nothing() -> None:
    context = build_context(ContextRequest("when do the tides turn"), [], index_is_empty=True)
    assert context.notes == ("nothing is indexed here yet, so there is nothing to search",)
    assert not context.needs_clarification
    assert not context.question


@pytest.mark.parametrize("budget", range(200, 700, 50))
def test_a_shortened_piece_uses_the_room_of_the_budget(budget: int) -> None:
    lines = [f"    total = add(total, price_{number})" for number in range(200)]
    code = "\n".join(["def add_prices(total):", *lines])
    long_hit = replace(hit("shop/prices.py", code), kind="code")
    context = build_context(ContextRequest("how are prices added", budget), [long_hit])
    assert budget - 20 <= context.tokens <= budget
