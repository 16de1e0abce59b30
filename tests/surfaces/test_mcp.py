"""The MCP server, called by the SDK's own client over stdio."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

from ragstone import Engine, Settings, Workspace
from ragstone.surfaces.mcp import create_server
from ragstone.surfaces.mcp.session import McpSession
from ragstone.surfaces.present.index_notes import FIRST_INDEXING
from ragstone.surfaces.tools import (
    ALL_TOOLS,
    DEFAULT_TOOLS,
    MEMORY_ADD,
    MEMORY_SEARCH,
    RAG_SEARCH,
)
from ragstone.surfaces.tools.tool import (
    MAX_NOTE_TOKENS,
    MAX_TEXT_TOKENS,
    Tool,
    ToolAnswer,
    ToolCall,
)
from ragstone.text.tokens import at_most

FAKE = "RAGSTONE_RAG_EMBEDDING_PROVIDER"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gondola.md").write_text(
        "# Gondola\n\nThe gondola crosses the lagoon at nine.\n"
    )
    (tmp_path / "ferry.md").write_text(
        "# Ferry\n\nThe ferry leaves the north quay at ten.\n" + "Filler words. " * 4000
    )
    return tmp_path


@asynccontextmanager
async def client(folder: Path) -> AsyncIterator[Client]:
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragstone", "mcp", "-C", str(folder)],
        env={**os.environ, FAKE: "fake"},
    )
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(program, errlog=nowhere)) as connected:
            yield connected


async def call(
    connected: Client, name: str, **arguments: Any
) -> tuple[str, dict[str, Any], bool]:
    result = await connected.call_tool(name, arguments)
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text, result.structured_content or {}, result.is_error


async def search_and_remember(folder: Path) -> list[str]:
    async with client(folder) as connected:
        listed = await connected.list_tools()
        names = [tool.name for tool in listed.tools]
        assert names == [tool.name for tool in DEFAULT_TOOLS]
        assert all(
            tool.input_schema["type"] == "object" and tool.output_schema
            for tool in listed.tools
        )
        text, data, failed = await call(
            connected, "rag_search", query="when does the gondola cross"
        )
        assert not failed
        assert re.match(r"--- Result 1 \(score: [01]\.\d{3}, source: gondola.md\) ---\n", text)
        assert "\n[gondola.md:1-3]" in text
        assert data["results"][0]["citation"] == "gondola.md:1-3"
        # A client may show the model this part only.
        assert "The gondola crosses the lagoon at nine." in data["results"][0]["text"]
        places = [result["doc_id"] for result in data["results"]]
        text, data, _ = await call(connected, "rag_context", task="ferry", token_budget=400)
        assert text.startswith("[RETRIEVED CONTEXT]")
        assert at_most(text.partition("\n(")[0]) <= 400
        assert (
            await call(
                connected, "rag_memory_add", session_id="s", content="The bell rings twice."
            )
        )[1]["turn_index"] == 0
        text, data, _ = await call(connected, "rag_memory_search", session_id="s", query="bell")
        assert re.search(r"\[turn 0, user, [\d-]{10}\] The bell rings twice\.", text)
        return places


def test_a_client_searches_and_remembers_in_a_new_folder(folder: Path) -> None:
    places = anyio.run(search_and_remember, folder)
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as engine:
        assert [
            hit.doc_id for hit in engine.search("when does the gondola cross", mode="words")
        ][:1] == places[:1]


def test_a_client_searches_and_remembers_in_an_indexed_folder(folder: Path) -> None:
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        before = [hit.doc_id for hit in engine.search("when does the gondola cross")]
    assert anyio.run(search_and_remember, folder) == before


def test_wrong_arguments_get_an_explanation_and_the_server_goes_on(folder: Path) -> None:
    async def wrong() -> None:
        async with client(folder) as connected:
            for name, arguments, words in (
                ("rag_search", {}, "needs 'query'"),
                ("rag_search", {"query": 7}, "is a string"),
                ("rag_search", {"query": "x", "colour": "red"}, "no argument 'colour'"),
                ("rag_search", {"query": "x", "top_k": 1000}, "from 1 to 50"),
                ("rag_memory_add", {"session_id": "s", "content": " "}, "is empty"),
                ("nonsense", {}, "there is no tool"),
            ):
                text, data, failed = await call(connected, name, **arguments)
                assert failed
                assert data["error"]["message"] in text
                assert words in text
            assert not (await call(connected, "rag_search", query="gondola"))[2]

    anyio.run(wrong)


def test_no_answer_exceeds_its_token_limit(folder: Path) -> None:
    async def long() -> None:
        async with client(folder) as connected:
            text, _, _ = await call(
                connected,
                "rag_search",
                query="filler words",
                top_k=50,
                max_tokens=MAX_TEXT_TOKENS,
            )
            assert at_most(text) <= MAX_TEXT_TOKENS + MAX_NOTE_TOKENS
            text, _, _ = await call(connected, "rag_search", query="filler words", top_k=50)
            assert at_most(text) <= 2500 + MAX_NOTE_TOKENS
            for name in ("rag_search", "x" * 50_000):
                text, _, failed = await call(connected, name, **{"y" * 50_000: 1})
                assert failed
                assert at_most(text) <= MAX_TEXT_TOKENS + MAX_NOTE_TOKENS

    anyio.run(long)


CONFIG = {"rag.embedding_provider": "fake"}


def test_the_first_call_does_not_wait_until_the_folder_is_indexed(folder: Path) -> None:
    for number in range(400):
        (folder / f"{number}.md").write_text(
            f"# Page {number}\n\nThe gondola of number {number}.\n"
        )
    session = McpSession.open(folder, project="default", config=CONFIG, first_call_seconds=0.0)
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
        assert (
            "quixotic heron" in session.answer(RAG_SEARCH, {"query": "quixotic heron"}).text
        )  # edits are followed
    finally:
        session.close()


def test_closing_a_session_stops_its_indexing_thread(folder: Path) -> None:
    for number in range(400):
        (folder / f"{number}.md").write_text(
            f"# Page {number}\n\nThe gondola of number {number}.\n"
        )
    session = McpSession.open(folder, project="default", config=CONFIG, first_call_seconds=0.0)
    session.start()
    session.close()
    assert session.wait_until_current(30)
    with Engine.open(folder, config=CONFIG) as engine:
        assert all(finding.ok for finding in engine.admin.check())


def test_a_failed_refresh_is_noted_and_calls_are_still_answered(folder: Path) -> None:
    with Engine.open(folder, config=CONFIG) as engine:
        engine.sync()
    (folder / "new.md").write_text("New.\n")
    session = McpSession.open(
        folder, project="default", config={**CONFIG, "sources.max_files": 1}
    )
    session.start()
    answer = session.answer(RAG_SEARCH, {"query": "gondola"})
    session.close()
    assert "gondola crosses the lagoon" in answer.text
    assert "the index could not be brought up to date: " in answer.text


def test_a_bug_in_a_tool_does_not_end_the_session(folder: Path) -> None:
    def broken(call: ToolCall) -> ToolAnswer:
        raise ZeroDivisionError("secret")

    session = McpSession.open(folder, project="default", config=CONFIG)
    session.start()
    failed = session.answer(Tool("broken", "", {}, (), broken), {})
    assert (failed.failed, "ZeroDivisionError" in failed.text, "secret" in failed.text) == (
        True,
        True,
        False,
    )
    assert not session.answer(RAG_SEARCH, {"query": "gondola"}).failed
    session.close()


def test_the_home_folder_is_not_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "diary.md").write_text("The gondola diary.\n")
    session = McpSession.open(tmp_path, project="default", config=CONFIG)
    session.start()
    answer = session.answer(RAG_SEARCH, {"query": "gondola"})
    session.close()
    assert "this folder is not indexed: " in answer.text
    assert "diary" not in answer.text.partition("(")[0]


def test_two_servers_share_a_folder(folder: Path) -> None:
    first = McpSession.open(folder, project="default", config=CONFIG)
    second = McpSession.open(folder, project="default", config=CONFIG)
    first.start()
    second.start()
    try:
        for session in (first, second):
            assert "gondola.md" in session.answer(RAG_SEARCH, {"query": "gondola"}).text
        answers = [
            session.answer(MEMORY_ADD, {"session_id": "s", "content": f"bell {number}"})
            for number, session in enumerate((first, second, first, second))
        ]
        assert [answer.data["turn_index"] for answer in answers] == [0, 1, 2, 3]
        assert (
            "bell 0"
            in second.answer(MEMORY_SEARCH, {"session_id": "s", "query": "bell 0"}).text
        )
    finally:
        first.close()
        second.close()


def test_calls_are_answered_at_the_same_time(folder: Path) -> None:
    both_running = threading.Barrier(2, timeout=30)

    def wait_for_the_other(call: ToolCall) -> ToolAnswer:
        both_running.wait()
        return ToolAnswer("done")

    tool = Tool("wait", "", {}, (), wait_for_the_other)
    session = McpSession.open(folder, project="default", config=CONFIG)
    session.start()
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: session.answer(tool, {}), range(2)))
    session.close()
    assert not any(answer.failed for answer in answers)


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_ctrl_c_ends_the_server_while_the_client_is_connected(folder: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "ragstone", "mcp", "-C", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, FAKE: "fake"},
    )
    assert program.stdin is not None
    assert program.stdout is not None
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    program.stdin.write(json.dumps(hello).encode() + b"\n")
    program.stdin.flush()
    assert json.loads(program.stdout.readline())["id"] == 1
    program.send_signal(signal.SIGINT)
    assert program.wait(30) == 130
    assert program.stdout.read() == b""  # nothing but the protocol
    program.stdin.close()
    program.stdout.close()


def test_a_damaged_index_gives_a_failed_answer(folder: Path) -> None:
    (folder / ".ragstone").mkdir()
    (folder / ".ragstone" / "ragstone.db").write_bytes(b"this is no database" * 500)
    session = McpSession.open(folder, project="default", config=CONFIG)
    session.start()
    answer = session.answer(RAG_SEARCH, {"query": "gondola"})
    session.close()
    assert answer.failed
    assert "Traceback" not in answer.text
    assert "the index could not be brought up to date: " in answer.text


def test_a_server_opens_one_engine_for_all_that_it_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Settings] = []
    initialise = Workspace.__init__

    def note(workspace: Workspace, settings: Settings) -> None:
        opened.append(settings)
        initialise(workspace, settings)

    monkeypatch.setattr(Workspace, "__init__", note)
    session = McpSession.open(folder, config={"rag.embedding_provider": "fake"})
    session.start()

    async def use() -> None:
        async with Client(create_server(session, ALL_TOOLS)) as connected:
            for name, arguments in (
                ("rag_search", {"query": "gondola"}),
                ("rag_context", {"task": "gondola"}),
                ("rag_retrieve", {"query": "gondola"}),
                ("rag_memory_add", {"session_id": "s", "content": "The bell rings."}),
                ("rag_memory_search", {"query": "bell"}),
                ("rag_status", {}),
            ):
                assert not (await call(connected, name, **arguments))[2]
            await connected.list_resources()
            await connected.get_prompt("work_on", {"task": "gondola"})

    anyio.run(use)
    session.close()
    assert len(opened) == 1
