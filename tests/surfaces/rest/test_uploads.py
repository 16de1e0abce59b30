"""Uploads wait on disk: limited in bytes, private, and gone after their job or at the next start."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ragstone.surfaces.rest.jobs import Jobs
from tests.support.running_server import RunningServer, running_server
from tests.support.waiting import wait_until

MEGABYTE = 1_000_000


@contextmanager
def held_jobs(server: RunningServer) -> Iterator[None]:
    """Keep both threads of jobs busy while the block runs, so that uploads wait."""
    release = threading.Event()

    def work(progress: object) -> dict[str, Any]:
        release.wait(60)
        return {}

    jobs = server.state.jobs
    assert isinstance(jobs, Jobs)
    for _ in range(2):
        jobs.start("held", "test", work)
    try:
        yield
    finally:
        release.set()


def upload(server: RunningServer, *sizes: int) -> Any:  # noqa: ANN401 - a response of httpx2
    files = [
        ("files", (f"note{number}.md", b"stone " * (size // 6)))
        for number, size in enumerate(sizes)
    ]
    return server.post("/api/rag/collections/notes/files", files=files)


def spooled(project: Path) -> list[Path]:
    return [path for path in (project / ".ragstone" / "uploads").rglob("*") if path.is_file()]


@pytest.fixture
def notes(project: Path) -> Iterator[RunningServer]:
    """Return a server with a collection; at most 5 MB of uploads may wait."""
    with running_server(project, config={"server.upload_mb": 5}) as server:
        server.post("/api/rag/collections", {"name": "notes"})
        yield server


def test_waiting_uploads_are_limited_in_bytes_and_private(
    notes: RunningServer, project: Path
) -> None:
    with held_jobs(notes):
        first = upload(notes, 2 * MEGABYTE, MEGABYTE)
        assert first.status_code == 202
        paths = spooled(project)
        assert len(paths) == 2
        if os.name == "posix":
            assert {path.stat().st_mode & 0o777 for path in paths} == {0o600}
            assert {path.parent.stat().st_mode & 0o777 for path in paths} == {0o700}
        refused = upload(notes, 3 * MEGABYTE)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "overloaded")
        assert "retry-after" in refused.headers
        assert len(spooled(project)) == 2
    job = first.json()["job"]["id"]
    done = notes.get(f"/api/rag/jobs/{job}?wait_seconds=20").json()["job"]
    assert len(done["result"]["documents"]) == 2
    assert spooled(project) == []
    assert notes.state.uploads.used == 0
    assert upload(notes, 3 * MEGABYTE).status_code == 202


def test_waiting_uploads_take_no_memory(project: Path) -> None:
    with running_server(project) as server:
        server.post("/api/rag/collections", {"name": "notes"})
        with held_jobs(server):
            tracemalloc.start()
            try:
                for _ in range(4):
                    assert upload(server, 2 * MEGABYTE).status_code == 202
                current, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert server.state.uploads.used > 7 * MEGABYTE
            assert current < 4 * MEGABYTE


def test_a_refused_job_leaves_no_file(notes: RunningServer, project: Path) -> None:
    with held_jobs(notes):
        statuses = [upload(notes, 600).status_code for _ in range(11)]
        assert statuses == [202] * 10 + [429]
        assert len(spooled(project)) == 10
    assert wait_until(lambda: spooled(project) == [])


def test_the_files_of_a_stopped_server_are_removed(project: Path) -> None:
    with running_server(project) as server:
        server.post("/api/rag/collections", {"name": "notes"})
        with held_jobs(server):
            upload(server, 600)
            server.state.uploads.close()
            assert spooled(project) == []


def test_the_files_of_a_killed_server_are_removed_at_the_next_start(project: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    uploads = project / ".ragstone" / "uploads"
    for process in (ended.pid, os.getppid()):
        folder = uploads / f"{process}-x"
        folder.mkdir(parents=True)
        (folder / "file").write_text("left behind")
    with running_server(project):
        assert [path.parent.name for path in spooled(project)] == [f"{os.getppid()}-x"]
