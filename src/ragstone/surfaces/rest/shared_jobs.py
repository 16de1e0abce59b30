"""Long work of a server whose store several machines share: any server or worker may do it, and all see its state."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from ragstone.errors import NotFound, RagstoneError
from ragstone.protocols import JobQueue
from ragstone.surfaces.jobs.engine_queue import queue_of
from ragstone.surfaces.jobs.runner import JobRunner
from ragstone.surfaces.jobs.work import place_of
from ragstone.surfaces.rest.engines import Engines
from ragstone.surfaces.rest.jobs import JobListener
from ragstone.types import IncomingFile, Job, JobRequest

_CLOSE_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.3
logger = logging.getLogger(__name__)


class SharedJobs:
    """The jobs in the database. The server runs some of them itself, unless `server.jobs` is 0."""

    def __init__(self, engines: Engines) -> None:
        """Take the engines; the store is opened on first use."""
        self._engines = engines
        settings = engines.settings.server
        self._max_bytes = settings.upload_mb * 1_000_000
        self._runner = JobRunner(
            self._open_queue, engines.engine, place_of(engines.own), threads=settings.jobs
        )

    def open(self) -> None:
        """Start to run jobs."""
        self._runner.start()

    def submit(self, project: str, request: JobRequest, files: Sequence[IncomingFile]) -> Job:
        """Store a job with its files and return it; `Overloaded` if too many wait."""
        job = self._open_queue().add(project, request, files, max_bytes=self._max_bytes)
        self._runner.wake()
        return job

    def get(self, project: str, job_id: str) -> Job:
        """Return a job; `NotFound` if the project has none with this id."""
        job = self._open_queue().get(project, job_id)
        if job is None:
            raise NotFound(f"there is no job {job_id!r}", hint="old jobs are removed")
        return job

    def list(self, project: str, limit: int) -> list[Job]:
        """Return the newest jobs of a project, newest first."""
        return self._open_queue().list(project, limit)

    @contextmanager
    def listening(self, job: Job, listener: JobListener) -> Iterator[None]:
        """Call the listener with a job as it is now and with its changes, in another thread, while the block runs."""
        is_over = threading.Event()
        arguments = (job, listener, is_over)
        thread = threading.Thread(target=self._follow, args=arguments, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()

    def close(self) -> None:
        """Give running jobs back at their next progress report, and wait a few seconds for that."""
        self._runner.stop(_CLOSE_SECONDS)

    def _follow(self, job: Job, listener: JobListener, is_over: threading.Event) -> None:
        """Read a job again and again, and pass on its changes, until it is over or the client leaves."""
        last: Job | None = None
        while not is_over.is_set():
            try:
                current = self.get(job.project, job.id)
            except NotFound:
                return
            except RagstoneError as error:  # the server of the database does not answer
                logger.info("a job cannot be read: %s", error)
                current = last or job
            if current != last:
                listener(current)
                last = current
            if current.is_over:
                return
            is_over.wait(_POLL_SECONDS)

    def _open_queue(self) -> JobQueue:
        return queue_of(self._engines.workspace.components)
