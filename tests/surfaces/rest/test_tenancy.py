"""Two projects call every route and every tool in random order; no answer has a byte of the other project.

`make torture-api` makes fifty thousand calls; `TORTURE_TENANT_CALLS` is their number.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp_types.version import LATEST_MODERN_VERSION

from ragstone.surfaces.rest.authorised_route import ScopedRoute
from ragstone.surfaces.tools import ALL_TOOLS
from ragstone.surfaces.tools.tool import Tool
from tests.support.running_server import RunningServer, running_server

CALLS = int(os.environ.get("TORTURE_TENANT_CALLS", "350"))
STREAMS = ("/api/rag/events/stream", "/api/rag/jobs/{job_id}/events")
META = "io.modelcontextprotocol"
WORDS = ("office", "gate", "deploy", "roof")


@dataclass
class Tenant:
    """A project with its key, and the ids that its answers showed. Its word stands in all that it stores."""

    name: str
    word: str
    key: str
    ids: dict[str, list[str]] = field(default_factory=dict)

    def learn(self, kind: str, value: str) -> None:
        known = self.ids.setdefault(kind, [])
        known.append(value)
        del known[:-8]

    def secrets(self) -> list[str]:
        """Return the texts that no other project may see."""
        return [self.word, *(value for values in self.ids.values() for value in values)]


class Calls:
    """Makes random requests of one tenant; ids are its own, or those of the other one."""

    def __init__(self, random_source: random.Random, tenant: Tenant, other: Tenant) -> None:
        self.random = random_source
        self.tenant = tenant
        self.other = other

    def pick(self, kind: str, fallback: str) -> str:
        owner = self.other if self.random.random() < 0.3 else self.tenant
        return self.random.choice(owner.ids.get(kind) or [fallback])

    def text(self) -> str:
        return f"The {self.random.choice(WORDS)} of {self.tenant.word}."

    def query(self) -> str:
        return " ".join(self.random.sample(WORDS, 2))

    def values(self) -> dict[str, Any]:
        """Return a value for every field, parameter and argument, by its name."""
        number = self.random.randrange(4)
        document = {"content": self.text(), "source_doc_id": f"notes/{number}"}
        return {
            "collection_id": self.pick("collection", f"handbook{number}"),
            "doc_id": f"notes/{number}",
            "session": f"s{number}",
            "session_id": f"s{number}",
            "job_id": self.pick("job", "none"),
            "key_id": self.pick("key", "none"),
            "project": self.random.choice([self.tenant.name, self.other.name]),
            "project_id": self.random.choice([self.tenant.name, self.other.name]),
            "source_doc_id": f"notes/{number}",
            "name": f"handbook{number}",
            "description": self.text(),
            "query": self.query(),
            "q": self.query(),
            "task": self.query(),
            "content": self.text(),
            "role": "user",
            "documents": [document],
            "metadata": {"owner": self.tenant.word},
            "title": self.text(),
            "collection": self.random.choice([f"handbook{number}", "default", None]),
            "path": f"notes/{number}",
            "uri": f"notes/{number}",
            "memory": True,
            "run_id": f"run{number}",
            "summary": self.text(),
            "changes": [{"path": "src/a.py", "summary": self.text()}],
            "events": [{"event": "created", "path": "README.md"}],
            "prompt_markdown": "# Task",
            "user_message": self.query(),
            "scopes": ["read"],
            "turn": number,
            "limit": 50,
            "top_k": 10,
            "cursor": None,
        }


BODIES: dict[str, tuple[str, ...]] = {
    "/api/rag/collections": ("name", "description"),
    "/api/rag/collections/{collection_id}/documents": (
        "content",
        "source_doc_id",
        "title",
        "metadata",
    ),
    "/api/rag/documents": ("documents", "collection"),
    "/api/rag/remove": ("uri", "collection"),
    "/api/rag/collections/{collection_id}/search": ("query", "top_k"),
    "/api/rag/search": ("query", "top_k", "memory", "collection"),
    "/api/rag/explain": ("query", "top_k", "memory"),
    "/api/rag/context": ("task",),
    "/api/rag/get_context_for_prompt": ("task", "project_id"),
    "/api/rag/inject": ("prompt_markdown", "user_message"),
    "/api/rag/retrieve": ("query", "top_k"),
    "/api/rag/memory/{session:path}/add": ("role", "content"),
    "/api/rag/memory/{session:path}/search": ("query", "top_k"),
    "/api/rag/turns": ("session_id", "role", "content"),
    "/api/rag/recall": ("session_id", "query"),
    "/api/rag/runs": ("run_id", "summary", "changes"),
    "/api/projects/{project}/index-rag": (),
    "/api/rag/sync": (),
    "/api/projects/{project}/files": ("events",),
    "/api/rag/keys": ("name", "scopes"),
    "/api/rag/session": (),
}
"""The fields of each body. A new route that takes one needs an entry."""
UPLOAD = "/api/rag/collections/{collection_id}/files"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """Return a server whose own folder belongs to neither tenant."""
    folder = tmp_path / "quarry"
    folder.mkdir()
    (folder / "README.md").write_text("The walrus guards the office and the gate.\n")
    with running_server(folder) as running:
        running.state.engines.own.sync()
        yield running


def open_tenants(server: RunningServer) -> tuple[Tenant, Tenant]:
    def key_of(project: str) -> str:
        return server.state.engines.engine(project).admin.keys.create(scopes=["admin"]).token

    website = Tenant("website", "xylophone", key_of("website"))
    shop = Tenant("shop", "marmalade", key_of("shop"))
    for tenant in (website, shop):
        for number in range(4):
            body = {"name": f"handbook{number}", "description": f"Of {tenant.word}."}
            made = server.post("/api/rag/collections", body, key=tenant.key)
            tenant.learn("collection", made.json()["collection"]["uuid"])
            turn = {"role": "user", "content": f"The office of {tenant.word}."}
            server.post(f"/api/rag/memory/s{number}/add", turn, key=tenant.key)
    return website, shop


def routes_of(server: RunningServer) -> list[tuple[str, ScopedRoute]]:
    return [
        (method, route)
        for route in server.rest_app.routes
        if isinstance(route, ScopedRoute) and route.path not in STREAMS
        for method in sorted(route.methods or ())
    ]


def call_route(
    server: RunningServer, calls: Calls, method: str, route: ScopedRoute
) -> tuple[str, httpx2.Response]:
    """Send a random request to a route; return it as text, and its answer."""
    values = calls.values()
    path = route.path.replace(":path}", "}")
    for name in route.param_convertors:
        path = path.replace("{" + name + "}", str(values.get(name, "x")))
    options: dict[str, Any] = {}
    if route.path == UPLOAD:
        options["files"] = [("files", ("upload.md", calls.text().encode()))]
    elif method == "POST" and route.path.startswith("/api/"):
        options["json"] = {name: values[name] for name in BODIES[route.path]}
    elif method in ("GET", "DELETE"):
        names = [parameter.alias for parameter in route.dependant.query_params]
        options["params"] = {name: values[name] for name in names if values.get(name)}
    answer = server.request(method, path, key=calls.tenant.key, **options)
    return f"{method} {path} {options}", answer


def call_tool(server: RunningServer, calls: Calls, tool: Tool) -> tuple[str, httpx2.Response]:
    """Call a tool over MCP; return the request as text, and its answer."""
    values = calls.values()
    arguments = {
        name: values[name]
        for name in tool.properties
        if name in values and values[name] is not None
    }
    arguments = {name: arguments[name] for name in arguments if name not in ("turn", "limit")}
    if tool.name == "rag_execute":
        arguments = {"action": "rag.search", "query": calls.query()}
    assert set(tool.required) <= set(arguments), f"{tool.name} needs an entry in Calls.values"
    meta = {
        f"{META}/protocolVersion": LATEST_MODERN_VERSION,
        f"{META}/clientInfo": {"name": "test", "version": "1"},
        f"{META}/clientCapabilities": {},
    }
    params = {"name": tool.name, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": LATEST_MODERN_VERSION,
        "mcp-method": "tools/call",
        "mcp-name": tool.name,
    }
    answer = server.post("/mcp/all", message, headers=headers, key=calls.tenant.key)
    return f"{tool.name} {json.dumps(arguments)}", answer


def learn_ids(tenant: Tenant, answer: httpx2.Response) -> None:
    """Keep the ids of new collections, jobs and keys."""
    if answer.status_code not in (200, 202) or "json" not in answer.headers["content-type"]:
        return
    data = answer.json()
    for kind, field_name in (("collection", "uuid"), ("job", "id"), ("key", "id")):
        entry = data.get(kind)
        if isinstance(entry, dict) and field_name in entry:
            tenant.learn(kind, entry[field_name])


def test_every_body_of_the_interface_has_an_entry(server: RunningServer) -> None:
    paths = {
        route.path
        for method, route in routes_of(server)
        if method == "POST" and route.path.startswith("/api/")
    }
    assert paths == {*BODIES, UPLOAD}


def test_every_tool_that_writes_needs_the_scope(server: RunningServer) -> None:
    keys = server.state.engines.engine("website").admin.keys
    reader = Tenant("website", "xylophone", keys.create(scopes=["read"]).token)
    calls = Calls(random.Random(1), reader, reader)
    writers = [tool for tool in ALL_TOOLS if not tool.read_only]
    assert len(writers) > 5
    for tool in ALL_TOOLS:
        _, answer = call_tool(server, calls, tool)
        refused = '"code":"access"' in answer.text
        assert refused is not tool.read_only, tool.name


@pytest.mark.torture
def test_no_call_shows_a_byte_of_another_project(server: RunningServer) -> None:
    seed = random.randrange(2**32)
    random_source = random.Random(seed)
    tenants = open_tenants(server)
    operations: list[Any] = [*routes_of(server), *ALL_TOOLS]
    statuses: Counter[int] = Counter()
    used: set[str] = set()
    own_answers = 0
    started = time.monotonic()
    for number in range(CALLS):
        tenant, other = random_source.sample(tenants, 2)
        calls = Calls(random_source, tenant, other)
        # Every operation has its turn; in between, new content is stored.
        operation = operations[(number // 2) % len(operations)]
        if number % 2:
            operation = random_source.choice(operations)
        if isinstance(operation, Tool):
            request, answer = call_tool(server, calls, operation)
            used.add(operation.name)
        else:
            method, route = operation
            if route.path == "/api/rag/keys/{key_id}" and calls.tenant.ids.get("key"):
                calls.tenant.ids["key"] = calls.tenant.ids["key"][-1:]
            request, answer = call_route(server, calls, method, route)
            used.add(f"{method} {route.path}")
        statuses[answer.status_code] += 1
        assert answer.status_code < 500, (seed, request, answer.text)
        shown = answer.text + str(answer.headers)
        for secret in (*other.secrets(), "walrus"):
            is_echo = secret in request
            assert is_echo or secret not in shown, (seed, request, answer.text)
        own_answers += tenant.word in shown and tenant.word not in request
        learn_ids(tenant, answer)
    assert own_answers > CALLS // 20
    assert len(used) == len(operations)
    assert statuses[200] > CALLS // 3
    seconds = time.monotonic() - started
    print(f"{CALLS} calls in {seconds:.0f} s, no foreign byte, {dict(statuses)}")
