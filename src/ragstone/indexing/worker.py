"""Two hands at one list: this process takes items from its front, one beside it takes slices from its end.

The one beside may be slow, dead or mad: whatever it has not answered is done here, and nothing is done by it that would
not come out the same here.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Final

from ragstone.config import cores
from ragstone.indexing.prepare import FEW_FILES, Job, Outcome
from ragstone.indexing.worker_main import HELLO
from ragstone.indexing.worker_protocol import hear_outcomes, tell_items, tell_job
from ragstone.read.process import command as python_command
from ragstone.read.process import python, started
from ragstone.read.wire import receive, send
from ragstone.types import Item

MANY_FILES: Final = 150
MANY_BYTES: Final = 2_000_000
"""From here on a second process saves more time than its start takes."""
PATIENCE_SECONDS: Final = 45.0
"""More than reading one file may take."""
_GRACE_SECONDS: Final = 5.0

_SLICE_FILES: Final = 20
_SLICE_BYTES: Final = 500_000
_IN_FLIGHT: Final = 2
"""Slices told before their turn, so that the process beside never waits for this one's attention."""
_UNTAKEN: Final = 12
"""Answers that may wait to be taken, with those in flight: what bounds the memory."""
_PIPE_BYTES: Final = 1 << 20

Answer = list[tuple[Item, Outcome | None]]


def outcomes(job: Job, waiting: Sequence[Item]) -> Generator[Outcome, None, None]:
    """Yield what became of every item, in any order; close it when it is left early."""
    if not worth_help(waiting):
        yield from map(job.look_into, waiting)
        return
    work = deque(waiting)
    with contextlib.closing(Beside(job, work)) as beside:
        yield from shared(job, work, beside)


def shared(job: Job, work: deque[Item], beside: Beside) -> Iterator[Outcome]:
    """Yield what became of every item of a list that another process is at too."""
    while work or not beside.over:
        answer = beside.answer(wait=not work)
        if answer is not None:
            for item, outcome in answer:
                yield outcome or job.look_into(item)
            continue
        try:
            item = work.popleft()
        except IndexError:  # the other hand was quicker
            continue
        yield job.look_into(item)


def worth_help(waiting: Sequence[Item]) -> bool:
    """Return whether there is so much to do that a second process pays, a core for it, and a Python to run it."""
    much = len(waiting) >= MANY_FILES or (
        len(waiting) >= FEW_FILES and sum(item.stamp.size for item in waiting) >= MANY_BYTES
    )
    return much and cores() > 1 and python() is not None


class Beside:
    """The process beside, started now, and the thread that talks to it."""

    def __init__(
        self,
        job: Job,
        work: deque[Item],
        *,
        command: Sequence[str] | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Start it on a list; `over` at once where it cannot be started."""
        self.over = False
        self._job, self._work, self._patience = job, work, patience
        self._flying: deque[list[Item]] = deque()
        self._answers: SimpleQueue[Answer | None] = SimpleQueue()
        self._room = threading.Semaphore(_UNTAKEN)
        self._stopped = False
        self.process = started(python_command("ragstone.indexing.worker_main") if command is None else command)
        if self.process is None:
            self.over = True
            return
        if self.process.stdout is not None:
            _widen(self.process.stdout.fileno())
        self._thread = threading.Thread(target=self._talk, args=(self.process,), name="ragstone-intake", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no more threads
            self.over = True
            self.process.kill()

    def answer(self, *, wait: bool) -> Answer | None:
        """Return what became of a slice; None where nothing is known yet, and never will be once this is `over`."""
        if self.over:
            return None
        try:
            found = self._answers.get(timeout=self._patience) if wait else self._answers.get_nowait()
        except Empty:
            found = None
            if not wait:
                return None
        if found is None:  # it has finished, died, or not answered for too long
            self._take_back()
            return None
        self._room.release()
        return found

    def close(self) -> None:
        """End the process, whatever it is at."""
        self.over = True
        self._stopped = True
        self._room.release()
        if self.process is None:
            return
        self.process.kill()
        self._thread.join(_GRACE_SECONDS)
        if self._thread.is_alive():  # a disk that does not answer holds even a killed process; it goes when that does
            return
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if pipe:
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE_SECONDS)

    def _take_back(self) -> None:
        """Put what was not answered, or answered too late, back on the list."""
        self.close()
        with contextlib.suppress(Empty):
            while True:
                late = self._answers.get_nowait()
                self._work.extend(item for item, _ in late or ())
        for items in self._flying:
            self._work.extend(items)
        self._flying.clear()

    # ── the thread ────────────────────────────────────────────────────────────────────────────────

    def _talk(self, process: subprocess.Popen[bytes]) -> None:
        # A process that dies or talks nonsense has said all that it will: what it owes is done by the other one.
        try:
            with contextlib.suppress(OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
                self._converse(process)
        finally:
            self._answers.put(None)

    def _converse(self, process: subprocess.Popen[bytes]) -> None:
        told, heard = process.stdin, process.stdout
        if told is None or heard is None or receive(heard) != (HELLO, b""):
            return
        send(told, tell_job(self._job))
        while not self._stopped:
            while len(self._flying) < _IN_FLIGHT and self._room.acquire(blocking=not self._flying):
                items = [] if self._stopped else self._slice()
                if not items:
                    self._room.release()
                    break
                self._flying.append(items)
                send(told, tell_items(items, self._job))
            answer = receive(heard) if self._flying else None
            if answer is None or self._stopped:
                return
            paired = list(zip(self._flying[0], hear_outcomes(*answer, self._job), strict=True))
            if any(outcome and outcome.uri != item.uri for item, outcome in paired):
                return
            self._flying.popleft()
            self._answers.put(paired)

    def _slice(self) -> list[Item]:
        """Return items from the end of the list: fewer as it gets short, so that both hands finish together."""
        most = min(_SLICE_FILES, max(1, len(self._work) // 6))
        items: list[Item] = []
        size = 0
        with contextlib.suppress(IndexError):
            while len(items) < most and size < _SLICE_BYTES:
                items.append(self._work.pop())
                size += items[-1].stamp.size
        return items


def _widen(pipe: int) -> None:
    """Let a pipe hold a whole answer where the system can do that."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
