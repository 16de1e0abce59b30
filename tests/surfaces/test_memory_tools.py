"""The tools for conversations."""

from __future__ import annotations

from pathlib import Path

from ragstone import Engine
from ragstone.surfaces.tools.memory import MEMORY_SEARCH


def test_a_recalled_turn_that_fits_little_says_so(tmp_path: Path) -> None:
    contents = ("The ferry leaves at nine.", "Rex sleeps.", "Snow fell.", "Leave Rex at home.")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        for content in contents:
            engine.remember("s", "user", content)
        question = {"query": "when does the ferry leave", "session_id": "s"}
        lines = MEMORY_SEARCH(engine, question).text.splitlines()
    assert "[turn 0, user] The ferry leaves at nine." in lines
    assert "[turn 3, user, fits little] Leave Rex at home." in lines
