"""Several processes that answer requests on one port: started, replaced if they die, and stopped together."""

from __future__ import annotations

import json
import logging
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from ragstone.errors import ConfigError, StoreError
from ragstone.read.python_command import build_background_command
from ragstone.surfaces.rest.engines import Engines

STOP_SECONDS: Final = 30.0
"""How long the workers may take to end; they give their running requests ten seconds."""
_PROGRAM: Final = "ragstone.surfaces.server.worker_main"
_CHECK_SECONDS: Final = 0.1
_MAX_FAILURES: Final = 3
"""Workers in a row that may end before they answer."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """The server that the workers make up."""

    folder: str
    project: str
    config: dict[str, object]
    sync: bool
    address: str


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """The number of a worker, and where the others are reached."""

    number: int
    count: int
    folder: Path
    """A private folder with a socket of each worker."""

    @property
    def is_first(self) -> bool:
        """Return whether this worker has the work that is done once: sync, jobs, pages, event streams."""
        return self.number == 0

    def socket_of(self, number: int) -> str:
        """Return the path of a worker's socket for the other workers."""
        return str(self.folder / f"{number}.socket")

    def mark_of(self, process: int) -> Path:
        """Return the file that a worker makes once it answers."""
        return self.folder / f"{process}.ready"


def check_workers(engines: Engines) -> None:
    """Raise `ConfigError` if several processes cannot serve this store on this system."""
    if sys.platform == "win32":
        raise ConfigError(
            "several workers need Linux or macOS", hint="leave out server.workers"
        )
    if engines.workspace.components.in_memory:
        raise ConfigError(
            "several workers cannot share a store in memory", hint="leave out server.workers"
        )


class WorkerGroup:
    """Keeps all workers running until a signal stops them."""

    def __init__(self, request: WorkerSetup, listeners: Sequence[socket.socket]) -> None:
        """Take the server and a listening socket for each worker; nothing is started yet."""
        self._request = request
        self._listeners = listeners
        self._processes: list[subprocess.Popen[str]] = []
        self._failures = 0
        self._stopping = threading.Event()

    def run(self, on_ready: Callable[[], object]) -> None:
        """Start the workers and keep them running; call `on_ready` when all of them answer.

        `StoreError` if they end again and again before they answer.
        """
        with tempfile.TemporaryDirectory(prefix="ragstone-") as folder, self._signals():
            places = [
                WorkerPlace(number, len(self._listeners), Path(folder))
                for number in range(len(self._listeners))
            ]
            try:
                self._processes = [self._start(place) for place in places]
                is_told = False
                while not self._stopping.wait(_CHECK_SECONDS):
                    self._replace_dead(places)
                    if not is_told and all(map(self._is_ready, places)):
                        on_ready()
                        is_told = True
            finally:
                self._stop()

    def _start(self, place: WorkerPlace) -> subprocess.Popen[str]:
        """Start a worker. Its request goes through a pipe: it may have secrets. The end of the pipe ends the worker."""
        command = build_background_command(_PROGRAM)
        if command is None:
            raise ConfigError("several workers need a Python", hint="leave out server.workers")
        descriptor = self._listeners[place.number].fileno()
        process = subprocess.Popen(  # noqa: S603 - our own program run by our own Python, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[descriptor],
            start_new_session=True,  # Ctrl-C reaches this process only, which stops the others
            text=True,
        )
        assert process.stdin is not None  # noqa: S101 - a pipe was asked for
        request = {
            **asdict(self._request),
            "number": place.number,
            "count": place.count,
            "sockets": str(place.folder),
            "listener": descriptor,
        }
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except BrokenPipeError:  # it has ended already, and is replaced
            pass
        return process

    def _replace_dead(self, places: Sequence[WorkerPlace]) -> None:
        """Start a new worker for each one that has ended."""
        for place in places:
            process = self._processes[place.number]
            if process.poll() is None:
                continue
            was_ready = self._is_ready(place)
            self._failures = 0 if was_ready else self._failures + 1
            logger.warning("worker %d has ended (%d)", place.number, process.returncode)
            if self._failures >= _MAX_FAILURES:
                raise StoreError(
                    "the workers of the server end before they answer",
                    hint="`ragstone serve --workers 1` shows why",
                )
            _close_pipe(process)
            self._processes[place.number] = self._start(place)

    def _is_ready(self, place: WorkerPlace) -> bool:
        """Return whether a worker answers requests, or did before it ended."""
        return place.mark_of(self._processes[place.number].pid).exists()

    def _stop(self) -> None:
        """End all workers, and wait until they have finished their requests."""
        for process in self._processes:
            process.terminate()
            _close_pipe(process)
        for process in self._processes:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Stop at signals while the block runs."""
        before = {number: signal.signal(number, self._handle_signal) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        self._stopping.set()


def _close_pipe(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None:
        process.stdin.close()
