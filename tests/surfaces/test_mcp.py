"""The MCP server, asked by the SDK's own client over stdio."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
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
from ragstone.surfaces.mcp import FIRST_INDEXING, McpSession
from ragstone.surfaces.tool import MAX_NOTE_TOKENS, MAX_TEXT_TOKENS, Tool, ToolAnswer, ToolCall
from ragstone.surfaces.tools import DEFAULT_TOOLS, RAG_SEARCH
from ragstone.text.tokens import at_most

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
            text, _, _ = await told(one, "rag_search", query="filler words", top_k=50, max_tokens=MAX_TEXT_TOKENS)
            assert at_most(text) <= MAX_TEXT_TOKENS + MAX_NOTE_TOKENS
            text, _, _ = await told(one, "rag_search", query="filler words", top_k=50)
            assert at_most(text) <= 2000 + MAX_NOTE_TOKENS
            for name in ("rag_search", "x" * 50_000):
                text, _, failed = await told(one, name, **{"y" * 50_000: 1})
                assert failed
                assert at_most(text) <= MAX_TEXT_TOKENS + MAX_NOTE_TOKENS

    anyio.run(long)


CONFIG = {"rag.embedding_provider": "fake"}


def test_nobody_waits_for_a_whole_folder_to_be_read(folder: Path) -> None:
    for number in range(400):
        (folder / f"{number}.md").write_text(f"# Page {number}\n\nThe gondola of number {number}.\n")
    session = McpSession(folder, project="default", config=CONFIG, first_call_seconds=0.0)
    session.start()
    try:
        first = session.answer(RAG_SEARCH, {"query": "gondola"})
        assert not first.failed
        assert FIRST_INDEXING in first.text
        assert first.data["index"] == FIRST_INDEXING
        assert session.wait_until_current(60)
        later = session.answer(RAG_SEARCH, {"query": "gondola"})
        assert len(later.data["results"]) > 1
        assert "index" not in later.data
        (folder / "heron.md").write_text("The quixotic heron rests.\n")
        assert "quixotic heron" in session.answer(RAG_SEARCH, {"query": "quixotic heron"}).text  # edits are followed
    finally:
        session.close()


def test_work_that_nobody_waits_for_any_more_ends(folder: Path) -> None:
    for number in range(400):
        (folder / f"{number}.md").write_text(f"# Page {number}\n\nThe gondola of number {number}.\n")
    session = McpSession(folder, project="default", config=CONFIG, first_call_seconds=0.0)
    session.start()
    session.close()
    assert session.wait_until_current(30)
    with Engine.open(folder, config=CONFIG) as engine:
        assert all(finding.ok for finding in engine.check())


def test_what_goes_wrong_behind_is_told_and_questions_are_still_answered(folder: Path) -> None:
    with Engine.open(folder, config=CONFIG) as engine:
        engine.sync()
    (folder / "new.md").write_text("New.\n")
    session = McpSession(folder, project="default", config={**CONFIG, "sources.max_files": 1})
    session.start()
    found = session.answer(RAG_SEARCH, {"query": "gondola"})
    session.close()
    assert "gondola crosses the lagoon" in found.text
    assert "the index could not be brought up to date: " in found.text


def test_a_tool_with_a_bug_fails_and_the_next_one_answers(folder: Path) -> None:
    def broken(call: ToolCall) -> ToolAnswer:
        raise ZeroDivisionError("secret")

    session = McpSession(folder, project="default", config=CONFIG)
    session.start()
    failed = session.answer(Tool("broken", "", {}, (), broken), {})
    assert (failed.failed, "ZeroDivisionError" in failed.text, "secret" in failed.text) == (True, True, False)
    assert not session.answer(RAG_SEARCH, {"query": "gondola"}).failed
    session.close()


def test_a_folder_that_nobody_means_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "diary.md").write_text("The gondola diary.\n")
    session = McpSession(tmp_path, project="default", config=CONFIG)
    session.start()
    found = session.answer(RAG_SEARCH, {"query": "gondola"})
    session.close()
    assert "this folder is not indexed: " in found.text
    assert "diary" not in found.text.partition("(")[0]


def test_two_servers_share_a_folder(folder: Path) -> None:
    one, two = (
        McpSession(folder, project="default", config=CONFIG),
        McpSession(folder, project="default", config=CONFIG),
    )
    one.start()
    two.start()
    try:
        for session in (one, two):
            assert "gondola.md" in session.answer(RAG_SEARCH, {"query": "gondola"}).text
        add, recall = DEFAULT_TOOLS[2], DEFAULT_TOOLS[3]
        numbers = [
            session.answer(add, {"session_id": "s", "content": f"bell {n}"}).data["turn_index"]
            for n, session in enumerate((one, two, one, two))
        ]
        assert numbers == [0, 1, 2, 3]
        assert "bell 0" in two.answer(recall, {"session_id": "s", "query": "bell 0"}).text
    finally:
        one.close()
        two.close()


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
def test_control_c_ends_it_while_the_client_is_still_there(folder: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "ragstone", "mcp", "-C", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, FAKE: "fake"},
    )
    assert program.stdin is not None
    assert program.stdout is not None
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    program.stdin.write(json.dumps(hello).encode() + b"\n")
    program.stdin.flush()
    assert json.loads(program.stdout.readline())["id"] == 1
    program.send_signal(signal.SIGINT)
    assert program.wait(30) == 130
    assert program.stdout.read() == b""  # nothing but the protocol
    program.stdin.close()
    program.stdout.close()


def test_an_index_that_cannot_be_read_is_told_in_an_answer(folder: Path) -> None:
    (folder / ".ragstone").mkdir()
    (folder / ".ragstone" / "ragstone.db").write_bytes(b"this is no database" * 500)
    session = McpSession(folder, project="default", config=CONFIG)
    session.start()
    found = session.answer(RAG_SEARCH, {"query": "gondola"})
    session.close()
    assert found.failed
    assert "Traceback" not in found.text
    assert "the index could not be brought up to date: " in found.text
