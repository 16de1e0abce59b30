"""Tools that find nothing say why; a tool that remembers says what it supersedes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.surfaces.tools import ALL_TOOLS
from ragstone.surfaces.tools.tool import ToolAnswer

TOOLS = {tool.name: tool for tool in ALL_TOOLS}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        yield engine


def call(engine: Engine, name: str, /, **arguments: Any) -> ToolAnswer:
    return TOOLS[name](engine, arguments)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("rag_search", "query"),
        ("rag_retrieve", "query"),
        ("rag_context", "task"),
        ("rag_memory_search", "query"),
    ],
)
@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_text_finds_nothing_and_says_why(
    engine: Engine, name: str, argument: str, text: str
) -> None:
    engine.remember("monday", "user", "The bell rings twice.")
    answer = call(engine, name, **{argument: text})
    assert not answer.failed
    assert answer.data["results"] == []
    assert answer.data["notes"] == ["the query is empty"]
    assert "the query is empty" in answer.text


def test_a_search_of_an_unknown_conversation_names_the_known_ones(engine: Engine) -> None:
    engine.remember("monday", "user", "The bell rings twice.")
    answer = call(engine, "rag_memory_search", query="bell", session_id="tuesday")
    assert not answer.failed
    assert answer.data["results"] == []
    assert answer.text == (
        "No message answers that.\n"
        "nothing is remembered of 'tuesday': the conversations are monday"
    )


def test_a_message_names_the_turns_that_it_supersedes(engine: Engine) -> None:
    first = call(
        engine, "rag_memory_add", session_id="s", content="My favourite editor is vim."
    )
    assert first.data["supersedes"] == []
    answer = call(
        engine, "rag_memory_add", session_id="s", content="My favourite editor is nano."
    )
    assert answer.data["supersedes"] == [0]
    assert answer.text == "Remembered as turn 1.\nIt supersedes turn 0."
