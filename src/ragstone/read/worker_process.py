"""A second process that answers requests: started on first use, limited in time, replaced after a crash.

The process runs `ragstone.read.worker_loop`. The confined readers of documents and of frameworks use it, the parser of
code that may never end, and the worker that prepares files during a sync.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import Final
from weakref import WeakSet

from ragstone.errors import Reason
from ragstone.read.messages import (
    Message,
    decode,
    read_message,
    write_message,
)
from ragstone.read.python_command import build_command, find_python
from ragstone.read.worker_loop import WorkerReply, WorkerRequest

IDLE_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 5.0
_MOMENT_SECONDS: Final = 0.5
_TIME_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGALRM", "SIGXCPU") if hasattr(signal, name)
)
_MAX_REPLY_BYTES: Final = 1 << 32


class WorkerFailed(Exception):
    """The worker process gave no valid reply."""

    def __init__(self, reason: Reason, *, was_killed: bool = False) -> None:
        """Keep the reason, and whether another program killed the process."""
        super().__init__(reason)
        self.reason: Reason = reason
        self.was_killed = was_killed


class WorkerProcess:
    """Sends requests to a worker process, one at a time."""

    def __init__(
        self,
        module: str,
        *,
        seconds: float,
        idle_seconds: float = IDLE_SECONDS,
        max_reply: int = _MAX_REPLY_BYTES,
        command: Sequence[str] | None = None,
    ) -> None:
        """Keep the module to run, the seconds for one request and the limits; nothing is started yet."""
        self._module = module
        self._command = command
        self._seconds = seconds
        self._idle_seconds = idle_seconds
        self._max_reply = max_reply
        self._lock = threading.Lock()
        self._child: _Child | None = None
        _WORKERS.add(self)

    @property
    def pid(self) -> int | None:
        """Return the id of the process, or None if none is running."""
        child = self._child
        if child is None or child.process.returncode is not None:
            return None
        return child.process.pid

    def call(self, header: object, payload: bytes = b"") -> Message:
        """Send one request and return its reply. Raise `WorkerFailed` if there is none in time."""
        with self._lock:
            deadline = time.monotonic() + self._seconds
            while True:
                child = self._get_child(deadline)
                is_first_request = child.requests == 0
                try:
                    reply = child.request(header, payload)
                except WorkerFailed as failure:
                    self._discard()
                    # If another program killed a used process, this request may not be the cause.
                    if is_first_request or not failure.was_killed:
                        raise
                except (
                    BaseException
                ):  # Ctrl-C: the pending reply must not answer the next request
                    self._discard()
                    raise
                else:
                    if child.is_worn or not child.extend(self._idle_seconds):
                        self._discard()
                    return reply

    def start(self) -> None:
        """Start the process now, if none is running, so that it is ready at the first request."""
        with self._lock, contextlib.suppress(WorkerFailed):
            self._get_child(time.monotonic() + self._idle_seconds)

    def close(self) -> None:
        """Wait for the current request, then end the process; the next request starts another."""
        with self._lock:
            self._discard()

    def kill(self) -> None:
        """End the process at once; a thread that waits for a reply gets `WorkerFailed`."""
        child = self._child
        if child is not None:
            child.kill()

    def forget(self) -> None:
        """Drop the process in a forked copy of the program: it belongs to the original."""
        self._lock = threading.Lock()
        child, self._child = self._child, None
        if child is not None:
            child.forget()

    def _get_child(self, deadline: float) -> _Child:
        """Return a process that has the time until the deadline, started now if there is none."""
        seconds = max(0.0, deadline - time.monotonic())
        if self._child is not None and self._child.extend(seconds):
            return self._child
        self._discard()
        if find_python() is None:
            raise WorkerFailed("unsupported")
        self._child = _Child(
            self._command or build_command(self._module),
            seconds,
            self._max_reply,
        )
        return self._child

    def _discard(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()


class _Child:
    """A running process, and the watchdog thread that kills it when its time is up."""

    def __init__(self, command: Sequence[str], seconds: float, max_reply: int) -> None:
        self.process = _start(command)
        self.requests = 0
        self.is_worn = False
        self._max_reply = max_reply
        self._due = time.monotonic() + seconds
        self._is_late = False
        self._is_ended = False
        self._changed = threading.Condition()
        self._watchdog = threading.Thread(
            target=self._watch, name="ragstone-watchdog", daemon=True
        )
        try:
            self._watchdog.start()
        except RuntimeError as error:  # no more threads
            self.process.kill()
            self.process.wait()
            raise WorkerFailed("memory") from error

    def extend(self, seconds: float) -> bool:
        """Give the process this many seconds from now; return False if it has ended."""
        with self._changed:
            if self._is_late or self._is_ended or self.process.poll() is not None:
                return False
            self._due = time.monotonic() + seconds
            self._changed.notify()
            return True

    def request(self, header: object, payload: bytes) -> Message:
        """Send a request and return its reply, or raise `WorkerFailed`."""
        requests, replies = self.process.stdin, self.process.stdout
        if requests is None or replies is None:
            raise WorkerFailed("crash")
        self.requests += 1
        seconds = int(max(1.0, self._due - time.monotonic())) + 2
        try:
            write_message(
                requests,
                WorkerRequest(self.requests, seconds, header),
                payload,
            )
            message = read_message(
                replies,
                max_header=self._max_reply // 2,
                max_payload=self._max_reply,
            )
            if message is None:
                raise EOFError
            reply = decode(WorkerReply, message[0])
        except (OSError, EOFError) as error:
            raise self._explain_failure(_GRACE_SECONDS) from error
        except ValueError as error:
            raise self._explain_failure(_MOMENT_SECONDS) from error
        if reply.number != self.requests:
            raise WorkerFailed("crash")
        self.is_worn = reply.is_worn
        return reply.header, message[1]

    def kill(self) -> None:
        """End the process at once; the watchdog reaps it."""
        with self._changed:
            self._is_ended = True
            self._changed.notify()
        self.process.kill()

    def close(self) -> None:
        """End the process, reap it and close its pipes."""
        self.kill()
        self._watchdog.join(_GRACE_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError, ValueError):
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE_SECONDS)

    def forget(self) -> None:
        """Close the pipes without flushing them, and never wait for the process."""
        for pipe in (self.process.stdin, self.process.stdout):
            if isinstance(pipe, (io.BufferedReader, io.BufferedWriter)):
                with contextlib.suppress(OSError):
                    pipe.raw.close()
        self.process.returncode = 0

    def _watch(self) -> None:
        with self._changed:
            while not self._is_ended and (seconds := self._due - time.monotonic()) > 0:
                self._changed.wait(seconds)
            self._is_late = not self._is_ended
            self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE_SECONDS)

    def _explain_failure(self, seconds: float) -> WorkerFailed:
        """Return why there is no valid reply, after waiting some seconds for the process to end."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return WorkerFailed("crash")
        if self._is_ended:
            return WorkerFailed("crash")
        if self._is_late or -code in _TIME_SIGNALS:
            return WorkerFailed("timeout")
        if code == -getattr(
            signal, "SIGKILL", 9
        ):  # the system kills a process if memory runs out
            return WorkerFailed("memory", was_killed=True)
        return WorkerFailed("crash")


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Return a process with pipes and an empty environment, or raise `WorkerFailed`."""
    environment = {"SYSTEMROOT": os.path.expandvars("%SystemRoot%")} if os.name == "nt" else {}
    try:
        return subprocess.Popen(  # noqa: S603 - our own program run by our own Python, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError) as error:
        raise WorkerFailed("unsupported") from error


_WORKERS: Final[WeakSet[WorkerProcess]] = WeakSet()


def _kill_all() -> None:
    for worker in list(_WORKERS):
        worker.kill()


def _forget_all() -> None:
    for worker in list(_WORKERS):
        worker.forget()


atexit.register(_kill_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
