"""What counts as a change of mind, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.memory.facts import contradicts, facts, restates, wording


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My favourite editor is vim.", "My favourite editor is now helix."),
        ("The staging database is on port 5432", "Heads up: the staging database is on port 5433."),
        ("I live in Berlin.", "I moved to Lisbon, finally!"),
        ("We use Redis for caching.", "We switched to Memcached for caching."),
        ("I work at Initech.", "I'm now working for Globex."),
        ("call me Al", "Actually, call me Alexandra."),
        ("Our deadline is 3 March.", "our deadline has moved to 10 March"),
    ],
)
def test_another_value_in_the_same_slot_supersedes_and_says_why(older: str, newer: str) -> None:
    why = contradicts(facts(newer), facts(older))
    assert " became " in why
    assert contradicts(facts(older), facts(newer))  # it is the order of turns that decides, not the words


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My favourite editor is vim.", "My favourite editor is vim, as I said."),
        ("My favourite editor is vim.", "Is my favourite editor helix?"),
        ("My favourite editor is vim.", "My favourite editor is not helix."),
        ("My favourite editor is vim.", "My favourite colour is green."),
        ("My brother's name is Tom.", "My sister's name is Ann."),
        ("I live in Berlin.", "I live in Berlin, Germany."),
        ("I live in Berlin.", "She moved to Lisbon."),
        ("The only problem is time.", "The only problem is money."),
        ("We use Redis for caching.", "We use Kafka for events."),
        ("I like tea.", "I like coffee."),
        ("We went to Rome.", "We went to Paris."),
        ("If the port is 80, fine.", "The port is 81."),
    ],
)
def test_nothing_else_does(older: str, newer: str) -> None:
    assert contradicts(facts(newer), facts(older)) == ""


def test_the_same_said_again_is_a_restatement() -> None:
    assert restates(wording("My dog is called Rex."), wording("my dog, called Rex, is"))
    assert not restates(wording("My dog is called Rex."), wording("My cat is called Tom."))
    assert not restates(wording("yes"), wording(""))
    assert restates(wording("👍"), wording(" 👍 "))


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_turns_can_be_compared(one: str, other: str) -> None:
    assert contradicts(facts(one), facts(one)) == ""
    contradicts(facts(one), facts(other))
    assert restates(wording(one), wording(one))
