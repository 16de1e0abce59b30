"""The queue of jobs: one worker has a job, an older lease changes nothing, and the newest content stays."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ragstone.errors import Overloaded
from ragstone.store.postgres import jobs, schema
from ragstone.store.postgres.connection import PostgresDatabase
from ragstone.store.postgres.jobs import MAX_ATTEMPTS, PostgresJobQueue
from ragstone.store.postgres.store import PostgresStore
from ragstone.types import IncomingFile, Job, JobRequest
from tests.support.postgres_server import PostgresServer

UPLOAD = JobRequest("upload", "notes", {"metadata": {"year": 2026}})
SOON = 0.05
LONG = 60.0


@pytest.fixture
def queue(database_url: str) -> Iterator[PostgresJobQueue]:
    with PostgresStore(database_url) as store:
        yield store.jobs


def file(name: str, content: bytes = b"apple") -> IncomingFile:
    return IncomingFile(name, len(content), io.BytesIO(content))


def claim(queue: PostgresJobQueue, worker: str = "w1", *, lease: float = LONG) -> Job | None:
    return queue.claim(worker, [""], lease=lease)


def claimed(queue: PostgresJobQueue, worker: str = "w1", *, lease: float = LONG) -> Job:
    job = claim(queue, worker, lease=lease)
    assert job is not None
    return job


def test_a_job_comes_back_with_its_request_and_the_bytes_of_its_files(
    queue: PostgresJobQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_PART_BYTES", 3)
    added = queue.add("shop", UPLOAD, [file("a.md", b"apple\0pie"), file("b.md", b"")])
    assert added.state == "waiting"
    job = claimed(queue)
    assert (job.id, job.project, job.state, job.attempts) == (added.id, "shop", "running", 1)
    assert job.request == UPLOAD
    stored = [(item.name, item.size, item.read()) for item in queue.files(job)]
    assert stored == [("a.md", 9, b"apple\0pie"), ("b.md", 0, b"")]


def test_two_workers_never_get_the_same_job(queue: PostgresJobQueue) -> None:
    first, second = (queue.add("shop", UPLOAD, [file(name)]).id for name in ("a", "b"))
    assert claimed(queue, "w1").id == first
    assert claimed(queue, "w2").id == second
    assert claim(queue, "w3") is None


def test_after_its_lease_a_job_goes_to_another_worker_and_the_first_changes_nothing(
    queue: PostgresJobQueue,
) -> None:
    queue.add("shop", UPLOAD, [file("a")])
    first = claimed(queue, "w1", lease=SOON)
    time.sleep(SOON * 2)
    second = claimed(queue, "w2")
    assert (second.id, second.attempts) == (first.id, 2)
    assert not queue.renew(first, lease=LONG)
    assert not queue.finish(first, {"chunks": 1})
    assert not queue.fail(first, {"message": "late"}, retry_after=None)
    assert not queue.release(first)
    assert queue.finish(second, {"chunks": 2})
    assert queue.get("shop", first.id) == replace(
        second, state="done", result={"chunks": 2}, finished=_finished(queue, first)
    )


def _finished(queue: PostgresJobQueue, job: Job) -> float | None:
    stored = queue.get(job.project, job.id)
    assert stored is not None
    return stored.finished


def test_a_renewed_lease_keeps_the_job_and_stores_its_progress(queue: PostgresJobQueue) -> None:
    queue.add("shop", UPLOAD, [file("a")])
    job = claimed(queue, lease=SOON)
    assert queue.renew(replace(job, stage="read", done=3, total=9), lease=LONG)
    time.sleep(SOON * 2)
    assert claim(queue, "w2") is None
    (stored,) = queue.list("shop", 5)
    assert (stored.stage, stored.done, stored.total) == ("read", 3, 9)


def test_a_failed_attempt_waits_and_the_last_one_says_why(queue: PostgresJobQueue) -> None:
    job_id = queue.add("shop", UPLOAD, [file("a")]).id
    assert queue.fail(claimed(queue), {"message": "busy"}, retry_after=SOON)
    assert claim(queue) is None
    time.sleep(SOON * 2)
    assert queue.fail(claimed(queue), {"message": "no room"}, retry_after=None)
    job = queue.get("shop", job_id)
    assert job is not None
    assert (job.state, job.error, job.attempts) == ("failed", {"message": "no room"}, 2)
    assert queue.files(job) == []


def test_a_job_that_was_given_back_runs_at_once_and_does_not_count(
    queue: PostgresJobQueue,
) -> None:
    queue.add("shop", UPLOAD, [file("a")])
    assert queue.release(claimed(queue))
    assert claimed(queue, "w2").attempts == 1


def test_a_job_whose_workers_die_again_and_again_fails(queue: PostgresJobQueue) -> None:
    job_id = queue.add("shop", UPLOAD, [file("a")]).id
    for _ in range(MAX_ATTEMPTS):
        claimed(queue, lease=0.001)
        time.sleep(0.01)
    assert claim(queue) is None
    job = queue.get("shop", job_id)
    assert job is not None and job.error is not None
    assert job.state == "failed"
    assert "its worker died or lost the database" in str(job.error["message"])


def test_the_second_upload_of_a_file_waits_for_the_first(queue: PostgresJobQueue) -> None:
    queue.add("shop", UPLOAD, [file("a"), file("b")])
    newer = queue.add("shop", UPLOAD, [file("b")])
    other = queue.add("shop", replace(UPLOAD, collection="letters"), [file("b")])
    first = claimed(queue)
    assert claimed(queue, "w2").id == other.id
    assert claim(queue, "w3") is None
    queue.finish(first, {})
    assert claimed(queue, "w3").id == newer.id


def test_a_sync_runs_only_at_its_place_and_after_earlier_ones(queue: PostgresJobQueue) -> None:
    request = JobRequest("sync", "", {}, place="shop@host:/docs")
    first, second = (queue.add("shop", request).id for _ in range(2))
    assert claim(queue) is None
    job = queue.claim("w1", ["", "shop@host:/docs"], lease=LONG)
    assert job is not None and job.id == first
    assert queue.claim("w2", ["shop@host:/docs"], lease=LONG) is None
    queue.finish(job, {})
    after = queue.claim("w2", ["shop@host:/docs"], lease=LONG)
    assert after is not None and after.id == second


def test_too_many_bytes_or_jobs_of_a_project_are_refused(
    queue: PostgresJobQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add("shop", UPLOAD, [file("a", b"x" * 60)], max_bytes=100)
    with pytest.raises(Overloaded, match="bytes"):
        queue.add("shop", UPLOAD, [file("b", b"x" * 60)], max_bytes=100)
    queue.add("website", UPLOAD, [file("b", b"x" * 60)], max_bytes=100)
    monkeypatch.setattr(jobs, "MAX_WAITING", 1)
    with pytest.raises(Overloaded, match="jobs"):
        queue.add("shop", UPLOAD)
    assert len(queue.list("shop", 9)) == 1


def test_old_jobs_that_are_over_are_forgotten(
    queue: PostgresJobQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MAX_KEPT", 2)
    for _ in range(4):
        queue.add("shop", UPLOAD)
        queue.finish(claimed(queue), {})
    newest = queue.add("shop", UPLOAD)
    assert len(queue.list("shop", 9)) == 3
    assert queue.list("shop", 1) == [newest]
    assert queue.get("website", newest.id) is None


def test_a_database_of_the_first_version_gets_the_queue(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.url(postgres_server.new_database())
    PostgresStore(url).close()
    database = PostgresDatabase(url)
    with database.writing(None) as db:
        for table in ("job_file_parts", "job_files", "jobs"):
            db.execute(f"DROP TABLE {table}")
        db.execute("UPDATE meta SET value = '1' WHERE key = 'schema_version'")
    database.close()
    with PostgresStore(url) as store:
        store.jobs.add("shop", UPLOAD, [file("a")])
        assert claimed(store.jobs).kind == "upload"
    assert schema.NEWEST > 1
