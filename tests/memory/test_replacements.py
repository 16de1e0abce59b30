"""Turns that replace an earlier statement."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import Engine
from ragstone.memory.facts import find_contradiction, find_facts
from ragstone.memory.replacements import find_changes, find_claims, find_replacement
from tests.memory.test_facts import EVERYDAY

LINES = (Path(__file__).parent / "replacements.txt").read_text("utf-8").splitlines()
PAIRS = [line.split(" | ") for line in LINES if line and not line.startswith("#")]
CORRECTIONS = (Path(__file__).parent / "corrections.txt").read_text("utf-8").splitlines()
REPLACED, NEAR_MISSES = PAIRS[:30], PAIRS[30:]


HELD_OUT = (Path(__file__).parent / "held_out.txt").read_text("utf-8").splitlines()
HELD_OUT_PAIRS = [line.split(" | ") for line in HELD_OUT if not line.startswith("#")]


def supersedes(older: str, newer: str, folder: Path) -> bool:
    """Return whether the second of two turns supersedes the first."""
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as engine:
        engine.remember("chat", "user", older)
        engine.remember("chat", "user", newer)
        return engine.turns("chat")[-1].supersedes == (0,)


def test_replacements_are_recognised_and_near_misses_are_not(tmp_path: Path) -> None:
    found = [pair for pair in REPLACED if is_replaced(*pair)]
    wrong = [pair for pair in NEAR_MISSES if is_replaced(*pair)]
    assert not wrong
    assert len(found) >= 0.9 * len(REPLACED)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We use Redis for the queue.", "We no longer use Redis for the queue."),
        ("The backup runs at 2 am.", "Correction: the backup runs at 3 am."),
        ("Our data is stored in MySQL.", "We migrated from MySQL to Postgres for our data."),
        ("We deploy with Jenkins.", "We deploy with GitHub Actions instead of Jenkins."),
        ("The server is in Frankfurt.", "The server is now in Dublin."),
        ("The status report is sent weekly.", "The status report is now sent monthly."),
    ],
    ids=["no longer", "correction", "migrated", "instead of", "is now", "frequency"],
)
def test_each_plain_form_of_a_replacement_is_recognised(
    tmp_path: Path, older: str, newer: str
) -> None:
    assert supersedes(older, newer, tmp_path)


def test_most_held_out_replacements_are_recognised_and_no_near_miss_is() -> None:
    noticed = [pair for pair in HELD_OUT_PAIRS if is_superseded(*pair)]
    assert not [pair for pair in noticed if pair in HELD_OUT_PAIRS[10:]]
    assert len(noticed) >= 8


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "We use Redis for the queue.",
            "We no longer use Redis, we use Postgres for the queue.",
        ),
        ("We use Redis for the queue.", "We no longer use Redis, it was too slow."),
        ("Marit lives in Bergen.", "Marit moved to Oslo."),
        ("The meeting is on Monday.", "The meeting is on Tuesday."),
    ],
)
def test_a_new_value_in_a_second_clause_or_of_a_named_person_supersedes(
    older: str, newer: str
) -> None:
    assert is_superseded(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "We use Redis for the session cache.",
            "We no longer use Redis, we use Postgres for the queue.",
        ),
        (
            "We use Redis for the queue.",
            "We no longer use Redis for sessions, we use Postgres for the queue.",
        ),
        ("Marit lives in Bergen.", "The sister of Marit moved to Oslo."),
        ("She lives in Bergen.", "She moved to Oslo."),
        ("The train is on Monday.", "The train is on Tuesday."),
    ],
)
def test_a_second_clause_or_a_person_of_another_subject_supersedes_nothing(
    older: str, newer: str
) -> None:
    assert not is_superseded(older, newer)


@pytest.mark.parametrize("pair", CORRECTIONS)
def test_a_correction_that_names_the_old_value_replaces_it(pair: str) -> None:
    older, newer = pair.split(" | ")
    assert is_replaced(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We ship on Fridays.", "We test on Mondays, not on Fridays."),
        ("Priya does the password rotation.", "Marco is on holiday, not Priya."),
        ("The office is in Berlin.", "I like tea, not coffee."),
        ("The limit is 100 requests.", "The cache holds 60 entries, not 100."),
    ],
)
def test_a_correction_of_something_else_replaces_nothing(older: str, newer: str) -> None:
    assert not is_replaced(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We agreed on three attempts.", "We changed our mind: now five attempts."),
        ("We agreed on three attempts.", "We've changed our minds, five attempts."),
        ("We decided to keep 30 backups.", "We changed our mind. We keep 60 backups now."),
        ("I want two monitors.", "I changed my mind - three monitors."),
        ("I want two monitors.", "I changed my mind. Now three monitors."),
        ("We will use 4 workers.", "On second thought, 8 workers."),
    ],
)
def test_a_changed_mind_replaces_the_decision_about_another_number(
    older: str, newer: str
) -> None:
    assert is_replaced(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We agreed on three attempts.", "We changed our mind: now five servers."),
        ("We agreed on three attempts.", "We changed our mind: now three attempts."),
        ("We agreed on three attempts.", "We changed our mind after five attempts."),
        ("We agreed on three attempts.", "We changed our mind in five attempts."),
        ("We agreed on three attempts.", "We changed our mind because five attempts failed."),
        ("We agreed on three attempts.", "They changed their mind: now five attempts."),
        ("We agreed on three attempts.", "We have not changed our mind: now five attempts."),
        ("We agreed on three attempts.", "We changed our mind: not five attempts."),
        ("We agreed on three attempts.", "If we changed our mind: five attempts."),
        ("We agreed on three attempts.", "We changed our mind: five attempts for uploads."),
        ("We agreed on three attempts.", "I changed my mind: now five attempts."),
        ("We failed after three attempts.", "We changed our mind: now five attempts."),
        ("The vendor allows three attempts.", "We changed our mind: now five attempts."),
        ("We agreed on three attempts in 5 minutes.", "We changed our mind: now 9 minutes."),
    ],
)
def test_a_changed_mind_about_something_else_replaces_nothing(older: str, newer: str) -> None:
    assert not is_replaced(older, newer)


def is_replaced(older: str, newer: str) -> bool:
    """Return whether a turn replaces a claim of an earlier one."""
    return bool(find_replacement(find_changes(newer), find_claims(older)))


def is_superseded(older: str, newer: str) -> bool:
    """Return whether a turn contradicts or replaces an earlier one."""
    contradiction = find_contradiction(find_facts(newer), find_facts(older))
    return bool(contradiction) or is_replaced(older, newer)


@pytest.mark.parametrize("pair", EVERYDAY)
def test_everyday_sentences_do_not_replace_each_other(pair: str) -> None:
    older, newer = pair.split(" | ")
    assert not is_replaced(older, newer)
    assert not is_replaced(newer, older)


def test_a_replaced_turn_is_recalled_after_the_new_one_and_says_so(tmp_path: Path) -> None:
    older, newer = REPLACED[2]
    assert supersedes(older, newer, tmp_path)
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        recalled = engine.recall("chat", "data in MySQL")
    old = next(result for result in recalled if result.turn.index == 0)
    assert old.superseded_by == 1


def test_another_speaker_replaces_nothing(tmp_path: Path) -> None:
    older, newer = REPLACED[0]
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.remember("chat", "user", older)
        engine.remember("chat", "assistant", newer)
        assert engine.turns("chat")[-1].supersedes == ()


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_turns_can_be_compared(text: str, other: str) -> None:
    is_replaced(text, other)
    is_replaced(other, text)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The API key rotates every 30 days.", "Correction: it rotates every 90 days."),
        ("The rate limit is 100 requests a minute.", "Correction: 250 requests."),
        ("Our standup is on Monday at noon.", "Correction: the standup is on Tuesday."),
    ],
)
def test_a_brief_correction_comes_before_the_turn_that_it_replaces(
    older: str, newer: str, tmp_path: Path
) -> None:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.remember("chat", "user", older)
        engine.remember("chat", "user", newer)
        first, second = engine.recall("chat", older.rstrip("."))
    assert (first.turn.content, second.superseded_by) == (newer, 1)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The API key rotates every 30 days.", "Correction: 4 servers."),
        ("The job runs 2 times in 30 days.", "Correction: it runs 5 times."),
        ("The API key rotates every 30 days.", "Correction: the report is sent after 90 days."),
    ],
)
def test_a_brief_correction_of_something_else_replaces_nothing(
    older: str, newer: str, tmp_path: Path
) -> None:
    assert not supersedes(older, newer, tmp_path)
