"""Conversations through an engine: what is refused, carried elsewhere, and found beside documents when asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone import Document, Engine
from ragstone.errors import ConfigError, Conflict, InputError, NotFound

FAKE = {"rag.embedding_provider": "fake"}
FERRY = Document("ferry.md", "The ferry leaves the quay at nine.")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path, config=FAKE) as opened:
        yield opened


@pytest.mark.parametrize(
    "wrong",
    [
        lambda e: e.remember("s", "user", "x", at="noon"),
        lambda e: e.remember("s", "user", "x", at=float("nan")),
        lambda e: e.remember("s", "user", "x", at=1e300),
        lambda e: e.remember("s", "user", "x", speaker=5),
        lambda e: e.remember("s", "user", "x", metadata=[1]),
        lambda e: e.remember("s", "user", "x", metadata={"x": object()}),
        lambda e: e.remember("s", "user", "x", colour="red"),
        lambda e: e.turns("s", "many"),
        lambda e: e.turns(None),
        lambda e: e.recall("s", 5),
        lambda e: e.recall(5, "x"),
        lambda e: e.recall("s", "x", "y"),
        lambda e: e.recall("s", "x", since="may"),
        lambda e: e.memory.forget("s", turn="first"),
        lambda e: e.memory.forget("s", before="may"),
        lambda e: e.memory.forget(None),
        lambda e: e.memory.forget("s", turn=1, before=2.0),
        lambda e: e.memory.restore("s", -1),
        lambda e: e.memory.load("text"),
        lambda e: e.memory.load(['{"ragstone_session":1,"session":"s"}'], ""),
        lambda e: e.search("x", memory=5),
        lambda e: e.search("x", memory=["s", 5]),
    ],
)
def test_invalid_arguments_are_refused_in_a_sentence(
    engine: Engine, wrong: Callable[[Any], object]
) -> None:
    with pytest.raises(InputError):
        wrong(engine)
    assert engine.memory.sessions() == []


def test_a_search_returns_turns_only_on_request(engine: Engine) -> None:
    engine.add(FERRY)
    engine.remember("monday", "user", "The ferry to Lido was late.", at=1.0, speaker="Ada")
    engine.remember("tuesday", "assistant", "The ferry is on time.")
    assert {hit.kind for hit in engine.search("ferry")} == {"text"}
    both = engine.search("ferry", memory=True)
    assert {hit.citation for hit in both} == {
        "ferry.md:1",
        "memory:monday turn 0",
        "memory:tuesday turn 0",
    }
    assert [hit.score for hit in both] == sorted((hit.score for hit in both), reverse=True)
    turn = next(hit for hit in both if hit.collection == "monday")
    assert (turn.kind, turn.text, turn.metadata["time"]) == (
        "turn",
        "Ada: The ferry to Lido was late.",
        1.0,
    )
    assert {
        hit.collection for hit in engine.search("ferry", memory="tuesday") if hit.kind == "turn"
    } == {"tuesday"}
    assert len(engine.search("ferry", 2, memory=["monday", "tuesday"])) == 2
    assert [
        hit.kind for hit in engine.search("ferry", memory=True, filters={"path": "*.md"})
    ] == ["text"]
    assert {
        hit.kind for hit in engine.search("ferry", memory=True, filters={"kind": "turn"})
    } == {"turn"}


def test_turns_are_found_without_any_documents(engine: Engine) -> None:
    engine.remember("s", "user", "The bell rings twice.")
    assert [hit.citation for hit in engine.search("bell", memory=True)] == ["memory:s turn 0"]
    explanation = engine.explain("bell", memory="t")
    assert (explanation.hits, explanation.notes[-1]) == ((), "nothing is remembered of 't'")


def test_a_turn_that_no_longer_holds_says_so_among_documents_too(engine: Engine) -> None:
    engine.remember("s", "user", "My favourite editor is vim.")
    engine.remember("s", "user", "My favourite editor is helix.")
    hits = engine.search("favourite editor", memory="s")
    assert [hit.citation for hit in hits] == [
        "memory:s turn 1",
        "memory:s turn 0 (superseded by turn 1)",
    ]
    assert hits[1].metadata["superseded_by"] == 1
    assert (
        engine.search("favourite editor", memory="s", min_score=hits[1].score + 0.01)
        == hits[:1]
    )


def test_a_context_can_hold_documents_and_turns(engine: Engine) -> None:
    engine.add(FERRY)
    engine.remember("s", "user", "The ferry was late.")
    engine.remember("s", "user", "The ferry was full.")
    context = engine.context("ferry", memory="s")
    assert {cited.citation for cited in context.cited} == {
        "ferry.md:1",
        "memory:s turn 0",
        "memory:s turn 1",
    }
    heading, _, rest = context.text.partition("File: memory:s (chunk 0) [memory:s turn 0] #")
    assert heading and rest[4:].startswith("\nuser: The ferry was late.\n")
    assert {cited.uri for cited in engine.context("ferry").cited} == {"ferry.md"}


def test_another_projects_conversations_are_never_in_a_search(
    tmp_path: Path, engine: Engine
) -> None:
    engine.remember("s", "user", "The password is swordfish.")
    with Engine.open(tmp_path, config=FAKE, project="other") as other:
        assert other.search("swordfish", memory=True) == []
        assert other.search("swordfish", memory="s") == []


def test_a_conversation_is_carried_elsewhere_word_for_word(
    tmp_path: Path, engine: Engine
) -> None:
    engine.remember(
        "s",
        "user",
        "  My favourite editor is vim.\n",
        at=5.25,
        speaker="Åsa",
        metadata={"run": "7"},
    )
    engine.remember("s", "user", "gone", at=6.0)
    engine.remember("s", "user", "My favourite editor is helix.", at=7.0, speaker="Åsa")
    engine.memory.forget("s", turn=1)
    lines = list(engine.memory.export("s"))
    assert all(line.isascii() for line in lines)
    (tmp_path / "there").mkdir()
    with Engine.open(tmp_path / "there", config=FAKE) as there:
        assert there.memory.load(lines) == 2
        assert there.turns("s") == engine.turns("s")
        assert there.turns("s")[1].supersedes == (0,)
        assert there.recall("s", "favourite editor")[0].turn.index == 2
        assert list(there.memory.export("s")) == lines
        assert there.memory.load(lines) == 0
        assert there.remember("s", "user", "and on") == 3
        assert there.memory.load(lines, "copy") == 2
        assert [session.name for session in there.memory.sessions()] == ["copy", "s"]


def test_a_conversation_never_overwrites_another(engine: Engine) -> None:
    engine.remember("s", "user", "one", at=1.0)
    engine.remember("t", "user", "two", at=1.0)
    with pytest.raises(Conflict, match="another turn 0"):
        engine.memory.load(engine.memory.export("t"), "s")
    assert [turn.content for turn in engine.turns("s")] == ["one"]
    with pytest.raises(NotFound, match="nothing is remembered of 'u'"):
        engine.memory.export("u")


def test_a_secret_in_an_imported_conversation_is_not_stored(engine: Engine) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    turn = {"turn": 0, "role": "user", "time": 1.0, "content": f"use {key}"}
    engine.memory.load(['{"ragstone_session":1,"session":"s"}', json.dumps(turn)])
    assert key not in engine.turns("s")[0].content


def test_old_turns_are_forgotten_in_every_session(engine: Engine) -> None:
    for session in ("a", "b"):
        engine.remember(session, "user", "old", at=10.0)
        engine.remember(session, "user", "new", at=20.0)
    assert engine.memory.forget(None, before=15.0) == 2
    assert [[turn.content for turn in engine.turns(session)] for session in ("a", "b")] == [
        ["new"],
        ["new"],
    ]


def test_a_disabled_engine_stores_no_conversation(tmp_path: Path) -> None:
    off = Engine.open(tmp_path, config={**FAKE, "rag.enabled": False})
    with pytest.raises(ConfigError, match="switched off"):
        off.memory.load(['{"ragstone_session":1,"session":"s"}'])
    assert off.search("x", memory=True) == []
    assert not (tmp_path / ".ragstone").exists()
