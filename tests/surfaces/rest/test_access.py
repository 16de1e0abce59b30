"""Access: a key before the body, borders between projects, and no key in any output."""

from __future__ import annotations

import json
import logging
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.routing import Route

from ragstone.access.identity import KEY_SCOPES
from ragstone.surfaces.rest.authorised_route import ScopedRoute
from ragstone.surfaces.server.mcp_http import McpEndpoint
from ragstone.surfaces.web.static_files import static_url
from tests.support.running_server import RunningServer, running_server

STATIC_ROUTE = "/static/{version}/{name:path}"
WEBSITE, SHOP = "website", "shop"
SECRET_WORDS = "xylophone marmalade"


@pytest.fixture
def keyed(project: Path) -> Iterator[RunningServer]:
    """Return a server with a key of the project `default`."""
    with running_server(project) as running:
        running.key = token_of(running, "default")
        yield running


def token_of(server: RunningServer, project: str, *scopes: str) -> str:
    keys = server.state.engines.engine(project).admin.keys
    return keys.create(scopes=scopes or ("admin",)).token


def routes_of(server: RunningServer) -> list[tuple[str, ScopedRoute]]:
    """Return (method, route) for every route of the app."""
    routes = [route for route in server.rest_app.routes if isinstance(route, APIRoute)]
    assert len(routes) > 35
    return [
        (method, route)
        for route in routes
        if isinstance(route, ScopedRoute)
        for method in sorted(route.methods or ())
    ]


def address_of(route: APIRoute) -> str:
    """Return an address that a route matches."""
    if route.path == STATIC_ROUTE:
        return static_url("js/main.js")
    path = route.path.replace("{project}", "default")
    return re.sub(r"\{\w+(:path)?\}", "x", path)


# ── every route ───────────────────────────────────────────────────────────────────────────────────


def test_every_route_states_its_scope(server: RunningServer) -> None:
    for route in server.rest_app.routes:
        if isinstance(route, Route) and isinstance(route.endpoint, McpEndpoint):
            continue  # authorises each tool: tests/surfaces/rest/test_mcp_http.py
        assert isinstance(route, ScopedRoute), route
        assert route.key_scope in (*KEY_SCOPES, "public"), route.path
    public = {route.path for _, route in routes_of(server) if route.key_scope == "public"}
    assert public == {"/health", "/api/rag/health", "/openapi.json", STATIC_ROUTE}


def test_every_route_needs_a_key_once_there_is_one(keyed: RunningServer) -> None:
    for method, route in routes_of(keyed):
        answer = keyed.request(method, address_of(route), key="")
        expected = 200 if route.key_scope == "public" else 401
        assert answer.status_code == expected, (method, route.path)


def test_every_route_refuses_a_key_without_its_scope(keyed: RunningServer) -> None:
    tokens = {scope: token_of(keyed, "default", scope) for scope in ("read", "write")}
    for method, route in routes_of(keyed):
        for scope, token in tokens.items():
            if route.key_scope not in ("public", scope):
                answer = keyed.request(method, address_of(route), key=token)
                assert answer.status_code == 403, (method, route.path, scope)


def test_every_route_checks_host_and_origin(server: RunningServer) -> None:
    addresses = [(method, address_of(route)) for method, route in routes_of(server)]
    for method, address in (*addresses, ("GET", "/nowhere")):
        for headers in (
            {"host": "evil.example"},
            {"host": ""},
            {"origin": "http://evil.example"},
            {"origin": "null"},
        ):
            answer = server.request(method, address, headers=headers)
            assert answer.status_code in (400, 403), (method, address, headers)
            assert "success" in answer.text or answer.status_code == 400


def test_every_answer_has_the_headers_of_safety(server: RunningServer) -> None:
    for address in ("/health", "/nowhere", "/openapi.json", "/api/rag/collections"):
        headers = server.get(address).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_pages_of_the_servers_own_address_may_call(server: RunningServer) -> None:
    assert server.get("/health", headers={"origin": server.url}).status_code == 200


def test_listed_names_and_origins_may_call(project: Path) -> None:
    config = {"server.hosts": ["rag.example"], "server.origins": ["https://tools.example"]}
    with running_server(project, config=config) as server:
        for headers in ({"host": "rag.example:80"}, {"origin": "https://tools.example"}):
            assert server.get("/health", headers=headers).status_code == 200


