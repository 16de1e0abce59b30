"""The limits of a server: time, turns, models, and callers from outside."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragstone import Client, Engine, Overloaded, TimedOut
from ragstone.surfaces.rest.jobs import Jobs
from tests.support.running_server import RunningServer, running_server
from tests.support.waiting import wait_until


@pytest.fixture
def held_writes(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Make `remember` wait for an event before it stores."""
    release = threading.Event()
    remember = Engine.remember

    def slow(self: Engine, *arguments: Any, **options: Any) -> int:
        release.wait(20)
        return remember(self, *arguments, **options)

    monkeypatch.setattr(Engine, "remember", slow)
    return release


# ── time ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_slow_write_is_stored_once(project: Path, held_writes: threading.Event) -> None:
    with running_server(project, config={"server.seconds": 1}) as server:
        with pytest.raises(TimedOut) as caught:
            Client(server.url).remember("s", "user", "The gate is blue.")
        assert not caught.value.retryable
        assert server.state.admission.present == 1
        held_writes.set()
        assert wait_until(lambda: server.state.admission.present == 0)
        assert len(server.state.engines.own.turns("s")) == 1


def test_a_request_that_waits_too_long_never_starts(
    project: Path, held_writes: threading.Event
) -> None:
    config = {"server.seconds": 1, "server.active": 1}
    with running_server(project, config=config) as server:
        client = Client(server.url, retries=0)
        with pytest.raises(TimedOut):
            client.remember("s", "user", "The gate is blue.")
        with pytest.raises(Overloaded, match="turn"):
            client.remember("s", "user", "The door is red.")
        assert wait_until(lambda: server.state.admission.present == 1)
        held_writes.set()
        assert wait_until(lambda: server.state.admission.present == 0)
        stored = [turn.content for turn in server.state.engines.own.turns("s")]
        assert stored == ["The gate is blue."]


# ── callers from outside ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "config",
    [{"server.hosts": ["rag.example"]}, {"server.origins": ["https://tools.example"]}],
)
def test_a_server_for_others_needs_keys(project: Path, config: dict[str, object]) -> None:
    with running_server(project, config=config) as server:
        assert server.post("/api/rag/keys", {}).status_code == 401


