"""The queue of jobs in PostgreSQL: `FOR UPDATE SKIP LOCKED` gives each job to one worker, for the time of a lease."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from ragstone.errors import Overloaded
from ragstone.store.catalog import check_name
from ragstone.store.fetch import Row, fetch_column, fetch_value
from ragstone.store.postgres import catalog
from ragstone.store.postgres.connection import PostgresDatabase, Transaction
from ragstone.types import IncomingFile, Job, JobRequest

MAX_ATTEMPTS: Final = 20
"""Attempts that ended because the worker died or lost the database; neither needs to be the fault of the job."""
MAX_WAITING: Final = 1000
"""Jobs of one project that are not over."""
MAX_KEPT: Final = 1000
"""Jobs of one project that are over and can still be read."""
_PART_BYTES: Final = 1_000_000
_WAITING: Final = """
    SELECT count(*), coalesce(sum((SELECT sum(f.size) FROM job_files f WHERE f.job = j.number)), 0)
    FROM jobs j WHERE j.project = %s AND j.state IN ('waiting', 'running')"""
_ADD: Final = """
    INSERT INTO jobs (id, project, kind, collection, place, options, state, due_at, created_at)
    VALUES (%s, %s, %s, %s, %s, %s, 'waiting', now(), %s) RETURNING number"""
_ADD_FILE: Final = """
    INSERT INTO job_files (project, job, name, size) VALUES (%s, %s, %s, %s) RETURNING id"""
_ADD_PART: Final = (
    "INSERT INTO job_file_parts (project, file, ord, data) VALUES (%s, %s, %s, %s)"
)
_FORGET: Final = """
    DELETE FROM jobs WHERE number IN (
        SELECT number FROM jobs WHERE project = %s AND state IN ('done', 'failed') ORDER BY number DESC OFFSET %s)"""
# A job waits for an earlier one that stores a file of the same name, so that the newest content stays.
_CLAIM: Final = """
    UPDATE jobs SET state = 'running', worker = %(worker)s, attempts = attempts + 1,
        due_at = now() + make_interval(secs => %(lease)s::double precision)
    WHERE number = (
        SELECT j.number FROM jobs j
        WHERE j.state IN ('waiting', 'running') AND j.due_at <= now() AND j.place = ANY(%(places)s)
            AND NOT EXISTS (
                SELECT 1 FROM jobs e
                WHERE e.state IN ('waiting', 'running') AND e.number < j.number AND e.project = j.project
                    AND e.collection = j.collection AND (
                        (e.place != '' AND e.place = j.place)
                        OR EXISTS (
                            SELECT 1 FROM job_files a JOIN job_files b ON b.name = a.name
                            WHERE a.job = e.number AND b.job = j.number)))
        ORDER BY j.number LIMIT 1 FOR UPDATE OF j SKIP LOCKED)
    RETURNING number"""
_JOBS: Final = """
    SELECT j.id, p.name, j.kind, j.state, j.stage, j.done, j.total, j.result, j.error, j.created_at, j.finished_at,
        j.collection, j.options, j.place, j.attempts, j.worker
    FROM jobs j JOIN projects p ON p.id = j.project"""
_BY_NUMBER: Final = _JOBS + " WHERE j.number = %s"
_BY_ID: Final = _JOBS + " WHERE p.name = %s AND j.id = %s"
_NEWEST: Final = _JOBS + " WHERE p.name = %s ORDER BY j.number DESC LIMIT %s"
_FILES: Final = """
    SELECT f.id, f.name, f.size FROM job_files f JOIN jobs j ON j.number = f.job WHERE j.id = %s ORDER BY f.id"""
_PARTS: Final = "SELECT data FROM job_file_parts WHERE file = %s ORDER BY ord"
# A worker whose lease was over changes nothing: another worker, or another attempt, has the job.
_RENEW: Final = """
    UPDATE jobs SET due_at = now() + make_interval(secs => %(lease)s::double precision),
        stage = %(stage)s, done = %(done)s, total = %(total)s
    WHERE id = %(id)s AND state = 'running' AND worker = %(worker)s AND attempts = %(attempts)s"""
_FINISH: Final = """
    UPDATE jobs SET state = 'done', result = %(result)s, error = NULL, finished_at = %(now)s
    WHERE id = %(id)s AND state = 'running' AND worker = %(worker)s AND attempts = %(attempts)s"""
_FAIL: Final = """
    UPDATE jobs SET state = 'failed', error = %(error)s, finished_at = %(now)s
    WHERE id = %(id)s AND state = 'running' AND worker = %(worker)s AND attempts = %(attempts)s"""
_RETRY: Final = """
    UPDATE jobs SET state = 'waiting', error = %(error)s,
        due_at = now() + make_interval(secs => %(seconds)s::double precision)
    WHERE id = %(id)s AND state = 'running' AND worker = %(worker)s AND attempts = %(attempts)s"""
_RELEASE: Final = """
    UPDATE jobs SET state = 'waiting', due_at = now(), attempts = attempts - 1
    WHERE id = %(id)s AND state = 'running' AND worker = %(worker)s AND attempts = %(attempts)s"""
_GIVE_UP: Final = """
    UPDATE jobs SET state = 'failed', error = %s, finished_at = %s
    WHERE state = 'running' AND due_at <= now() AND attempts >= %s"""
_REMOVE_FILES: Final = """
    DELETE FROM job_files WHERE job IN (SELECT number FROM jobs WHERE id = %s)"""
_REMOVE_FILES_OF_FAILED: Final = """
    DELETE FROM job_files f USING jobs j WHERE j.number = f.job AND j.state = 'failed'"""
_LOST: Final = {
    "code": "error",
    "message": f"the work was begun {MAX_ATTEMPTS} times, and its worker died or lost the database each time",
    "hint": "see the log of the workers; is there enough memory?",
    "retryable": False,
}


@dataclass(frozen=True, slots=True)
class StoredJobFile:
    """A file of a job, whose bytes are in the database."""

    name: str
    size: int
    id: int
    project: str
    database: PostgresDatabase

    def read(self) -> bytes:
        """Return the bytes."""
        with self.database.reading(self.project) as db:
            return b"".join(fetch_column(db, _PARTS, self.id))


class PostgresJobQueue:
    """Implements `JobQueue` on the database."""

    def __init__(self, database: PostgresDatabase) -> None:
        """Take the database."""
        self._database = database

    def add(
        self,
        project: str,
        request: JobRequest,
        files: Sequence[IncomingFile] = (),
        *,
        max_bytes: int | None = None,
    ) -> Job:
        """Store a job with its files and return it. `Overloaded` if too many jobs or bytes of the project wait."""
        check_name(project, "project")
        size = sum(file.size for file in files)
        with self._database.writing(project, create=True) as db:
            owner = catalog.project_id(db, project)
            _require_room(db, owner, size, max_bytes)
            db.execute(_FORGET, (owner, MAX_KEPT))
            options = json.dumps(dict(request.options))
            fields = (request.kind, request.collection, request.place, options)
            number = fetch_value(db, _ADD, secrets.token_hex(16), owner, *fields, time.time())
            for file in files:
                file_id = fetch_value(db, _ADD_FILE, owner, number, file.name, file.size)
                for position, part in enumerate(_parts(file.stream)):
                    db.execute(_ADD_PART, (owner, file_id, position, part))
            return _read(db, number)

    def claim(self, worker: str, places: Sequence[str], *, lease: float) -> Job | None:
        """Return the oldest job that may run now, as running, or None."""
        with self._database.writing(None) as db:
            failure = (json.dumps(_LOST), time.time(), MAX_ATTEMPTS)
            if db.execute(_GIVE_UP, failure).rowcount:
                db.execute(_REMOVE_FILES_OF_FAILED)
            values = {"worker": worker, "places": list(places), "lease": lease}
            row = db.execute(_CLAIM, values).fetchone()
            if row is None:
                return None
            return _read(db, row[0])

    def files(self, job: Job) -> list[StoredJobFile]:
        """Return the files of a job, in order; their bytes are read when they are needed."""
        with self._database.reading(job.project) as db:
            rows = db.execute(_FILES, (job.id,)).fetchall()
        return [
            StoredJobFile(name, size, file_id, job.project, self._database)
            for file_id, name, size in rows
        ]

    def renew(self, job: Job, *, lease: float) -> bool:
        """Store the progress in `job` and start its lease anew; return whether the worker still has the job."""
        progress = {"stage": job.stage, "done": job.done, "total": job.total}
        with self._database.writing(None) as db:
            return _change(db, _RENEW, job, {"lease": lease, **progress})

    def finish(self, job: Job, result: Mapping[str, object]) -> bool:
        """Store that a job is done, and its result; return whether the worker still had the job."""
        values = {"result": json.dumps(dict(result), default=str), "now": time.time()}
        return self._end(_FINISH, job, values)

    def fail(self, job: Job, error: Mapping[str, object], *, retry_after: float | None) -> bool:
        """Store why a job failed; it runs again after some seconds, or never if None."""
        reason = json.dumps(dict(error))
        if retry_after is None:
            return self._end(_FAIL, job, {"error": reason, "now": time.time()})
        with self._database.writing(None) as db:
            return _change(db, _RETRY, job, {"error": reason, "seconds": retry_after})

    def release(self, job: Job) -> bool:
        """Give a job back that was not finished; it can be claimed at once, and the attempt does not count."""
        with self._database.writing(None) as db:
            return _change(db, _RELEASE, job, {})

    def get(self, project: str, job_id: str) -> Job | None:
        """Return a job of a project, or None."""
        with self._database.reading(project) as db:
            row = db.execute(_BY_ID, (project, job_id)).fetchone()
        if row is None:
            return None
        return _job(row)

    def list(self, project: str, limit: int) -> list[Job]:
        """Return the newest jobs of a project, newest first."""
        with self._database.reading(project) as db:
            return [_job(row) for row in db.execute(_NEWEST, (project, limit))]

    def _end(self, statement: str, job: Job, values: Mapping[str, object]) -> bool:
        """Store the end of a job and remove its files, in one transaction."""
        with self._database.writing(None) as db:
            is_changed = _change(db, statement, job, values)
            if is_changed:
                db.execute(_REMOVE_FILES, (job.id,))
            return is_changed


def _require_room(db: Transaction, owner: int | None, size: int, max_bytes: int | None) -> None:
    """Raise `Overloaded` if too many jobs or bytes of a project wait already."""
    ((jobs, waiting_bytes),) = db.execute(_WAITING, (owner,)).fetchall()
    if jobs >= MAX_WAITING:
        raise Overloaded("too many jobs are waiting", hint="try again later")
    if max_bytes is not None and waiting_bytes + size > max_bytes:
        raise Overloaded("too many uploaded bytes are waiting", hint="try again later")


def _change(db: Transaction, statement: str, job: Job, values: Mapping[str, object]) -> bool:
    """Change a job that its worker still has; return whether it did."""
    held = {"id": job.id, "worker": job.worker, "attempts": job.attempts}
    return db.execute(statement, {**held, **values}).rowcount > 0


def _parts(stream: BinaryIO) -> Iterator[bytes]:
    while part := stream.read(_PART_BYTES):
        yield part


def _read(db: Transaction, number: int) -> Job:
    (row,) = db.execute(_BY_NUMBER, (number,)).fetchall()
    return _job(row)


def _job(row: Row) -> Job:
    job_id, project, kind, state, stage, done, total, result, error, created, finished = row[
        :11
    ]
    collection, options, place, attempts, worker = row[11:]
    return Job(
        job_id,
        project,
        kind,
        state,
        stage,
        done,
        total,
        _load(result),
        _load(error),
        created,
        finished,
        JobRequest(kind, collection, json.loads(options), place),
        attempts,
        worker,
    )


def _load(text: str | None) -> dict[str, object] | None:
    if text is None:
        return None
    loaded: dict[str, object] = json.loads(text)
    return loaded
