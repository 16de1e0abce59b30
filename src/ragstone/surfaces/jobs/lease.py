"""The lease of a job: a thread renews it while the work runs, and stores the progress."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from ragstone.errors import RagstoneError
from ragstone.protocols import JobQueue
from ragstone.types import Job

REPORT_SECONDS: Final = 0.5
"""How often new progress is stored."""
logger = logging.getLogger(__name__)


class JobTaken(Exception):
    """Ends the work of a job whose lease is over: another worker may have it by now."""


class JobLease:
    """One claimed job, with its progress."""

    def __init__(self, queue: JobQueue, job: Job, seconds: float) -> None:
        """Take a job that was claimed just now."""
        self._queue = queue
        self._job = job
        self._seconds = seconds
        self._renewed = time.monotonic()
        self._is_taken = False
        self._is_changed = threading.Event()
        self._is_over = threading.Event()

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """Renew the lease in a thread while the block runs."""
        name = f"ragstone-lease-{self._job.id}"
        thread = threading.Thread(target=self._renew_until_over, name=name, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            self._is_changed.set()
            thread.join()

    def report(self, stage: str, done: int, total: int) -> None:
        """Keep the progress; raise `JobTaken` if the lease is over.

        A process that was paused for longer than its lease notices it here, before it writes.
        """
        if self._is_taken or time.monotonic() - self._renewed > self._seconds:
            raise JobTaken
        self._job = replace(self._job, stage=stage, done=done, total=total)
        self._is_changed.set()

    def _renew_until_over(self) -> None:
        while not self._is_over.is_set():
            self._is_changed.wait(self._seconds / 3)
            self._is_changed.clear()
            if self._is_over.is_set() or self._is_taken:
                return
            self._renew()
            self._is_over.wait(min(REPORT_SECONDS, self._seconds / 3))

    def _renew(self) -> None:
        """Renew the lease once. If the server does not answer, the next call tries again."""
        started = time.monotonic()
        try:
            if self._queue.renew(self._job, lease=self._seconds):
                self._renewed = started
            else:
                self._is_taken = True
        except RagstoneError as error:
            logger.info("the lease could not be renewed: %s", error)