def test_a_server_for_others_does_not_start_without_a_key(
    quick: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_SERVER_HOSTS", "rag.example")
    refused = quick("serve", "--port", "0")
    assert refused.code == 10
    assert "there is no key" in refused.err


def test_the_path_of_the_home_stays_hidden(server: RunningServer) -> None:
    home = server.state.engines.settings.home
    server.state.engines.engine("default").admin.keys.create(scopes=["read"])  # makes the home
    (home / "background.log").write_text(f"failed in {home}\n", encoding="utf-8")
    assert server.state.engines.engine("default").admin.status().background.log
    for project in ("default", "shop"):
        keys = server.state.engines.engine(project).admin.keys
        status = server.get("/api/rag/status", key=keys.create(scopes=["read"]).token)
        assert status.status_code == 200
        assert str(home) not in status.text


def test_pages_of_listed_origins_can_call_from_a_browser(project: Path) -> None:
    origin = "https://tools.example"
    with running_server(project, config={"server.origins": [f"{origin}/"]}) as server:
        asked = {
            "origin": origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization,content-type",
        }
        preflight = server.request("OPTIONS", "/api/rag/search", headers=asked)
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == origin
        answer = server.get("/health", headers={"origin": origin})
        assert answer.headers["access-control-allow-origin"] == origin
        foreign = server.request(
            "OPTIONS", "/api/rag/search", headers={**asked, "origin": "https://evil.example"}
        )
        assert foreign.status_code == 403


# ── turns ─────────────────────────────────────────────────────────────────────────────────────────


def test_health_and_waiting_for_a_job_need_no_turn(project: Path) -> None:
    with running_server(project, config={"server.active": 1}) as server:
        release = threading.Event()

        def work(progress: object) -> dict[str, Any]:
            release.wait(20)
            return {}

        jobs = server.state.jobs
        assert isinstance(jobs, Jobs)
        job = jobs.start("default", "test", work)
        answers: list[Any] = []

        def wait_for_job() -> None:
            with httpx2.Client(timeout=30) as http:
                address = f"{server.url}/api/rag/jobs/{job.id}?wait_seconds=20"
                answers.append(http.get(address).json()["job"]["status"])

        waiting = threading.Thread(target=wait_for_job)
        waiting.start()
        assert wait_until(lambda: server.state.metrics.requests("default") == 1)
        assert server.get("/api/rag/collections").status_code == 200
        assert answers == []
        release.set()
        waiting.join(20)
        assert answers == ["done"]
        server.state.admission.present = 1000  # as if many requests were waiting
        assert server.get("/health").status_code == 200
        assert server.get("/api/rag/collections").status_code == 429
        server.state.admission.present = 0


def test_as_many_requests_run_at_once_as_the_setting_says(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = threading.Barrier(45)

    def meet(self: Engine, *arguments: Any, **options: Any) -> int:
        together.wait(20)
        return 0

    monkeypatch.setattr(Engine, "remember", meet)
    with (
        running_server(project, config={"server.active": 50}) as server,
        Client(server.url, retries=0) as client,
        ThreadPoolExecutor(45) as pool,
    ):
        turns = pool.map(lambda n: client.remember("s", "user", f"Turn {n}"), range(45))
        assert list(turns) == [0] * 45


def test_a_project_cannot_fill_the_queue_of_jobs_alone() -> None:
    jobs = Jobs()
    release = threading.Event()

    def work(progress: object) -> dict[str, Any]:
        release.wait(20)
        return {}

    def fill() -> None:
        for _ in range(20):
            jobs.start("shop", "test", work)

    with pytest.raises(Overloaded):
        fill()
    other = jobs.start("website", "test", work)
    release.set()
    assert wait_until(lambda: jobs.get("website", other.id).is_over)
    jobs.close()


def test_a_job_that_does_not_stop_does_not_hold_the_process() -> None:
    program = (
        "import threading\n"
        "from ragstone.surfaces.rest import jobs\n"
        "jobs._CLOSE_SECONDS = 0.1\n"
        "running = jobs.Jobs()\n"
        "running.start('default', 'test', lambda progress: threading.Event().wait())\n"
        "running.close()\n"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=30).returncode == 0


# ── models ────────────────────────────────────────────────────────────────────────────────────────


def test_only_admins_choose_models_that_are_not_configured(project: Path) -> None:
    config = {"server.models": ["fake:listed"]}
    with running_server(project, config=config) as server:
        keys = server.state.engines.own.admin.keys
        token = keys.create(scopes=["read", "write"]).token
        admin = keys.create(scopes=["admin"]).token

        def create(embedder: str, key: str) -> int:
            body = {"name": f"c-{embedder}-{key[-4:]}", "embedding_provider": embedder}
            return server.post("/api/rag/collections", body, key=key).status_code

        assert create("sentence-transformers:any/repo", token) == 403
        assert create("openai", token) == 403
        assert create("fake", token) == 200
        assert create("no-such-embedder", admin) == 400
        for route, name in (("search", "query"), ("explain", "query"), ("context", "task")):
            for option in ("rerank", "embedder"):
                body = {name: "stone", option: "cohere"}
                refused = server.post(f"/api/rag/{route}", body, key=token)
                assert refused.status_code == 403, (route, option)
        unknown = {"query": "stone", "rerank": "fake:listed"}
        assert server.post("/api/rag/search", unknown, key=token).status_code != 403


def test_a_search_may_name_the_embedder(indexed: RunningServer) -> None:
    with Client(indexed.url) as client:
        hits = client.search("failed upload", embedder="fake")
    engine = indexed.state.engines.own
    expected = engine.search("failed upload", embedder="fake")
    assert [hit.citation for hit in hits] == [hit.citation for hit in expected]


# ── background work ───────────────────────────────────────────────────────────────────────────────


def test_changes_are_followed_while_the_embedding_service_is_down(project: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        config = {
            "rag.embedding_provider": "ollama",
            "embed.url": f"http://127.0.0.1:{unused.getsockname()[1]}",
            "embed.dimension": 8,
            "search.watch": "auto",
        }
        with running_server(project, config=config, sync=True) as server:
            assert wait_until(lambda: server.state.sync.status().way)
            (project / "late.md").write_text("A walrus arrives.")
            engine = server.state.engines.own
            assert wait_until(
                lambda: engine.search("walrus", mode="words", fresh=False), seconds=15
            )
            assert server.state.sync.status().running
