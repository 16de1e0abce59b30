"""The tools for conversations."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ragstone import Engine
from ragstone.memory.turns import ROLES
from ragstone.surfaces.tools.library import STATUS
from ragstone.surfaces.tools.memory import FORGET, MEMORY_ADD, MEMORY_SEARCH, SESSIONS

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()


def test_a_recalled_turn_that_fits_little_says_so(tmp_path: Path) -> None:
    contents = ("The ferry leaves at nine.", "Rex sleeps.", "Snow fell.", "Leave Rex at home.")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        for content in contents:
            engine.remember("s", "user", content, at=NOON)
        question = {"query": "when does the ferry leave", "session_id": "s"}
        lines = MEMORY_SEARCH(engine, question).text.splitlines()
    assert "[turn 0, user, 2026-03-02] The ferry leaves at nine." in lines
    assert "[turn 3, user, 2026-03-02, fits little] Leave Rex at home." in lines


def test_one_turn_is_counted_in_the_singular(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.remember("s", "user", "The ferry leaves at nine.")
        assert SESSIONS(engine, {}).text == "s: 1 turn"
        assert STATUS(engine, {}).text.splitlines()[:2] == [
            "0 documents, 0 chunks in 0 collections",
            "memory: 1 conversation, 1 turn",
        ]
        assert FORGET(engine, {"session_id": "s"}).text == "Forgot 1 turn of s."


def test_the_tool_names_the_roles_that_are_accepted(tmp_path: Path) -> None:
    assert ROLES in MEMORY_ADD.properties["role"]["description"]
    assert "enum" not in MEMORY_ADD.properties["role"]
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        added = MEMORY_ADD(engine, {"session_id": "s", "content": "Yes.", "role": "referee"})
    assert added.data["role"] == "referee"
