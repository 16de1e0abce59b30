"""The MCP protocol of the server: notifications, cancellation, resources, prompts."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from ragstone import Engine
from ragstone.protocols.cancellation import check_cancelled
from ragstone.surfaces.mcp import McpSession, create_server
from ragstone.surfaces.tools import (
    ALL_TOOLS,
    DEFAULT_TOOLS,
    MEMORY_ADD,
    MEMORY_SEARCH,
    RAG_SEARCH,
)
from ragstone.surfaces.tools.search import RAG_RETRIEVE
from ragstone.surfaces.tools.tool import Tool, ToolAnswer, ToolCall

CONFIG = {"rag.embedding_provider": "fake"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gondola.md").write_text(
        "# Gondola\n\nThe gondola crosses the lagoon at nine.\n"
    )
    (tmp_path / "pier.py").write_text("def moor(boat: str) -> str:\n    return boat\n")
    return tmp_path


@pytest.fixture
def session(folder: Path) -> Iterator[McpSession]:
    session = McpSession.open(folder, config=CONFIG)
    yield session
    session.close()


def command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "ragstone", "mcp", "-C", str(folder), *options]


def environment() -> dict[str, str]:
    return {**os.environ, "RAGSTONE_RAG_EMBEDDING_PROVIDER": "fake"}


@asynccontextmanager
async def stdio(folder: Path, *options: str, **client_options: Any) -> AsyncIterator[Client]:
    words = command(folder, *options)
    program = StdioServerParameters(command=words[0], args=words[1:], env=environment())
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(program, errlog=nowhere), **client_options) as client:
            yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_gets_all_tools_and_their_results_fit_their_schemas(
    folder: Path, mode: str
) -> None:
    async def run() -> None:
        async with stdio(folder, "--tools", "all", mode=mode) as client:
            listed = (await client.list_tools()).tools
            assert {tool.name for tool in listed} == {tool.name for tool in ALL_TOOLS}
            for name, arguments in (
                ("rag_search", {"query": "gondola"}),
                ("rag_context", {"task": "gondola"}),
                ("rag_retrieve", {"query": "gondola"}),
                ("rag_read", {"path": "gondola.md"}),
            ):
                result = await client.call_tool(name, arguments)
                assert not result.is_error
                assert isinstance(result.content[0], TextContent)
                data = result.structured_content or {}
                assert data["results"][0]["citation"] == "gondola.md:1-3"
                assert "gondola.md:1-3" in result.content[0].text
                assert "crosses the lagoon at nine" in data["results"][0]["text"]
                assert "crosses the lagoon at nine" in result.content[0].text
            for name in (
                "rag_status",
                "rag_sessions",
                "rag_collection_list",
                "rag_document_list",
            ):
                assert not (await client.call_tool(name, {})).is_error

    anyio.run(run)


def test_the_code_tool_joins_the_list_and_clients_are_told(session: McpSession) -> None:
    async def run() -> None:
        changed = anyio.Event()

        async def on_message(message: object) -> None:
            if "list_changed" in str(getattr(message, "method", "")):
                changed.set()

        server = create_server(session)
        async with Client(server, mode="legacy", message_handler=on_message) as client:
            first = [tool.name for tool in (await client.list_tools()).tools]
            assert first == [tool.name for tool in DEFAULT_TOOLS]
            session.start()
            with anyio.fail_after(60):
                await changed.wait()
            assert "rag_related" in [tool.name for tool in (await client.list_tools()).tools]

    anyio.run(run)


def test_the_code_tool_is_in_the_first_list_of_a_folder_that_was_searched_before(
    session: McpSession, folder: Path
) -> None:
    with Engine.open(folder, config=CONFIG) as engine:
        engine.admin.refresh(embed=False)
        assert not engine.graph.exists()

    async def run() -> None:
        async with Client(create_server(session)) as client:
            assert "rag_related" in [tool.name for tool in (await client.list_tools()).tools]
            answer = await client.call_tool("rag_related", {"name": "moor"})
            assert not answer.is_error

    anyio.run(run)


def test_a_client_that_listens_is_told_about_the_code_tool(session: McpSession) -> None:
    async def run() -> None:
        async with Client(create_server(session)) as client:
            await client.list_tools()
            async with client.listen(tools_list_changed=True) as events:
                session.start()
                with anyio.fail_after(60):
                    event = await anext(aiter(events))
            assert type(event).__name__ == "ToolsListChanged"
            assert "rag_related" in [tool.name for tool in (await client.list_tools()).tools]

    anyio.run(run)


def test_a_call_that_waits_for_the_first_indexing_reports_progress(folder: Path) -> None:
    for number in range(300):
        (folder / f"{number}.md").write_text(f"# Page {number}\n\nThe gondola of {number}.\n")

    async def run() -> None:
        reports: list[tuple[float, float | None, str | None]] = []

        async def on_progress(
            progress: float, total: float | None, message: str | None
        ) -> None:
            reports.append((progress, total, message))

        async with stdio(folder) as client:
            await client.call_tool(
                "rag_search", {"query": "gondola"}, progress_callback=on_progress
            )
        assert reports
        assert [done for done, _, _ in reports] == sorted(done for done, _, _ in reports)
        assert reports[0][2]

    anyio.run(run)


def test_a_cancelled_request_ends_the_work_and_the_server_goes_on(session: McpSession) -> None:
    started = threading.Event()
    ended = threading.Event()

    def work(call: ToolCall) -> ToolAnswer:
        started.set()
        try:
            while True:
                check_cancelled()
                ended.wait(0.01)
        finally:
            ended.set()

    slow = Tool("slow", "", {}, (), work)
    session.start()

    async def run() -> None:
        async with Client(create_server(session, [slow, *DEFAULT_TOOLS])) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "slow", {})
                assert await anyio.to_thread.run_sync(started.wait, 30)
                tasks.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(ended.wait, 30)
            assert not (await client.call_tool("rag_search", {"query": "gondola"})).is_error

    anyio.run(run)


def test_many_calls_at_once_get_their_own_answers(folder: Path, session: McpSession) -> None:
    for number in range(20):
        (folder / f"boat{number}.md").write_text(f"The boat quixote{number} is moored.\n")
    session.start()

    async def run() -> None:
        async with Client(create_server(session)) as client:

            async def check(number: int) -> None:
                query = f"quixote{number % 20}"
                result = await client.call_tool("rag_search", {"query": query, "top_k": 1})
                assert (result.structured_content or {})["results"][0]["path"] == (
                    f"boat{number % 20}.md"
                )

            async with anyio.create_task_group() as tasks:
                for number in range(60):
                    tasks.start_soon(check, number)

    anyio.run(run)


def test_documents_are_resources_that_are_listed_in_pages_and_read(
    folder: Path, session: McpSession
) -> None:
    for number in range(120):
        (folder / f"page {number:03}.md").write_text(f"Page {number}.\nSecond line.\n")
    session.start()

    async def run() -> None:
        async with Client(create_server(session)) as client:
            first = await client.list_resources()
            second = await client.list_resources(cursor=first.next_cursor)
            assert second.next_cursor is None
            resources = [*first.resources, *second.resources]
            assert len({resource.uri for resource in resources}) == 122
            address = next(each.uri for each in resources if each.name == "page 007.md")
            contents = (await client.read_resource(address)).contents[0]
            assert isinstance(contents, TextResourceContents)
            assert contents.text == "Page 7.\nSecond line."
            lines = (await client.read_resource(f"{address}?first_line=2")).contents[0]
            assert isinstance(lines, TextResourceContents)
            assert lines.text == "Second line."
            templates = await client.list_resource_templates()
            assert templates.resource_templates[0].uri_template.startswith("ragstone://")
            for wrong in (
                "ragstone://document/default/../../etc/passwd",
                "file:///etc/passwd",
                f"{address}?first_line=x",
            ):
                with pytest.raises(MCPError):
                    await client.read_resource(wrong)

    anyio.run(run)


def test_a_prompt_comes_with_passages_or_messages(session: McpSession) -> None:
    session.start()
    session.engine.remember("s", "user", "We chose the black gondola.")

    async def run() -> None:
        async with Client(create_server(session)) as client:
            names = [prompt.name for prompt in (await client.list_prompts()).prompts]
            assert names == ["work_on", "what_did_we_decide"]
            task = await client.get_prompt("work_on", {"task": "move the gondola"})
            assert isinstance(task.messages[0].content, TextContent)
            assert "gondola.md:1-3" in task.messages[0].content.text
            talk = await client.get_prompt("what_did_we_decide", {"subject": "gondola"})
            assert isinstance(talk.messages[0].content, TextContent)
            assert "We chose the black gondola." in talk.messages[0].content.text
            for name, arguments in (("work_on", {}), ("nonsense", {"task": "x"})):
                with pytest.raises(MCPError):
                    await client.get_prompt(name, arguments)

    anyio.run(run)


def test_a_failed_call_has_its_reason_in_both_parts(session: McpSession) -> None:
    session.start()

    async def run() -> None:
        async with Client(create_server(session)) as client:
            result = await client.call_tool("rag_search", {"query": "x", "top_k": 900})
            assert result.is_error
            assert isinstance(result.content[0], TextContent)
            data = result.structured_content or {}
            assert "from 1 to 50" in result.content[0].text
            assert "from 1 to 50" in data["error"]["hint"]

    anyio.run(run)


def test_a_search_that_is_sent_after_a_note_finds_it(session: McpSession) -> None:
    def add_slowly(call: ToolCall) -> ToolAnswer:
        time.sleep(0.5)
        return MEMORY_ADD(call.engine, call.arguments)

    slow_add = replace(MEMORY_ADD, run=add_slowly)
    found: list[bool] = []
    session.start()

    async def run() -> None:
        async with Client(create_server(session, [slow_add, MEMORY_SEARCH])) as client:

            async def search() -> None:
                arguments = {"session_id": "s", "query": "the quixote boat"}
                answer = await client.call_tool("rag_memory_search", arguments)
                found.append("quixote" in str(answer.content))

            note = {"session_id": "s", "content": "The quixote boat is moored."}
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "rag_memory_add", note)
                await anyio.sleep(0)
                tasks.start_soon(search)

    anyio.run(run)
    assert found == [True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"top_k": 0}, "rag_search: top_k is 0 (give a whole number from 1 to 50, for example"),
        ({"top_k": "x"}, "rag_search: top_k is 'x' (give a whole number from 1 to 50"),
    ],
)
def test_a_wrong_number_is_refused_by_a_tool_with_its_range_and_an_example(
    session: McpSession, arguments: dict[str, object], message: str
) -> None:
    session.use_index_as_it_is()
    assert session.answer(RAG_SEARCH, {"query": "gondola", **arguments}).text.startswith(
        message
    )


def test_a_tool_says_an_unknown_name_first(session: McpSession) -> None:
    session.start()
    answer = session.answer(RAG_RETRIEVE, {"query": "gondola", "table_name": "nosuch"})
    assert answer.text.startswith("(unknown name: table nosuch)")
    assert answer.data["unknown"] == ["table nosuch"]
