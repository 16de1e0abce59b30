"""MCP over HTTP under pressure: time limits, interleaved clients, old protocols, broken messages, cancellation.

`make torture-api` runs ten thousand interleaved calls; `TORTURE_CALLS` is their number.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

from ragstone import Engine
from ragstone.protocols.cancellation import check_cancelled
from tests.support.running_server import RunningServer, running_server
from tests.support.waiting import wait_until

CALLS = int(os.environ.get("TORTURE_CALLS", "120"))
ACCEPT = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
}
MODES = [LATEST_MODERN_VERSION, "legacy"]
"""The current protocol, and the newest one with a handshake."""


@asynccontextmanager
async def connected(
    server: RunningServer, key: str = "", mode: str = "auto"
) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(server.url + "/mcp/all", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def post(server: RunningServer, body: bytes, headers: dict[str, str]) -> httpx2.Response:
    return server.request("POST", "/mcp", content=body, headers={**ACCEPT, **headers})


def shake_hands(server: RunningServer, version: str) -> dict[str, str]:
    """Return the headers of a new session in an old protocol."""
    params = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answer = post(server, json.dumps(hello).encode(), {})
    assert (
        json.loads(answer.text.partition("data: ")[2])["result"]["protocolVersion"] == version
    )
    headers = {
        "mcp-session-id": answer.headers["mcp-session-id"],
        "mcp-protocol-version": version,
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert post(server, json.dumps(ready).encode(), headers).status_code == 202
    return headers


def search_request(query: str, number: int = 7) -> bytes:
    params = {"name": "rag_search", "arguments": {"query": query}}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


# ── protocols ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", MODES)
def test_clients_of_the_current_and_the_former_protocol_get_the_same_hits(
    indexed: RunningServer, mode: str
) -> None:
    async def run() -> tuple[list[str], CallToolResult, CallToolResult]:
        async with connected(indexed, mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            task = {"task": "failed upload", "token_budget": 500}
            context = await client.call_tool("rag_context", task)
            same = await client.call_tool("get_context_for_prompt", task)
            assert context.structured_content is not None
            assert same.structured_content is not None
            first = context.structured_content["results"]
            assert [each["citation"] for each in same.structured_content["results"]] == [
                each["citation"] for each in first
            ]
            found = await client.call_tool("rag_search", {"query": "failed upload"})
            return names, found, context

    names, found, context = anyio.run(run)
    assert "get_context_for_prompt" in names
    engine = indexed.state.engines.own
    hits = [hit.doc_id for hit in engine.search("failed upload")]
    assert [each["doc_id"] for each in found.structured_content["results"]] == hits
    cited = [each.citation for each in engine.context("failed upload", 500).cited]
    assert [each["citation"] for each in context.structured_content["results"]] == cited


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_every_older_protocol_is_answered_in_its_own_version(
    indexed: RunningServer, version: str
) -> None:
    headers = shake_hands(indexed, version)
    answer = post(indexed, search_request("failed upload"), headers)
    assert "README.md" in answer.text


# ── broken messages ───────────────────────────────────────────────────────────────────────────────

BROKEN = [
    b"",
    b"null",
    b"[]",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"jsonrpc": "2.0", "id": 1, "method"',
    b'{"jsonrpc": "2.0", "id": 3, "method": 5}',
    b'{"jsonrpc": "2.0", "id": 4}',
    b'{"a": ' + b"1" * 6000 + b"}",
]


@pytest.mark.parametrize("version", [HANDSHAKE_PROTOCOL_VERSIONS[0], LATEST_MODERN_VERSION])
def test_broken_messages_are_answered_and_the_server_goes_on(
    indexed: RunningServer, version: str
) -> None:
    headers = {"mcp-protocol-version": version}
    if version in HANDSHAKE_PROTOCOL_VERSIONS:
        headers = shake_hands(indexed, version)
    for body in BROKEN:
        answer = post(indexed, body, headers)
        assert answer.status_code == 400, body[:60]
        assert answer.json()["error"]["code"] in (-32700, -32600, -32602), body[:60]
    lone = post(indexed, search_request("upload \ud83d alone"), headers)
    assert "jsonrpc" in lone.text
    legacy = shake_hands(indexed, HANDSHAKE_PROTOCOL_VERSIONS[0])
    assert "README.md" in post(indexed, search_request("failed upload"), legacy).text


@pytest.mark.parametrize("mode", MODES)
def test_a_stored_text_with_half_a_character_is_shown(server: RunningServer, mode: str) -> None:
    server.state.engines.own.remember("s", "user", "The gate is \ud83d blue.")

    async def run() -> CallToolResult:
        async with connected(server, mode=mode) as client:
            return await client.call_tool("rag_memory_get", {"session_id": "s"})

    assert "blue" in str(anyio.run(run).content[0])


# ── time ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_slow_call_is_answered_in_time_and_stored_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    remember = Engine.remember

    def slow(self: Engine, *arguments: Any, **options: Any) -> int:
        release.wait(20)
        return remember(self, *arguments, **options)

    monkeypatch.setattr(Engine, "remember", slow)
    with running_server(project, config={"server.seconds": 1}) as server:

        async def run() -> CallToolResult:
            async with connected(server) as client:
                turn = {"session_id": "s", "content": "The gate is blue."}
                return await client.call_tool("rag_memory_add", turn)

        answer = anyio.run(run)
        assert answer.is_error
        assert answer.structured_content["error"]["code"] == "timed_out"
        assert server.state.admission.present == 1  # the thread holds its turn until it ends
        release.set()
        assert wait_until(lambda: server.state.admission.present == 0)
        assert len(server.state.engines.own.turns("s")) == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_ends_its_work(
    indexed: RunningServer, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    started, ended = threading.Event(), threading.Event()

    def endless(self: Engine, *arguments: Any, **options: Any) -> None:
        started.set()
        try:
            while True:
                check_cancelled()
                ended.wait(0.01)
        finally:
            ended.set()

    monkeypatch.setattr(Engine, "explain", endless)

    async def run() -> None:
        async with connected(indexed, mode=mode) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "rag_search", {"query": "upload"})
                assert await anyio.to_thread.run_sync(started.wait, 30)
                tasks.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(ended.wait, 20)
            assert not (await client.call_tool("rag_status", {})).is_error

    anyio.run(run)
    assert wait_until(lambda: indexed.state.admission.present == 0)


# ── clients at the same time ──────────────────────────────────────────────────────────────────────


@pytest.mark.torture
@pytest.mark.parametrize("mode", MODES)
def test_clients_with_equal_request_ids_get_their_own_answers(
    server: RunningServer, mode: str
) -> None:
    words = {"website": "xylophone", "shop": "marmalade"}
    keys = {}
    for project in words:
        engine = server.state.engines.engine(project)
        keys[project] = engine.admin.keys.create(scopes=["read", "write"]).token
        for number in range(20):
            text = f"{words[project]} {words[project]}{number}"
            engine.remember(f"s{number}", "user", text)
    crossed: list[str] = []
    answered = [0]

    async def ask(project: str) -> None:
        async with connected(server, keys[project], mode) as client:
            for start in range(0, CALLS // 4, 4):
                async with anyio.create_task_group() as tasks:
                    for number in range(start, start + 4):
                        tasks.start_soon(ask_once, client, project, number % 20)

    async def ask_once(client: Client, project: str, number: int) -> None:
        answer = await client.call_tool("rag_memory_get", {"session_id": f"s{number}"})
        answered[0] += 1
        turns = (answer.structured_content or {}).get("results", [])
        texts = [turn["content"] for turn in turns]
        if texts != [f"{words[project]} {words[project]}{number}"]:
            crossed.append(f"{project} {number}: {texts}")

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            for project in (*words, *words):
                tasks.start_soon(ask, project)

    anyio.run(run)
    assert crossed == []
    assert answered[0] >= CALLS
