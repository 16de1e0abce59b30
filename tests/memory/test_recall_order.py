"""A newer statement is never recalled below the older one that it replaces."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ragstone import Engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        yield engine


def recall_order(engine: Engine, question: str, top_k: int = 5) -> list[int]:
    return [entry.turn.index for entry in engine.recall("chat", question, top_k)]


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        (
            "We use Redis for the queue.",
            "We no longer use Redis, we use Postgres for the queue.",
            "what holds the queue",
        ),
        ("We use Redis for the queue.", "We no longer use Redis.", "what holds the queue"),
        ("Marit lives in Bergen.", "Marit moved to Oslo.", "where does Marit live"),
        ("The meeting is on Monday.", "The meeting is on Tuesday.", "when is the meeting"),
        (
            "Tom is responsible for billing.",
            "Priya is responsible for billing.",
            "who is responsible for billing",
        ),
    ],
)
def test_the_newer_turn_is_first_even_if_the_older_one_matches_better(
    engine: Engine, older: str, newer: str, question: str
) -> None:
    engine.remember("chat", "user", older)
    engine.remember("chat", "user", "The cat sleeps.")
    engine.remember("chat", "user", newer)
    order = recall_order(engine, question)
    assert order.index(2) < order.index(0)
    assert recall_order(engine, question, 1) == [2]
    scores = [entry.score for entry in engine.recall("chat", question)]
    assert scores == sorted(scores, reverse=True)


def test_each_turn_of_a_chain_of_changes_stands_before_the_turn_that_it_replaced(
    engine: Engine,
) -> None:
    engine.remember("chat", "user", "Our database is Oracle, a database for our data.")
    engine.remember("chat", "user", "Our database is now MySQL.")
    engine.remember("chat", "user", "Our database is now SQLite.")
    assert recall_order(engine, "Oracle a database for our data") == [2, 1, 0]


def test_a_question_for_the_older_value_keeps_it_first(engine: Engine) -> None:
    engine.remember("chat", "user", "I like green tea.")
    engine.remember("chat", "user", "I like black tea.")
    assert recall_order(engine, "green tea")[0] == 0


def test_of_two_equal_sentences_with_another_value_the_newer_one_is_first(
    engine: Engine,
) -> None:
    for content in (
        "Which do I prefer?",
        "I prefer tabs.",
        "The cat sleeps.",
        "I prefer spaces.",
    ):
        engine.remember("chat", "user", content)
    recalled = engine.recall("chat", "what do I prefer")
    order = [entry.turn.index for entry in recalled]
    assert order.index(3) < order.index(1)
    newest = recalled[order.index(3)]
    assert "newer than turn 1 with another value" in dict(newest.boosts)
    assert newest.turn.supersedes == ()
    order = recall_order(engine, "do I prefer tabs")
    assert order.index(1) < order.index(3)


def test_each_superseded_turn_names_its_own_change(engine: Engine) -> None:
    for port in (5433, 6000, 7000):
        engine.remember("chat", "user", f"The staging database is on port {port}.")
    reasons = {
        entry.turn.index: entry.because for entry in engine.recall("chat", "staging port")
    }
    hits = engine.search("staging port", memory="chat")
    sentence = "The staging database is on port"
    for index, port in enumerate((5433, 6000)):
        assert reasons[index] == f'"{sentence} {port}" became "{sentence} 7000"'
        hit = next(hit for hit in hits if hit.metadata["index"] == index)
        assert hit.metadata["superseded_because"] == reasons[index]


def test_a_damaged_superseding_turn_still_gives_the_stored_reason(tmp_path: Path) -> None:
    config = {"rag.embedding_provider": "fake"}
    with Engine.open(tmp_path, config=config) as engine:
        engine.remember("chat", "user", "Our budget is 500 euros.")
        engine.remember("chat", "user", "The budget was cut to 300 euros.")
        because = engine.turns("chat")[-1].because
    [path] = tmp_path.rglob("ragstone.db")
    with closing(sqlite3.connect(path)) as database:
        [newest] = database.execute("SELECT max(id) FROM texts").fetchone()
    with Engine.open(tmp_path, config=config) as engine:
        for number in range(25):  # the last turns of a session are read with their texts
            engine.remember("chat", "user", f"Snow fell on day {number} of winter.")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE texts SET body = 'forged' WHERE id = ?", (newest,))
    with Engine.open(tmp_path, config=config) as engine:
        hits = engine.search("budget of 500 euros", memory="chat")
    old = next(hit for hit in hits if hit.metadata["index"] == 0)
    assert old.metadata["superseded_because"] == because


def test_the_superseding_turn_of_another_time_is_left_out_if_times_are_limited(
    engine: Engine,
) -> None:
    engine.remember("chat", "user", "We use Redis for the queue.", at=1000.0)
    engine.remember("chat", "user", "We no longer use Redis.", at=2000.0)
    recalled = engine.recall("chat", "what holds the queue", until=1500.0)
    assert [entry.turn.index for entry in recalled] == [0]
