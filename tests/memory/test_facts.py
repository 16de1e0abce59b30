"""Facts that contradict earlier facts, and restatements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.memory.facts import distinct_words, find_contradiction, find_facts, is_restatement


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My favourite editor is vim.", "My favourite editor is now helix."),
        (
            "The staging database is on port 5432",
            "Heads up: the staging database is on port 5433.",
        ),
        ("I live in Berlin.", "I moved to Lisbon, finally!"),
        ("We use Redis for caching.", "We switched to Memcached for caching."),
        ("I work at Initech.", "I'm now working for Globex."),
        ("call me Al", "Actually, call me Alexandra."),
        ("Our deadline is 3 March.", "our deadline has moved to 10 March"),
        ("My boss is Ann.", "My new boss is Bea."),
        ("Our database is Postgres.", "Our database is now SQLite."),
        ("My email is ada@example.org", "My email is ada@example.com"),
        ("We use vim for editing.", "We now use helix for editing."),
        ("My shift is at 9.", "My shift is at 10."),
    ],
)
def test_another_value_in_the_same_slot_supersedes_and_says_why(older: str, newer: str) -> None:
    why = find_contradiction(find_facts(newer), find_facts(older))
    assert " became " in why


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
def test_other_turns_do_not_supersede(older: str, newer: str) -> None:
    assert find_contradiction(find_facts(newer), find_facts(older)) == ""


EVERYDAY = """
My sister is a doctor. | My sister is coming on Sunday.
The meeting is at three. | The meeting is with Bob.
My dog is sick. | My dog is a labrador.
The weather is nice. | The weather is awful today.
We moved to Postgres. | We moved to Kubernetes last year.
I use Slack for work. | I use Zoom for work.
We use pytest for testing. | We use hypothesis for testing.
I work at home on Fridays. | I work at Acme.
My car is blue. | My car is in the garage.
My phone is dead. | My phone is a Pixel.
I'm living in the moment. | I live in Berlin.
The build is broken. | The build is fast now.
My mum is visiting. | My mum is 70.
The code is in src. | The code is a mess.
Our team is small. | Our team is in London.
The server is down. | The server is in Frankfurt.
my plan is to rest | my plan is simple
I moved to the couch. | I live in Rome.
My name is Ada. | My name is hard to spell.
My job is stressful. | My job is at Acme.
call me later | call me tomorrow
Call me Bob. | Call me when you can.
My address is wrong. | My address is 5 Elm Street.
My budget is tight. | My budget is 500.
My favourite restaurant is Luigi's. | My favourite restaurant is closed today.
My brother is Tom. | My brother is Ben.
My flight is at 9. | My flight is with Lufthansa.
The train is at 9:05. | The train is at 9:35.
The graphics are awesome. | The graphics are unreal.
My son is five. | My son is 120 cm tall.
Our next stop is Rome. | Our next stop is Naples.
My old boss is Ann. | My boss is Bea.
""".strip().splitlines()


@pytest.mark.parametrize("pair", EVERYDAY)
def test_two_facts_about_different_things_do_not_contradict(pair: str) -> None:
    older, newer = pair.split(" | ")
    assert find_contradiction(find_facts(newer), find_facts(older)) == ""
    assert find_contradiction(find_facts(older), find_facts(newer)) == ""


def test_the_same_words_again_are_a_restatement() -> None:
    assert is_restatement(
        distinct_words("My dog is called Rex."), distinct_words("my dog, called Rex, is")
    )
    assert not is_restatement(
        distinct_words("My dog is called Rex."), distinct_words("My cat is called Tom.")
    )
    assert not is_restatement(distinct_words("yes"), distinct_words(""))
    assert is_restatement(distinct_words("👍"), distinct_words(" 👍 "))


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_turns_can_be_compared(text: str, other: str) -> None:
    assert find_contradiction(find_facts(text), find_facts(text)) == ""
    find_contradiction(find_facts(text), find_facts(other))
    assert is_restatement(distinct_words(text), distinct_words(text))
