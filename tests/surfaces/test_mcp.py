"""The MCP server, asked by the SDK's own client over stdio."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

from ragstone import Engine
from ragstone.surfaces.tools import MOST_TOKENS
from ragstone.tokens import at_most

FAKE = "RAGSTONE_RAG_EMBEDDING_PROVIDER"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gondola.md").write_text("# Gondola\n\nThe gondola crosses the lagoon at nine.\n")
    (tmp_path / "ferry.md").write_text("# Ferry\n\nThe ferry leaves the north quay at ten.\n" + "Filler words. " * 4000)
    return tmp_path


@asynccontextmanager
async def client(folder: Path) -> AsyncIterator[Client]:
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragstone", "mcp", "-C", str(folder)],
        env={**os.environ, FAKE: "fake"},
    )
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(program, errlog=nowhere)) as one:
            yield one


async def told(one: Client, name: str, **arguments: Any) -> tuple[str, dict[str, Any], bool]:
    result = await one.call_tool(name, arguments)
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text, result.structured_content or {}, result.is_error


async def story(folder: Path) -> list[str]:
    async with client(folder) as one:
        listed = await one.list_tools()
        names = [tool.name for tool in listed.tools]
        assert names == ["rag_search", "rag_context", "rag_memory_add", "rag_memory_search"]
        assert all(tool.input_schema["type"] == "object" and tool.output_schema for tool in listed.tools)
        text, data, failed = await told(one, "rag_search", query="when does the gondola cross")
        assert not failed
        assert re.match(r"--- Result 1 \(score: [01]\.\d{3}, source: gondola.md\) ---\n", text)
        assert data["results"][0]["place"] == "gondola.md:1-3"
        places = [result["doc_id"] for result in data["results"]]
        text, data, _ = await told(one, "rag_context", task="ferry", token_budget=400)
        assert text.startswith("[RETRIEVED CONTEXT]")
        assert at_most(text.partition("\n(")[0]) <= 400
        assert (await told(one, "rag_memory_add", session_id="s", content="The bell rings twice."))[1][
            "turn_index"
        ] == 0
        text, data, _ = await told(one, "rag_memory_search", session_id="s", query="bell")
        assert "[turn 0, user] The bell rings twice." in text
        return places


def test_a_client_searches_and_remembers_in_a_folder_never_seen(folder: Path) -> None:
    places = anyio.run(story, folder)
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as engine:
        assert [hit.doc_id for hit in engine.search("when does the gondola cross", mode="words")][:1] == places[:1]


def test_a_client_searches_and_remembers_in_an_indexed_folder(folder: Path) -> None:
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        before = [hit.doc_id for hit in engine.search("when does the gondola cross")]
    assert anyio.run(story, folder) == before


def test_wrong_arguments_are_answered_in_a_sentence_and_nothing_breaks(folder: Path) -> None:
    async def wrong() -> None:
        async with client(folder) as one:
            for name, arguments, words in (
                ("rag_search", {}, "needs 'query'"),
                ("rag_search", {"query": 7}, "is a string"),
                ("rag_search", {"query": "x", "colour": "red"}, "no argument 'colour'"),
                ("rag_search", {"query": "x", "top_k": 1000}, "from 1 to 50"),
                ("rag_memory_add", {"session_id": "s", "content": " "}, "is empty"),
                ("nonsense", {}, "there is no tool"),
            ):
                text, _, failed = await told(one, name, **arguments)
                assert failed
                assert words in text
            assert not (await told(one, "rag_search", query="gondola"))[2]

    anyio.run(wrong)


def test_no_answer_is_longer_than_its_bound(folder: Path) -> None:
    async def long() -> None:
        async with client(folder) as one:
            text, _, _ = await told(one, "rag_search", query="filler words", top_k=50, max_tokens=MOST_TOKENS)
            assert at_most(text) <= MOST_TOKENS + 50
            text, _, _ = await told(one, "rag_search", query="filler words", top_k=50)
            assert at_most(text) <= 2050

    anyio.run(long)
