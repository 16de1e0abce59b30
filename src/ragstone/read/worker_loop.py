"""The loop inside a worker process: read a request, handle it, write the reply."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass

from ragstone.read.messages import (
    Message,
    decode,
    read_message,
    write_message,
)

if sys.platform != "win32":
    import resource

Handler = Callable[[object, bytes], Message]


@dataclass(frozen=True, slots=True)
class WorkerRequest:
    """A numbered request; the process ends itself after some seconds, in case its parent was killed."""

    number: int
    seconds: int
    header: object


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """The reply to a request, and whether the process should be replaced."""

    number: int
    is_worn: bool
    header: object


class WorkerLoop:
    """Takes over standard input and output of this process."""

    def __init__(self) -> None:
        """Redirect prints to standard error and leave Ctrl-C to the parent process, which ends this one."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.set_threshold(
            100_000, 20, 20
        )  # parsed trees have no cycles; searching for some costs time
        self._requests = sys.stdin.buffer
        self._replies = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._peak_memory = _open_peak_memory()
        self._number = 0

    def run(self, handle: Handler, *, max_memory: int = sys.maxsize) -> None:
        """Answer requests until the parent closes the pipe; above `max_memory` bytes, ask to be replaced."""
        with contextlib.suppress(BrokenPipeError):
            while (request := self._receive()) is not None:
                reply = handle(*request)
                self._send(reply, is_worn=self._peak_memory() > max_memory)

    def ask(self, header: object, payload: bytes = b"") -> Message:
        """Reply to the current request with a question, and return the next request, which has the answer."""
        self._send((header, payload), is_worn=False)
        answer = self._receive()
        if answer is None:  # the parent is gone
            raise BrokenPipeError
        return answer

    def _receive(self) -> Message | None:
        """Return the next request and start its time; None at the end of the pipe."""
        message = read_message(self._requests)
        if message is None:
            return None
        request = decode(WorkerRequest, message[0])
        self._number = request.number
        _set_alarm(request.seconds)
        return request.header, message[1]

    def _send(self, reply: Message, *, is_worn: bool) -> None:
        header, payload = reply
        write_message(self._replies, WorkerReply(self._number, is_worn, header), payload)
        _set_alarm(0)


def _set_alarm(seconds: int) -> None:
    if hasattr(signal, "alarm"):  # not on Windows
        signal.alarm(seconds)


def _open_peak_memory() -> Callable[[], int]:
    """Return a function that gives the most bytes of memory this process has used; 0 if unknown.

    On Linux the status file is opened now, because a confined process cannot open it. Resource usage
    would also count the memory of the parent before `exec`.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            status = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
            return lambda: _parse_peak_memory(os.pread(status, 8192, 0))
        return lambda: 0
    if sys.platform == "win32":
        return lambda: 0
    unit = 1 if sys.platform == "darwin" else 1024
    return lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _parse_peak_memory(status: bytes) -> int:
    match = re.search(rb"^VmHWM:\s*(\d+) kB$", status, re.M)
    return int(match[1]) * 1024 if match else 0
