"""Long work of a server whose store is a file: it runs in a thread, and its result is kept for a while."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from queue import SimpleQueue
from typing import Final, TypeAlias

from ragstone.errors import NotFound, Overloaded, RagstoneError
from ragstone.protocols import Progress
from ragstone.surfaces.jobs.work import describe_failure, describe_stop
from ragstone.surfaces.present import Json
from ragstone.types import Job

Work: TypeAlias = Callable[[Progress], Json]
"""The work of a job: it gets a progress callback and returns the result as JSON."""
MAX_KEPT: Final = 1000
MAX_WAITING: Final = 50
MAX_WAITING_PER_PROJECT: Final = 10
"""No project may fill the queue alone."""
_CLOSE_SECONDS: Final = 10.0
logger = logging.getLogger(__name__)


class _JobStopped(Exception):
    """Ends a job when the server stops."""


JobListener: TypeAlias = Callable[[Job], object]


class Jobs:
    """Runs the jobs of all projects, two at a time; the newest thousand are kept until the server stops."""

    def __init__(self, threads: int = 2) -> None:
        """Start without jobs; threads start with the first one."""
        self._thread_count = threads
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._listeners: dict[str, list[JobListener]] = {}
        self._queue: SimpleQueue[tuple[str, Work] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()

    def open(self) -> None:
        """Do nothing: the threads start with the first job."""

    def start(self, project: str, kind: str, work: Work) -> Job:
        """Return a new job that runs soon; `Overloaded` if too many wait."""
        job = Job(secrets.token_hex(16), project, kind, created=time.time())
        with self._lock:
            waiting = [other for other in self._jobs.values() if other.state == "waiting"]
            own = sum(other.project == project for other in waiting)
            if len(waiting) >= MAX_WAITING or own >= MAX_WAITING_PER_PROJECT:
                raise Overloaded("too many jobs are waiting", hint="try again later")
            self._jobs[job.id] = job
            self._forget_old()
            self._start_threads()
        self._queue.put((job.id, work))
        return job

    def get(self, project: str, job_id: str) -> Job:
        """Return a job; `NotFound` if the project has none with this id."""
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None or job.project != project:
            raise NotFound(f"there is no job {job_id!r}", hint="jobs end with the server")
        return job

    def list(self, project: str, limit: int) -> list[Job]:
        """Return the newest jobs of a project, newest first."""
        with self._lock:
            own = [job for job in reversed(self._jobs.values()) if job.project == project]
        return own[:limit]

    @contextmanager
    def listening(self, job: Job, listener: JobListener) -> Iterator[None]:
        """Call the listener with a job as it is now and with its changes, in other threads, while the block runs."""
        job_id = job.id
        with self._lock:
            self._listeners.setdefault(job_id, []).append(listener)
        try:
            listener(self.get(job.project, job_id))
            yield
        finally:
            with self._lock:
                self._listeners[job_id].remove(listener)
                if not self._listeners[job_id]:
                    del self._listeners[job_id]

    def close(self) -> None:
        """Stop all jobs at their next progress report, and wait a few seconds for that; stored work stays."""
        self._closing.set()
        deadline = time.monotonic() + _CLOSE_SECONDS
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _start_threads(self) -> None:
        """Start the threads with the first job. The process does not wait for them when it ends."""
        while len(self._threads) < self._thread_count:
            thread = threading.Thread(target=self._work, name="ragstone-job", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        """Run jobs until the server stops."""
        while (item := self._queue.get()) is not None and not self._closing.is_set():
            self._run(*item)

    def _run(self, job_id: str, work: Work) -> None:
        def report(stage: str, done: int, total: int) -> None:
            if self._closing.is_set():
                raise _JobStopped
            self._change(job_id, stage=stage, done=done, total=total)

        self._change(job_id, state="running")
        try:
            result = work(report)
            self._change(job_id, state="done", result=result, finished=time.time())
        except _JobStopped:
            self._change(job_id, state="failed", error=describe_stop(), finished=time.time())
        except Exception as error:  # a bug in one job must not end the others
            if not isinstance(error, RagstoneError):
                logger.error("a job failed", exc_info=error)
            failure = describe_failure(error)
            self._change(job_id, state="failed", error=failure, finished=time.time())

    def _change(self, job_id: str, **changes: object) -> None:
        with self._lock:
            if job_id not in self._jobs:
                return
            job = replace(self._jobs[job_id], **changes)  # type: ignore[arg-type]  # fields by name
            self._jobs[job_id] = job
            listeners = list(self._listeners.get(job_id, ()))
        for listener in listeners:
            listener(job)

    def _forget_old(self) -> None:
        """Remove the oldest jobs that are over."""
        for job_id in list(self._jobs):
            if len(self._jobs) <= MAX_KEPT:
                return
            if self._jobs[job_id].is_over:
                del self._jobs[job_id]
