"""A key and a secret go through every route, tool and error; no log, metric or event shows them afterwards."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.surfaces.tools import ALL_TOOLS
from tests.support.running_server import RunningServer, running_server
from tests.surfaces.rest import test_tenancy as tenancy

SECRET = "ghp_" + "k7Q2mZ9xW4vB8nL1pR6tY3sD5fG0hJcA2eUi"
"""Has the form of a GitHub token, so it is removed before it is stored."""


class SecretCalls(tenancy.Calls):
    """Requests whose every text and query has a secret."""

    def text(self) -> str:
        return f"The token of the office is {SECRET} today."

    def query(self) -> str:
        return f"office token {SECRET}"


@pytest.fixture
def server(project: Path) -> Iterator[RunningServer]:
    with running_server(project) as running:
        yield running


def read_traces(server: RunningServer, project: Path, key: str) -> dict[str, str]:
    """Return everything that the server leaves behind in words, by its name."""
    traces = {
        path.name: path.read_text(errors="replace")
        for path in (project / ".ragstone").rglob("*")
        if path.suffix in (".jsonl", ".log", ".json")
    }
    traces["metrics"] = server.get("/metrics", key=key).text
    for address in ("events?limit=1000", "documents", "memory", "keys", "usage", "jobs"):
        traces[address] = server.get(f"/api/rag/{address}", key=key).text
    return traces


def test_a_key_and_a_secret_leave_no_trace(
    server: RunningServer, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keys = server.state.engines.own.admin.keys
    token = keys.create(scopes=["admin"]).token
    tenant = tenancy.Tenant("default", "office", token)
    wrong = tenancy.Tenant("default", "office", token[:-4] + "zzzz")
    server.post("/api/rag/collections", {"name": "handbook0"}, key=token)
    replies = []
    with caplog.at_level(logging.DEBUG):
        for caller in (tenant, wrong):
            calls = SecretCalls(random.Random(7), caller, caller)
            for method, route in tenancy.routes_of(server):
                if route.path == "/api/rag/keys/{key_id}":
                    continue  # the key must go on
                replies.append(tenancy.call_route(server, calls, method, route)[1])
            replies += [tenancy.call_tool(server, calls, tool)[1] for tool in ALL_TOOLS]
        broken = server.request(
            "POST", "/api/rag/search", content=b"{" + SECRET.encode(), key=token
        )
        assert broken.status_code == 400
    key_secret = token.rpartition("_")[2][:-4]
    assert all(key_secret not in reply.text + str(reply.headers) for reply in replies)
    assert SECRET not in broken.text
    # The client of the test logs its own requests.
    lines = [
        record.getMessage() for record in caplog.records if not record.name.startswith("http")
    ]
    traces = {"log": "\n".join(lines), **read_traces(server, project, token)}
    assert "events.jsonl" in traces
    for name, text in traces.items():
        assert key_secret not in text, name
        assert SECRET not in text, name


def test_a_revoked_key_ends_at_once_everywhere(server: RunningServer) -> None:
    keys = server.state.engines.own.admin.keys
    admin = keys.create(scopes=["admin"]).token
    reader = keys.create(scopes=["read"]).token
    for path in ("/api/rag/collections", "/mcp/discovery"):
        assert server.get(path, key=reader).status_code == 200
    server.delete(f"/api/rag/keys/{reader.split('_')[1]}", key=admin)
    for method, route in tenancy.routes_of(server):
        if route.key_scope != "public":
            calls = tenancy.Calls(
                random.Random(1), *[tenancy.Tenant("default", "", reader)] * 2
            )
            _, answer = tenancy.call_route(server, calls, method, route)
            assert answer.status_code in (303, 401), (method, route.path)
    assert server.post("/mcp", {}, key=reader).status_code == 401
