"""MCP over HTTP: the same keys and borders as the REST routes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from tests.support.running_server import RunningServer, running_server


@asynccontextmanager
async def connected(
    server: RunningServer, key: str = "", path: str = "/mcp"
) -> AsyncIterator[Client]:
    """Give the SDK's own client, connected to a server."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(server.url + path, http_client=http)
        async with Client(transport) as client:
            yield client


def call(
    server: RunningServer, tool: str, arguments: dict[str, Any], key: str = ""
) -> CallToolResult:
    async def run() -> CallToolResult:
        async with connected(server, key, "/mcp/all") as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(run)


def token_of(server: RunningServer, project: str, *scopes: str) -> str:
    return server.state.engines.engine(project).admin.keys.create(scopes=scopes).token


def test_a_client_of_the_sdk_lists_and_calls_tools(indexed: RunningServer) -> None:
    async def run() -> tuple[list[str], CallToolResult]:
        async with connected(indexed) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            return tools, await client.call_tool("rag_search", {"query": "failed upload"})

    tools, found = anyio.run(run)
    assert {"rag_search", "rag_context", "rag_memory_add"} <= set(tools)
    hits = indexed.state.engines.own.search("failed upload")
    assert found.structured_content["results"][0]["doc_id"] == hits[0].doc_id


def test_without_a_key_nothing_is_answered(server: RunningServer) -> None:
    token_of(server, "default", "admin")
    for path in ("/mcp", "/mcp/all"):
        for method in ("GET", "POST", "DELETE"):
            assert server.request(method, path).status_code == 401


def test_a_key_for_reading_cannot_write(server: RunningServer) -> None:
    reader = token_of(server, "default", "read")
    turn = {"session_id": "s", "content": "The gate is blue."}
    refused = call(server, "rag_memory_add", turn, reader)
    assert refused.is_error
    assert refused.structured_content["error"]["code"] == "access"
    writer = token_of(server, "default", "read", "write")
    assert not call(server, "rag_memory_add", turn, writer).is_error


def test_a_project_finds_nothing_of_another(server: RunningServer) -> None:
    website = token_of(server, "website", "read", "write")
    shop = token_of(server, "shop", "read", "write")
    turn = {"session_id": "s", "content": "The xylophone is blue."}
    call(server, "rag_memory_add", turn, website)
    question = {"session_id": "s", "query": "xylophone"}
    assert "blue" in str(call(server, "rag_memory_search", question, website))
    assert "blue" not in str(call(server, "rag_memory_search", question, shop))


@pytest.mark.parametrize("path", ["/mcp", "/mcp/all"])
def test_pages_of_other_sites_are_refused(server: RunningServer, path: str) -> None:
    for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        assert server.post(path, {}, headers=headers).status_code == 403


def test_an_open_stream_does_not_delay_the_stop(project: Path) -> None:
    with running_server(project) as server:

        async def run() -> None:
            async with connected(server) as client:
                await client.list_tools()
                server.server.stop()

        anyio.run(run)


def test_a_busy_server_refuses_tools_and_counts_requests(server: RunningServer) -> None:
    server.state.admission.present = 1000  # as if many requests were waiting
    refused = call(server, "rag_search", {"query": "stone"})
    assert refused.is_error
    assert refused.structured_content["error"]["code"] == "overloaded"
    server.state.admission.present = 0
    assert not call(server, "rag_search", {"query": "stone"}).is_error
    metrics = server.get("/metrics").text
    assert 'method="POST",route="/mcp/all",status="200"' in metrics


def test_open_requests_count_as_streams(project: Path) -> None:
    with running_server(project, config={"server.streams": 0}) as server:
        assert server.post("/mcp", {}).status_code == 429


def test_the_size_of_a_body_is_limited_by_the_setting(project: Path) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {}}}
    accept = {"accept": "application/json, text/event-stream"}
    with running_server(project, config={"server.max_body_mb": 1}) as server:
        large = {**ping, "params": {"_meta": {"x": "y" * 1_500_000}}}
        assert server.post("/mcp", large, headers=accept).status_code == 413
    with running_server(project, config={"server.max_body_mb": 10}) as server:
        large = {**ping, "params": {"_meta": {"x": "y" * 6_000_000}}}
        assert server.post("/mcp", large, headers=accept).status_code != 413


def test_answers_carry_the_note_about_the_index(server: RunningServer) -> None:
    server.state.sync.note = "the folder is being read"
    answer = call(server, "rag_search", {"query": "stone"})
    assert answer.structured_content["index"] == "the folder is being read"
    shop = token_of(server, "shop", "read")
    foreign = call(server, "rag_search", {"query": "stone"}, shop)
    assert "the folder is being read" not in str(foreign)


def test_a_wrong_address_of_a_resource_is_one_sentence(indexed: RunningServer) -> None:
    async def run() -> list[str]:
        messages = []
        async with connected(indexed) as client:
            for ask in (
                lambda: client.read_resource("ragstone://[x"),
                lambda: client.list_resources(cursor="ragstone://[x"),
                lambda: client.list_resources(cursor="nonsense"),
            ):
                with pytest.raises(MCPError) as caught:
                    await ask()
                messages.append(str(caught.value))
        return messages

    assert all("no address of a document" in message for message in anyio.run(run))