# ── keys ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_is_made_listed_and_revoked_over_rest(keyed: RunningServer) -> None:
    body = {"name": "laptop", "scopes": ["read"], "expires_in_days": 7}
    made = keyed.post("/api/rag/keys", body).json()
    token, key_id = made["token"], made["key"]["id"]
    assert keyed.get("/api/rag/collections", key=token).status_code == 200
    assert keyed.post("/api/rag/collections", {"name": "a"}, key=token).status_code == 403
    listed = keyed.get("/api/rag/keys").json()["keys"]
    assert key_id in [key["id"] for key in listed]
    assert token not in json.dumps(listed) and "digest" not in json.dumps(listed)
    assert keyed.delete(f"/api/rag/keys/{key_id}").json()["key"]["active"] is False
    refused = keyed.get("/api/rag/collections", key=token)
    assert refused.status_code == 401
    assert "this key is not valid" in refused.text
    assert "this server needs a key" in keyed.get("/api/rag/collections", key="").text


def test_revoking_the_last_key_does_not_open_the_server(keyed: RunningServer) -> None:
    key_id = keyed.key.split("_")[1]
    assert keyed.delete(f"/api/rag/keys/{key_id}").status_code == 200
    assert keyed.get("/api/rag/collections", key="").status_code == 401


def test_a_stream_ends_when_its_key_is_revoked(keyed: RunningServer) -> None:
    token = token_of(keyed, "default", "read")
    headers = {"authorization": f"Bearer {token}"}
    address = f"{keyed.url}/api/rag/events/stream"
    with keyed.http.stream("GET", address, headers=headers) as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        keyed.delete(f"/api/rag/keys/{token.split('_')[1]}")
        assert [line for line in lines if line.startswith("data")][1:] == []
    for _ in range(200):  # the server counts the stream after its last byte was sent
        if not keyed.state.streams.open:
            break
        time.sleep(0.05)
    assert keyed.state.streams.open == 0


@pytest.mark.parametrize(
    "path",
    ["/api/rag/collections", "/api/rag/collections/x/files", "/mcp", "/mcp/all"],
)
def test_a_body_is_not_read_before_the_key_is_checked(keyed: RunningServer, path: str) -> None:
    host, port = keyed.url.removeprefix("http://").split(":")
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
        "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(head.encode())  # and no byte of the body
        assert connection.recv(65_536).startswith(b"HTTP/1.1 401")


