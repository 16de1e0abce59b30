"""Runs the jobs of a queue that several machines share, in threads."""

from __future__ import annotations

import logging
import os
import platform
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.protocols import JobQueue
from ragstone.surfaces.jobs.lease import JobLease, JobTaken
from ragstone.surfaces.jobs.work import describe_failure, run_work
from ragstone.types import Job

LEASE_SECONDS: Final = 30.0
_MAX_BUGS: Final = 5
_MAX_INTERRUPTIONS: Final = 20
"""An outage or a busy store is not the fault of the job."""
_POLL_SECONDS: Final = 0.5
_OFFLINE_SECONDS: Final = 2.0
_FIRST_RETRY_SECONDS: Final = 2.0
_LONGEST_RETRY_SECONDS: Final = 60.0
logger = logging.getLogger(__name__)

OpenQueue: TypeAlias = Callable[[], JobQueue]
"""Returns the queue; it connects on the first call, and may fail."""
EngineOf: TypeAlias = Callable[[str], Engine]
"""Returns the engine of a project."""


class _RunnerStopped(Exception):
    """Ends a job when the process stops."""


class JobRunner:
    """Claims jobs and runs them until it is stopped. A job of a stopped runner is given back."""

    def __init__(
        self,
        open_queue: OpenQueue,
        engine_of: EngineOf,
        place: str,
        *,
        threads: int,
        lease: float = LEASE_SECONDS,
    ) -> None:
        """Take the queue, the engines, and the place whose syncs can run here. Nothing is started yet."""
        self._open_queue = open_queue
        self._engine_of = engine_of
        self._places = ("", place)
        self._lease = lease
        self._name = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(2)}"
        self._threads = [
            threading.Thread(target=self._work, args=(f"{self._name}-{number}",), daemon=True)
            for number in range(threads)
        ]
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self.on_end: Callable[[Job], object] = _ignore
        """Called with each job that was run here, as it is afterwards."""
        self.on_problem: Callable[[str], object] = _ignore
        """Called with a sentence if the queue does not answer, and with an empty one when it answers again."""
        self._problem = ""
        self._idle: set[str] = set()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Look for a job now: one was added by this process."""
        self._wake.set()

    def stop(self, seconds: float) -> None:
        """Stop all jobs at their next progress report and wait some seconds for that; stored work stays."""
        self._stopping.set()
        self._wake.set()
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))

    @property
    def is_idle(self) -> bool:
        """Return whether no thread has a job, and the last look of each found none."""
        return len(self._idle) == len(self._threads)

    def _work(self, worker: str) -> None:
        while not self._stopping.is_set():
            try:
                if self._run_next(worker):
                    continue
                self._idle.add(worker)
                self._set_problem("")
                self._wake.wait(_POLL_SECONDS)
                self._wake.clear()
            except RagstoneError as error:
                self._set_problem(str(error))
                self._stopping.wait(_OFFLINE_SECONDS)

    def _run_next(self, worker: str) -> bool:
        """Claim a job and run it; return whether there was one."""
        queue = self._open_queue()
        job = queue.claim(worker, self._places, lease=self._lease)
        if job is None:
            return False
        self._idle.discard(worker)
        ended = self._run(queue, job)
        if ended is not None:
            self.on_end(ended)
        return True

    def _run(self, queue: JobQueue, job: Job) -> Job | None:
        """Run a job and store how it ended; None if another worker has it by now, or it was given back."""
        lease = JobLease(queue, job, self._lease)

        def report(stage: str, done: int, total: int) -> None:
            if self._stopping.is_set():
                raise _RunnerStopped
            lease.report(stage, done, total)

        try:
            with lease.renewing():
                engine = self._engine_of(job.project)
                result = run_work(engine, job.request, queue.files(job), report)
            if queue.finish(job, result):
                return replace(job, state="done", result=result)
        except _RunnerStopped:
            queue.release(job)
        except JobTaken:
            logger.info("the job %s went to another worker", job.id)
        except RagstoneError as error:
            attempts = _MAX_INTERRUPTIONS if error.retryable else 1
            return self._fail(queue, job, error, attempts)
        except Exception as error:  # a bug in one job must not end the others
            logger.error("the job %s failed", job.id, exc_info=error)
            return self._fail(queue, job, error, _MAX_BUGS)
        return None

    def _fail(
        self, queue: JobQueue, job: Job, error: Exception, max_attempts: int
    ) -> Job | None:
        """Store a failure. The job is tried again later if it has attempts left."""
        failure = describe_failure(error)
        retry_after = None
        if job.attempts < max_attempts:
            retry_after = _retry_seconds(job.attempts)
        if not queue.fail(job, failure, retry_after=retry_after):
            return None
        if retry_after is None:
            return replace(job, state="failed", error=failure)
        return replace(job, state="waiting", error=failure)

    def _set_problem(self, problem: str) -> None:
        with self._lock:
            is_new = problem != self._problem
            self._problem = problem
        if is_new:
            self.on_problem(problem)


def _retry_seconds(attempts: int) -> float:
    """Return how long to wait after a failed attempt: 2, 4, 8 … seconds."""
    return float(min(_LONGEST_RETRY_SECONDS, _FIRST_RETRY_SECONDS * 2 ** (attempts - 1)))


def _ignore(value: object) -> None:
    """Do nothing."""
