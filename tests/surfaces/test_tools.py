"""The tools as plain functions, and their schemas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Document, Engine
from ragstone.surfaces.tools import DEFAULT_TOOLS, RAG_SEARCH, Tool, bound, search_documents


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as one:
        yield one


def test_rag_search_answers_to_the_letter(engine: Engine) -> None:
    search = bound(engine, [RAG_SEARCH])["rag_search"]
    assert search(query="gondola") == "No relevant documentation found for your query."
    engine.add(Document("docs/gondola.md", "The gondola is black."))
    lines = search(query="gondola").split("\n")
    assert lines[0].startswith("--- Result 1 (score: 0.") or lines[0].startswith("--- Result 1 (score: 1.")
    assert lines[0].endswith(", source: docs/gondola.md) ---")
    assert lines[1:] == ["The gondola is black."]


def test_search_documents_answers_to_the_letter(engine: Engine) -> None:
    tool = search_documents()
    assert tool(engine, {"query": "gondola"}).text == "The knowledge base is empty: nothing has been indexed yet."
    engine.add(Document("gondola.md", "The gondola is black.\nIt is old."))
    assert tool(engine, {"query": "gondola"}).text == (
        '[Knowledge base results for "gondola"]\n1. gondola.md (chunk 0)\n   The gondola is black.\n   It is old.'
    )


def test_search_documents_is_described_as_the_settings_say() -> None:
    schema = search_documents("Our handbook.", "What to look up.").openai()
    assert schema["type"] == "function"
    assert schema["function"]["name"] == "search_documents"
    assert schema["function"]["description"] == "Our handbook."
    assert schema["function"]["parameters"]["properties"]["query"]["description"] == "What to look up."
    assert schema["function"]["parameters"]["required"] == ["query"]


@pytest.mark.parametrize("tool", DEFAULT_TOOLS, ids=lambda tool: tool.name)
def test_every_tool_has_the_same_arguments_in_every_dialect(tool: Tool) -> None:
    assert tool.openai()["function"]["parameters"] == tool.anthropic()["input_schema"] == tool.mcp()["inputSchema"]
    assert set(tool.required) <= set(tool.properties)


def test_the_tool_list_is_small_enough_for_any_prompt() -> None:
    import json

    from ragstone.tokens import at_most

    assert at_most(json.dumps([tool.mcp() for tool in DEFAULT_TOOLS])) < 2000


def test_a_tool_never_raises_for_what_a_model_says(engine: Engine) -> None:
    for arguments in ({}, {"query": None}, {"query": ["x"]}, {"query": "x", "top_k": True}, {"q": "x"}, {"query": ""}):
        found = RAG_SEARCH(engine, arguments)
        assert found.failed
        assert found.data["error"]["code"] == "input"