def test_a_slow_or_large_body_is_refused(project: Path) -> None:
    config = {"server.body_seconds": 1, "server.max_body_mb": 1}
    with running_server(project, config=config) as server:
        body = {"documents": [{"content": "a" * 1_100_000, "source_doc_id": "a"}]}
        large = server.post("/api/rag/documents", body)
        assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")
        host, port = server.url.removeprefix("http://").split(":")
        head = (
            f"POST /api/rag/search HTTP/1.1\r\nHost: {host}:{port}\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(head.encode())
            assert connection.recv(65_536).startswith(b"HTTP/1.1 408")


def test_a_browser_exchanges_its_key_for_a_cookie(keyed: RunningServer) -> None:
    opened = keyed.post("/api/rag/session")
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie
    assert keyed.key not in cookie
    keyed.http.cookies.clear()
    browser = {"cookie": cookie.partition(";")[0]}
    shown = keyed.get("/api/rag/session", key="", headers=browser).json()
    assert shown["project_id"] == "default"
    body = {"name": "handbook"}
    without = keyed.post("/api/rag/collections", body, key="", headers=browser)
    assert (without.status_code, without.json()["error"]["code"]) == (403, "access")
    browser["x-csrf-token"] = shown["csrf_token"]
    assert keyed.post("/api/rag/collections", body, key="", headers=browser).status_code == 200
    assert keyed.delete("/api/rag/session", key="", headers=browser).status_code == 200
    assert keyed.get("/api/rag/session", key="", headers=browser).status_code == 401


def test_a_session_ends_with_its_key(keyed: RunningServer) -> None:
    cookie = keyed.post("/api/rag/session").headers["set-cookie"].partition(";")[0]
    keyed.http.cookies.clear()
    assert keyed.get("/api/rag/usage", key="", headers={"cookie": cookie}).status_code == 200
    keyed.delete(f"/api/rag/keys/{keyed.key.split('_')[1]}")
    assert keyed.get("/api/rag/usage", key="", headers={"cookie": cookie}).status_code == 401


# ── borders ───────────────────────────────────────────────────────────────────────────────────────


def test_a_project_sees_nothing_of_another(keyed: RunningServer) -> None:
    website, shop = token_of(keyed, WEBSITE), token_of(keyed, SHOP)
    made = keyed.post("/api/rag/collections", {"name": "hidden-name"}, key=website).json()
    uuid = made["collection"]["uuid"]
    document = {"content": f"The {SECRET_WORDS}.", "source_doc_id": "hidden-doc"}
    keyed.post(f"/api/rag/collections/{uuid}/documents", document, key=website)
    turn = {"role": "user", "content": SECRET_WORDS}
    keyed.post("/api/rag/memory/hidden-session/add", turn, key=website)
    job = keyed.post(
        f"/api/rag/collections/{uuid}/files",
        files=[("files", ("hidden-file.md", SECRET_WORDS.encode()))],
        key=website,
    ).json()["job"]["id"]
    requests: list[tuple[str, str, dict[str, Any] | None]] = [
        ("POST", f"/api/rag/collections/{uuid}/search", {"query": "marmalade"}),
        ("POST", "/api/rag/search", {"query": "marmalade", "memory": True}),
        ("POST", "/api/rag/search", {"query": "marmalade", "collection": "hidden-name"}),
        ("POST", "/api/rag/explain", {"query": "marmalade"}),
        ("POST", "/api/rag/context", {"task": "marmalade"}),
        ("POST", "/api/rag/retrieve", {"query": "marmalade"}),
        ("POST", "/api/rag/memory/hidden-session/search", {"query": "marmalade"}),
        ("POST", f"/api/projects/{WEBSITE}/index-rag", None),
        ("POST", "/api/rag/sync", {}),
        ("GET", f"/api/rag/collections/{uuid}", None),
        ("GET", f"/api/rag/collections/{uuid}/documents", None),
        ("GET", f"/api/rag/collections/{uuid}/documents/hidden-doc", None),
        ("GET", f"/api/rag/collections/{uuid}/chunks?source_doc_id=hidden-doc", None),
        ("GET", f"/api/rag/jobs/{job}", None),
        ("GET", f"/api/rag/jobs/{job}/events", None),
        ("DELETE", f"/api/rag/collections/{uuid}", None),
        ("DELETE", f"/api/rag/collections/{uuid}/documents/hidden-doc", None),
        ("DELETE", "/api/rag/memory/hidden-session", None),
        ("DELETE", f"/api/rag/keys/{website.split('_')[1]}", None),
    ]
    listings = [
        ("GET", address_of(route), None)
        for method, route in routes_of(keyed)
        if method == "GET" and "{" not in route.path and not route.path.endswith("stream")
    ]
    for method, address, body in (*requests, *listings):
        answer = keyed.request(method, address, json=body, key=shop)
        shown = answer.text.replace('"query":"marmalade"', "").replace(uuid, "", 1)
        for hidden in ("xylophone", "hidden-", WEBSITE):
            if hidden not in address and hidden not in json.dumps(body):
                assert hidden not in shown, (method, address)
    found = keyed.post(
        f"/api/rag/collections/{uuid}/search", {"query": "xylophone"}, key=website
    )
    names = {hit["source_doc_id"] for hit in found.json()["results"]}
    assert names == {"hidden-doc", "hidden-file.md"}


def test_a_project_without_a_folder_reads_no_file_of_the_server(
    keyed: RunningServer, project: Path
) -> None:
    keyed.state.engines.own.sync()
    shop = token_of(keyed, SHOP)
    answer = keyed.post("/api/rag/sync", {"full": True}, key=shop)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")
    assert keyed.post("/api/rag/search", {"query": "upload"}, key=shop).json()["results"] == []
    status = keyed.get("/api/rag/status", key=shop).json()
    assert str(project) not in json.dumps(status)
    assert "bytes_on_disk" not in status


def test_a_hundred_projects_share_one_store_and_one_model(keyed: RunningServer) -> None:
    engines = keyed.state.engines
    for number in range(100):
        engine = engines.engine(f"tenant-{number}")
        assert engine.workspace is engines.workspace
        assert engine.workspace.components is engines.own.workspace.components


# ── canary ────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_is_in_no_log_error_or_metric(
    keyed: RunningServer, caplog: pytest.LogCaptureFixture, project: Path
) -> None:
    canary = token_of(keyed, "default", "admin")
    wrong = canary[:-4] + "zzzz"
    outputs = []
    with caplog.at_level(logging.DEBUG):
        for method, route in routes_of(keyed):
            if route.path.endswith("/stream"):
                continue
            for token in (canary, wrong):
                answer = keyed.request(method, address_of(route), key=token)
                outputs.append(answer.text + str(answer.headers))
            body = {"query": 7, "unknown": "x"}
            outputs.append(keyed.request(method, address_of(route), key=canary, json=body).text)
        outputs.append(keyed.get("/metrics").text)
    outputs.append(caplog.text)
    outputs += [path.read_text() for path in (project / ".ragstone").glob("*.jsonl")]
    secret = canary.rpartition("_")[2]
    for output in outputs:
        assert secret[:-4] not in output
