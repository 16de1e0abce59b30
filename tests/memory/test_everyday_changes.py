"""Changes in other words than the earlier statement: precision and recall on pairs of everyday facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.test_replacements import is_superseded

FOLDER = Path(__file__).parent


def read_pairs(name: str) -> list[list[str]]:
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [line.split(" | ") for line in lines if not line.startswith("#")]


PAIRS = read_pairs("everyday_changes.txt")
CHANGED, UNCHANGED = PAIRS[:15], PAIRS[15:]


def test_everyday_changes_are_noticed_with_high_precision() -> None:
    noticed = [pair for pair in CHANGED if is_superseded(*pair)]
    wrong = [pair for pair in UNCHANGED if is_superseded(*pair)]
    assert len(UNCHANGED) == 15
    assert len(noticed) >= 0.7 * len(CHANGED)
    assert len(noticed) >= 0.95 * len(noticed + wrong)


@pytest.mark.parametrize(("older", "newer"), read_pairs("everyday_near_misses.txt"))
def test_similar_sentences_about_something_else_supersede_nothing(
    older: str, newer: str
) -> None:
    assert not is_superseded(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The exam is on 3 June.", "The exam was moved to 10 June."),
        ("My salary is 50k.", "My salary was raised to 55k."),
        ("The course starts on 3 May.", "The course now starts on 10 May."),
        ("My email is a@x.org.", "I've got a new email: b@x.org"),
        ("Our meeting is on Monday at 9.", "The meeting is on Wednesday now."),
        ("I prefer tabs.", "I prefer spaces over tabs."),
        ("Die Besprechung ist am Montag um 9.", "Die Besprechung ist jetzt am Mittwoch um 9."),
        ("Das Budget ist 500 Euro.", "Das Budget ist jetzt 700 Euro."),
    ],
)
def test_a_new_value_with_another_verb_or_in_german_supersedes(older: str, newer: str) -> None:
    assert is_superseded(older, newer)


@pytest.mark.parametrize(
    "statement",
    [
        "We use spaces instead of tabs for indentation.",
        "We moved the tests from unittest to pytest.",
        "I prefer coffee to tea.",
    ],
)
def test_a_repeated_change_does_not_supersede_itself(statement: str) -> None:
    assert not is_superseded(statement, statement)


@pytest.mark.parametrize(("older", "newer"), read_pairs("old_values.txt"))
def test_a_new_value_beside_the_named_old_value_supersedes(older: str, newer: str) -> None:
    assert is_superseded(older, newer)


@pytest.mark.parametrize(("older", "newer"), read_pairs("old_value_near_misses.txt"))
def test_another_old_value_or_another_thing_supersedes_nothing(older: str, newer: str) -> None:
    assert not is_superseded(older, newer)
