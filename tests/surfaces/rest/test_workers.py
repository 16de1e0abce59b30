"""Several workers on one port look like one server."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragstone import Engine
from tests.support.postgres_server import empty_database
from tests.support.processes import is_gone
from tests.support.waiting import wait_until
from tests.support.worker_server import WorkerServer, wait_for_index, worker_server

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="needs Linux: it looks for worker processes"
)
LIMIT = 20
WRITERS = 8


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerServer]:
    """Give a server with two workers and no keys."""
    folder = make_folder(tmp_path_factory.mktemp("project"))
    with worker_server(folder, environment()) as running:
        yield running


def make_folder(folder: Path) -> Path:
    (folder / "upload.md").write_text("# Uploads\n\nA failed upload is tried again.\n", "utf-8")
    (folder / "gate.md").write_text("# Gate\n\nThe gate opens at nine.\n", "utf-8")
    return folder


def environment() -> dict[str, str]:
    return {"RAGSTONE_RAG_EMBEDDING_PROVIDER": "fake"}


def search(client: httpx2.Client, query: str) -> list[str]:
    answer = client.post("/api/rag/search", json={"query": query, "mode": "words"})
    return [hit["source_doc_id"] for hit in answer.json()["results"]]


def add(client: httpx2.Client, uri: str, text: str) -> httpx2.Response:
    client.post("/api/rag/collections", json={"name": "notes"})
    body = {"content": text, "source_doc_id": uri}
    return client.post("/api/rag/collections/notes/documents", json=body)


def mcp(client: httpx2.Client, body: dict[str, Any], session: str = "") -> httpx2.Response:
    headers = {"accept": "application/json, text/event-stream"}
    if session:
        headers["mcp-session-id"] = session
    return client.post("/mcp", json={"jsonrpc": "2.0", **body}, headers=headers)


def open_mcp_session(client: httpx2.Client) -> str:
    info = {"name": "test", "version": "1"}
    version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    answer = mcp(client, {"id": 1, "method": "initialize", "params": version})
    return str(answer.headers["mcp-session-id"])


def test_the_folder_is_synced_by_one_worker(server: WorkerServer) -> None:
    wait_for_index(server.connect(1))
    for worker in (0, 1):  # indexing events wait for the next event of another kind
        search(server.connect(worker), "gate")
    events = server.connect(1).get("/api/rag/events?names=rag_chunk_indexed").json()["events"]
    assert sum(event.get("documents", 1) for event in events) == 2


def test_every_worker_sees_what_another_one_stored(server: WorkerServer) -> None:
    check_writes_are_seen(server)


def check_writes_are_seen(server: WorkerServer) -> None:
    for writer, reader, word in ((0, 1, "heron"), (1, 0, "egret")):
        assert add(server.connect(writer), f"{word}.md", f"A {word} stands.").status_code == 200
        assert search(server.connect(reader), word) == [f"{word}.md"]


@pytest.mark.parametrize(("first", "second", "word"), [(0, 1, "winch"), (1, 0, "derrick")])
def test_an_upload_to_one_worker_is_a_job_of_both(
    server: WorkerServer, first: int, second: int, word: str
) -> None:
    check_job_is_seen(server, first, second, word)


def check_job_is_seen(server: WorkerServer, first: int, second: int, word: str) -> None:
    server.connect(first).post("/api/rag/collections", json={"name": "files"})
    files = {"files": (f"{word}.md", f"# Cranes\n\nThe {word} lifts slabs.\n")}
    job = server.connect(first).post("/api/rag/collections/files/files", files=files).json()
    path = f"/api/rag/jobs/{job['job']['id']}"
    done = server.connect(second).get(f"{path}?wait_seconds=20").json()["job"]
    assert done["status"] == "done", done
    assert search(server.connect(second), word) == [f"{word}.md"]


def test_workers_share_a_postgres_database(tmp_path: Path) -> None:
    with empty_database() as url:
        settings = {"store.url": url}
        with worker_server(make_folder(tmp_path), environment(), settings) as server:
            wait_for_index(server.connect(1))
            check_writes_are_seen(server)
            check_job_is_seen(server, 1, 0, "winch")


def test_an_mcp_session_goes_on_through_another_worker(server: WorkerServer) -> None:
    session = open_mcp_session(server.connect(1))
    call = {"name": "rag_search", "arguments": {"query": "gate"}}
    for worker in (0, 1):
        client = server.connect(worker)
        mcp(client, {"method": "notifications/initialized"}, session)
        answer = mcp(client, {"id": 2, "method": "tools/call", "params": call}, session)
        assert answer.status_code == 200
        assert '"isError":true' not in answer.text
        assert '"id":2' in answer.text
    assert server.connect(0).delete("/mcp", headers={"mcp-session-id": session}).is_success
    assert mcp(server.connect(1), {"id": 3, "method": "ping"}, session).status_code == 404


def test_the_metrics_count_the_requests_of_all_workers(server: WorkerServer) -> None:
    for worker in (0, 1):
        search(server.connect(worker), "gate")
    before = count_searches(server)
    for worker in (0, 1):
        search(server.connect(worker), "gate")
    assert count_searches(server) == before + 2
    assert server.connect(1).get("/worker/counts").status_code == 404


def count_searches(server: WorkerServer) -> int:
    label = 'ragstone_requests_total{project="default",method="POST",route="/api/rag/search"'
    lines = server.connect(1).get("/metrics").text.splitlines()
    return sum(int(line.rpartition(" ")[2]) for line in lines if line.startswith(label))


def test_an_event_stream_has_the_events_of_all_workers(server: WorkerServer) -> None:
    with (
        httpx2.Client(base_url=server.url, timeout=30) as http,
        http.stream("GET", "/api/rag/events/stream?names=rag_search_completed") as stream,
    ):
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        for worker in (0, 1):
            search(server.connect(worker), f"question{worker}")
        seen: set[str] = set()
        for line in lines:
            if line.startswith("data: "):
                seen.add(json.loads(line.removeprefix("data: "))["query"])
            if {"question0", "question1"} <= seen:
                break
    assert {"question0", "question1"} <= seen


def test_pages_are_served_through_every_worker(server: WorkerServer) -> None:
    for worker in (0, 1):
        page = server.connect(worker).get("/")
        assert page.status_code == 200
        assert "<!doctype html>" in page.text


def test_a_body_that_is_too_large_is_refused_by_every_worker(server: WorkerServer) -> None:
    for worker in (0, 1):
        body = b" " * 21_000_000
        headers = {"content-type": "application/json"}
        with httpx2.Client(base_url=server.url, timeout=60) as fresh:
            answer = fresh.post("/api/rag/sync", content=body, headers=headers)
        assert answer.status_code == 413, worker


@pytest.fixture(scope="module")
def keyed(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[WorkerServer, Callable[..., str]]]:
    """Give a server with keys and plans, and a function that makes a key."""
    folder = make_folder(tmp_path_factory.mktemp("keyed"))
    settings = {
        "access.plans": "true",
        "plans.starter": f"collections=3,chunks={LIMIT},turns=500,hybrid",
    }
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as engine:
        admin = engine.admin.keys.create(scopes=["admin"]).token

    with worker_server(folder, environment(), settings) as running:
        headers = {"authorization": f"Bearer {admin}"}

        def make_key(**options: Any) -> str:
            url = f"{running.url}/api/rag/keys"
            token: str = httpx2.post(url, json=options, headers=headers).json()["token"]
            return token

        yield running, make_key


def test_a_revoked_key_ends_in_all_workers(
    keyed: tuple[WorkerServer, Callable[..., str]],
) -> None:
    server, make_key = keyed
    admin = {"authorization": f"Bearer {make_key(scopes=['admin'])}"}
    token = make_key()
    headers = {"authorization": f"Bearer {token}"}
    for worker in (0, 1):
        assert server.connect(worker).get("/api/rag/usage", headers=headers).is_success
        assert server.connect(worker).get("/api/rag/collections", headers=headers).is_success
    key_id = token.split("_")[1]
    assert server.connect(1).delete(f"/api/rag/keys/{key_id}", headers=admin).is_success
    for worker in (0, 1):
        for path in ("/api/rag/collections", "/api/rag/usage", "/mcp"):
            answer = server.connect(worker).get(path, headers=headers)
            assert answer.status_code == 401, (worker, path)


def test_a_session_of_a_browser_works_with_every_worker(
    keyed: tuple[WorkerServer, Callable[..., str]],
) -> None:
    server, make_key = keyed
    headers = {"authorization": f"Bearer {make_key()}"}
    opened = server.connect(1).post("/api/rag/session", headers=headers)
    token = {"x-csrf-token": opened.json()["csrf_token"]}
    cookie = {"cookie": opened.headers["set-cookie"].partition(";")[0]}
    for client in list(server.clients.values()):
        client.cookies.clear()
    for worker in (0, 1):
        client = server.connect(worker)
        body = {"query": "gate"}
        assert client.post("/api/rag/search", json=body, headers={**cookie, **token}).is_success
        assert client.post("/api/rag/search", json=body, headers=cookie).status_code == 403
    assert server.connect(0).delete("/api/rag/session", headers={**cookie, **token}).is_success
    assert server.connect(1).get("/api/rag/usage", headers=cookie).status_code == 401


def test_a_body_without_a_key_is_not_waited_for(
    keyed: tuple[WorkerServer, Callable[..., str]],
) -> None:
    server, _ = keyed
    host, port = server.url.removeprefix("http://").split(":")
    for path in ("/api/rag/sync", "/api/rag/search", "/mcp"):
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000\r\n\r\n{{"
            connection.sendall(head.encode())
            assert b" 401 " in connection.recv(100)


def test_a_quota_holds_across_workers(keyed: tuple[WorkerServer, Callable[..., str]]) -> None:
    server, make_key = keyed
    headers = {"authorization": f"Bearer {make_key()}"}
    create = {"name": "raced"}
    assert (
        server.connect(0).post("/api/rag/collections", json=create, headers=headers).is_success
    )

    def write(number: int) -> int:
        body = {"content": f"The slab {number} is red.", "source_doc_id": f"{number}.md"}
        with httpx2.Client(base_url=server.url, headers=headers, timeout=60) as client:
            answer = client.post("/api/rag/collections/raced/documents", json=body)
        return answer.status_code

    with ThreadPoolExecutor(WRITERS) as pool:
        statuses = list(pool.map(write, range(2 * LIMIT)))
    stored = server.connect(1).get("/api/rag/collections/raced", headers=headers).json()
    assert stored["collection"]["stats"]["chunk_count"] == LIMIT
    assert statuses.count(200) == LIMIT, statuses


def test_a_dead_worker_is_replaced_and_all_stop_together(tmp_path: Path) -> None:
    with worker_server(make_folder(tmp_path), environment()) as server:
        before = server.workers()
        for worker in before:
            os.kill(worker, signal.SIGKILL)
        server.forget_connections()
        assert wait_until(lambda: len(set(server.workers()) - set(before)) == 2, 60)
        for worker in (0, 1):
            assert server.connect(worker).get("/api/rag/status").is_success
        workers = server.workers()
        assert b" 200 " in stop_during_a_request(server)
        assert server.process.wait(60) == 0
        assert all(map(is_gone, workers))


def stop_during_a_request(server: WorkerServer) -> bytes:
    """Stop a server after it has received half of a request, and return the beginning of its answer."""
    host, port = server.url.removeprefix("http://").split(":")
    body = json.dumps({"query": "gate"}).encode()
    head = (
        f"POST /api/rag/search HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(head.encode() + body[:1])
        for worker in (0, 1):  # an answer of each shows that the request above has begun
            assert server.connect(worker).get("/health").is_success
        server.process.send_signal(signal.SIGTERM)
        connection.sendall(body[1:])
        return connection.recv(100)


def test_workers_end_if_the_process_above_them_is_killed(tmp_path: Path) -> None:
    with worker_server(make_folder(tmp_path), environment()) as server:
        workers = server.workers()
        server.process.kill()
        assert all(map(is_gone, workers))


def test_workers_need_a_store_that_they_can_share(
    quick: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_RAG_VECTOR_STORE_PROVIDER", "memory")
    refused = quick("serve", "--workers", "2", "--port", "0")
    assert refused.code == 2
    assert "cannot share a store in memory" in refused.err


def test_workers_do_not_share_the_port_of_another_server(
    server: WorkerServer, quick: Callable[..., Any]
) -> None:
    refused = quick("serve", "--workers", "2", "--port", server.url.rpartition(":")[2])
    assert refused.code == 2
    assert "cannot be used" in refused.err
