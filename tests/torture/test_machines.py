"""Two API servers, two workers and a client on one PostgreSQL, while workers are killed and the network is cut.

Each program has a loopback address and a proxy to the database. A short run is part of `make test`;
`make torture-machines` runs for minutes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragstone.store.postgres.store import PostgresStore
from ragstone.types import CollectionKey, Job, Scope
from tests.support.machines import Machine
from tests.support.postgres_server import NoServer, PostgresServer
from tests.support.waiting import wait_until

ROUNDS = int(os.environ.get("TORTURE_ROUNDS", "1"))
FILES = int(os.environ.get("TORTURE_FILES_PER_JOB", "12"))
JOBS_PER_ROUND = 4
WAIT_SECONDS = 120.0
LEASE = "2"
KEY = CollectionKey("default", "notes")
HERE = Scope("default", ("notes",))


class Cluster:
    """One database, two API servers on 127.0.0.11 and .12, two workers on .21 and .22."""

    def __init__(self, server: PostgresServer, folder: Path, stack: ExitStack) -> None:
        self.server = server
        database = server.new_database()
        self.store = stack.enter_context(PostgresStore(server.url(database)))
        self.store.ensure_collection(KEY)
        self.apis, self.workers = (
            [
                Machine(server, database, f"127.0.0.{number}{last}", folder / f"{number}{last}")
                for last in (1, 2)
            ]
            for number in (1, 2)
        )
        for machine in (*self.apis, *self.workers):
            stack.callback(machine.close)
        for api in self.apis:
            api.start("serve", "--host", api.address, "--port", "0", "--no-sync")
        for worker in self.workers:
            worker.start("worker", "--lease", LEASE)
        self.http = stack.enter_context(
            httpx2.Client(timeout=60, headers={"host": "127.0.0.1"})
        )
        self.acknowledged: dict[str, str] = {}
        self.job_ids: list[str] = []

    def post(self, api: int, path: str, **options: Any) -> Any:  # noqa: ANN401 - JSON
        """Send a request until the server answers it; only a database that is away is asked again."""
        url = f"{self.apis[api].output[-1]['url']}{path}"
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            answer = self.http.post(url, **options)
            if answer.status_code != 503:
                assert answer.status_code < 300, answer.text
                return answer.json()
            assert answer.json()["error"]["retryable"], answer.text
            time.sleep(0.2)
        raise AssertionError("the server did not answer in time")

    def upload(self, api: int, round_name: str) -> None:
        """Upload files as one job."""
        texts = {
            f"{round_name}-{n}.md": f"# Note {n}\n\nThe heron of {round_name} number {n} sails.\n"
            for n in range(FILES)
        }
        files = [("files", (name, text.encode())) for name, text in texts.items()]
        job = self.post(api, "/api/rag/collections/notes/files", files=files)["job"]
        self.job_ids.append(job["id"])
        self.acknowledged |= texts

    def jobs(self) -> dict[str, Job]:
        return {job.id: job for job in self.store.jobs.list("default", 1000)}

    def running_worker(self) -> Machine | None:
        """Return a worker that is in the middle of a job, or None."""
        for job in self.jobs().values():
            if job.state == "running" and 0 < job.done < FILES:
                pid = job.worker.rsplit("-", 3)[-3]
                return next((w for w in self.workers if str(w.pid) == pid), None)
        return None

    def finish(self) -> None:
        """Wait until every job is over; fail if no job ends for a while."""
        before = -1
        while len(self.unfinished()) != before:
            before = len(self.unfinished())
            if wait_until(lambda: not self.unfinished(), WAIT_SECONDS):
                return
        raise AssertionError(self.unfinished())

    def unfinished(self) -> list[Job]:
        jobs = self.jobs()
        return [jobs[job_id] for job_id in self.job_ids if not jobs[job_id].is_over]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    try:
        server = PostgresServer()
    except NoServer as error:
        pytest.skip(str(error))
    with ExitStack() as stack:
        stack.callback(server.close)
        yield Cluster(server, tmp_path, stack)


def kill_a_worker(cluster: Cluster) -> None:
    """Kill a worker in the middle of its job, and start it again."""
    found: list[Machine] = []

    def is_in_a_job() -> bool:
        worker = cluster.running_worker()
        found.extend([worker] if worker else [])
        return bool(found)

    assert wait_until(is_in_a_job, WAIT_SECONDS), [job.state for job in cluster.jobs().values()]
    found[0].kill()
    found[0].restart()


def cut_the_network(cluster: Cluster) -> None:
    """Cut a worker and an API server off from the database for longer than the lease."""
    machines = (cluster.workers[0], cluster.apis[0])
    for machine in machines:
        machine.network.cut()
    time.sleep(float(LEASE) + 1)
    for machine in machines:
        machine.network.mend()


def restart_the_database(cluster: Cluster) -> None:
    """Stop the server of the database as a crash does, and start it again."""
    cluster.server.stop()
    time.sleep(1)
    cluster.server.start()


DISTURBANCES: tuple[Callable[[Cluster], None], ...] = (
    kill_a_worker,
    cut_the_network,
    restart_the_database,
)


@pytest.mark.torture
def test_nothing_is_lost_or_stored_twice_while_workers_die_and_the_network_is_cut(
    cluster: Cluster,
) -> None:
    for number in range(ROUNDS):
        for disturb in DISTURBANCES:
            for upload in range(JOBS_PER_ROUND):
                cluster.upload(upload % 2, f"{disturb.__name__}-{number}-{upload}")
            disturb(cluster)
    cluster.finish()
    jobs = cluster.jobs()
    unfinished = [jobs[job_id] for job_id in cluster.job_ids if jobs[job_id].state != "done"]
    assert not unfinished, [(job.attempts, job.error) for job in unfinished]
    stored = cluster.store.documents(HERE, limit=100_000)
    assert sorted(document.uri for document in stored) == sorted(cluster.acknowledged)
    for uri, text in cluster.acknowledged.items():
        assert cluster.store.text(KEY, uri) == text
        assert len(cluster.store.document_chunks(KEY, uri)) == 1
    (collection,) = cluster.store.collections("default")
    assert collection.chunks == len(cluster.acknowledged)
    (space,) = cluster.store.vectors.spaces(HERE)
    assert space.embedded == space.texts == len(cluster.acknowledged)
    assert all(finding.ok for finding in cluster.store.check())
    assert max(jobs[job_id].attempts for job_id in cluster.job_ids) > 1
    _check_both_servers_see_a_write(cluster)
    assert [worker.stop() for worker in cluster.workers] == [0, 0]
    assert not any("Traceback" in m.errors for m in (*cluster.apis, *cluster.workers))
    attempts = sum(jobs[job_id].attempts for job_id in cluster.job_ids)
    print(f"{len(stored):,} documents, {len(cluster.job_ids)} jobs, {attempts} attempts")


def _check_both_servers_see_a_write(cluster: Cluster) -> None:
    """The first search on each server after an answer finds the document of that answer."""
    for number in range(10):
        body = {"source_doc_id": f"seen-{number}.md", "content": f"The osprey{number} dives."}
        started = time.perf_counter()
        cluster.post(number % 2, "/api/rag/collections/notes/documents", json=body)
        for api in (0, 1):
            query = {"query": f"osprey{number}", "mode": "words", "top_k": 1}
            hits = cluster.post(api, "/api/rag/search", json=query)["results"]
            assert [hit["source_doc_id"] for hit in hits] == [f"seen-{number}.md"]
        print(f"a write was seen by both servers after {time.perf_counter() - started:.3f} s")
