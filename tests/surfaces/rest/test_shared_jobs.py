"""Jobs of a shared database: another server sees them, any runner does them, and failures are tried again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.errors import ConfigError, ReadError, StoreBusy, StoreOffline
from ragstone.protocols import Progress
from ragstone.surfaces.jobs import runner as runner_module
from ragstone.surfaces.jobs import work
from ragstone.surfaces.jobs.lease import JobLease, JobTaken
from ragstone.surfaces.jobs.runner import JobRunner
from ragstone.surfaces.rest.engines import Engines
from ragstone.surfaces.rest.state import create_state
from ragstone.types import Job, JobRequest
from tests.support.running_server import CONFIG, RunningServer, running_server
from tests.support.waiting import wait_until

TEXT = b"The heron stands in the reeds.\n"


@pytest.fixture
def servers(tmp_path: Path, database_url: str) -> Iterator[list[RunningServer]]:
    """Give two servers on one database; only the second one runs jobs."""
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
        (folder / "page.md").write_text("A page of the folder.\n")
    config = {"store.url": database_url}
    with (
        running_server(folders[0], config={**config, "server.jobs": 0}) as first,
        running_server(folders[1], config={**config, "server.jobs": 1}) as second,
    ):
        yield [first, second]


def upload(server: RunningServer, name: str = "heron.md", **options: Any) -> dict[str, Any]:
    server.post("/api/rag/collections", {"name": "notes"})
    files = [("files", (name, TEXT))]
    answer = server.post("/api/rag/collections/notes/files", files=files, **options)
    assert answer.status_code in (200, 202), answer.text
    job: dict[str, Any] = answer.json()["job"]
    return job


def test_another_server_does_the_upload_and_both_show_its_result(
    servers: list[RunningServer],
) -> None:
    job_id = upload(servers[0])["id"]
    for server in servers:
        job = server.get(f"/api/rag/jobs/{job_id}?wait_seconds=20").json()["job"]
        assert (job["status"], job["attempts"]) == ("done", 1)
        assert job["result"]["documents"][0]["source_doc_id"] == "heron.md"
        assert [item["id"] for item in server.get("/api/rag/jobs").json()["jobs"]] == [job_id]
    found = servers[0].post("/api/rag/search", {"query": "heron", "mode": "words"}).json()
    assert "heron.md" in json.dumps(found)


def test_the_events_of_a_job_come_from_the_server_that_did_not_run_it(
    servers: list[RunningServer],
) -> None:
    job_id = upload(servers[0])["id"]
    url = f"{servers[0].url}/api/rag/jobs/{job_id}/events"
    with servers[0].http.stream("GET", url) as stream:
        names = [line for line in stream.iter_lines() if line.startswith("event: ")]
    assert names[-1] == "event: done"


def test_a_sync_is_left_to_the_server_of_its_folder(servers: list[RunningServer]) -> None:
    waiting = servers[0].post("/api/rag/sync", {}).json()["job"]
    own = servers[1].post("/api/rag/sync?wait=true", {"full": True}).json()["job"]
    assert own["status"] == "done"
    assert own["result"]["indexed"] == 1
    job = servers[1].get(f"/api/rag/jobs/{waiting['id']}").json()["job"]
    assert job["status"] == "waiting"


def test_the_status_lists_jobs_that_are_not_done(servers: list[RunningServer]) -> None:
    waiting = servers[0].post("/api/rag/sync", {}).json()["job"]
    shared = servers[1].get("/api/rag/status").json()["shared"]
    assert [job["id"] for job in shared["jobs"]] == [waiting["id"]]


def test_a_server_without_threads_for_jobs_needs_a_shared_database(tmp_path: Path) -> None:
    engines = Engines(tmp_path, project="default", config={**CONFIG, "server.jobs": 0})
    with pytest.raises(ConfigError, match=r"server\.jobs is 0"):
        create_state(engines)


# ── the runner ────────────────────────────────────────────────────────────────────────────────────


class Failing:
    """Work that fails with some errors first."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    def __call__(self, *arguments: object) -> dict[str, object]:
        if self.errors:
            raise self.errors.pop(0)
        return {"success": True}


@pytest.fixture
def engine(tmp_path: Path, database_url: str) -> Iterator[Engine]:
    config = {**CONFIG, "store.url": database_url}
    with Engine.open(tmp_path, config=config) as opened:
        yield opened


def run_one(engine: Engine, monkeypatch: pytest.MonkeyPatch, failing: Failing) -> Job:
    """Run a job with this work until it is over, and return it."""
    monkeypatch.setattr(runner_module, "run_work", failing)
    monkeypatch.setattr(runner_module, "_FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(runner_module, "_LONGEST_RETRY_SECONDS", 0.05)
    queue = engine.workspace.components.store.jobs  # type: ignore[attr-defined]  # it is shared
    job_id = queue.add("default", JobRequest("upload", "notes")).id
    runner = JobRunner(lambda: queue, lambda project: engine, "", threads=1)
    runner.start()
    try:
        assert wait_until(lambda: queue.get("default", job_id).is_over)
    finally:
        runner.stop(10)
    job: Job = queue.get("default", job_id)
    return job


def test_a_busy_store_and_a_bug_are_tried_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run_one(engine, monkeypatch, Failing(StoreBusy("busy"), ValueError("a bug")))
    assert (job.state, job.attempts, job.error) == ("done", 3, None)


def test_work_that_cannot_succeed_fails_at_once_with_its_reason(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run_one(engine, monkeypatch, Failing(ReadError("it is binary")))
    assert (job.state, job.attempts) == ("failed", 1)
    assert job.error is not None and job.error["message"] == "it is binary"


def test_many_outages_of_the_database_cost_no_job(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run_one(engine, monkeypatch, Failing(*[StoreOffline("away")] * 9))
    assert (job.state, job.attempts, job.error) == ("done", 10, None)


@pytest.mark.parametrize(
    ("error", "attempts", "code"),
    [(StoreBusy("busy"), 20, "store_busy"), (ValueError("a bug"), 5, "error")],
)
def test_work_that_fails_every_time_ends_as_failed(
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    attempts: int,
    code: str,
) -> None:
    job = run_one(engine, monkeypatch, Failing(*[error] * 30))
    assert (job.state, job.attempts) == ("failed", attempts)
    assert job.error is not None and job.error["code"] == code


def test_a_stopped_runner_gives_its_job_back(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = threading.Event()

    def work_on(engine: Engine, request: object, files: object, progress: Progress) -> None:
        started.set()
        while True:
            progress("read", 1, 2)

    monkeypatch.setattr(runner_module, "run_work", work_on)
    queue = engine.workspace.components.store.jobs  # type: ignore[attr-defined]  # it is shared
    job_id = queue.add("default", JobRequest("upload", "notes")).id
    runner = JobRunner(lambda: queue, lambda project: engine, "", threads=1)
    runner.start()
    assert started.wait(20)
    runner.stop(20)
    job = queue.get("default", job_id)
    assert (job.state, job.attempts) == ("waiting", 0)


def test_work_ends_at_its_next_report_if_the_lease_is_over(engine: Engine) -> None:
    queue = engine.workspace.components.store.jobs  # type: ignore[attr-defined]  # it is shared
    queue.add("default", work.upload_request("notes"))
    first = queue.claim("w1", [""], lease=0.01)
    lease = JobLease(queue, first, 30)
    assert wait_until(lambda: queue.claim("w2", [""], lease=30))

    def is_refused() -> bool:
        try:
            lease.report("read", 1, 2)
        except JobTaken:
            return True
        return False

    with lease.renewing():
        assert wait_until(is_refused)
