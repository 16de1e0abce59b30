"""Reading strangers' files in a process of their own: warm between files, bounded in time, and replaced on trouble.

There is one for the whole program. What it answers is checked like any foreign input; when it crashes, hangs, takes too
much or talks nonsense, the file gets a `ReadError` that says so, and the next file gets a new process.
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
from itertools import count
from typing import Final

from ragstone.errors import ReadError, Reason
from ragstone.read.answer import HELLO, MOST_TEXT, READ, hear_document, hear_failure
from ragstone.read.process import command as python_command
from ragstone.read.process import python, started
from ragstone.read.wire import Told, receive, send
from ragstone.types import Document

DEADLINE_SECONDS: Final = 30.0
IDLE_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 5.0
_MOMENT: Final = 0.5
_LATE: Final = tuple(getattr(signal, name) for name in ("SIGALRM", "SIGXCPU") if hasattr(signal, name))
_NONSENSE: Final = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


class Died(Exception):
    """The process gave no answer."""

    def __init__(self, reason: Reason, message: str, *, ended: bool = False) -> None:
        """Keep the reason and the sentence, and whether somebody else ended it."""
        super().__init__(message)
        self.reason: Reason = reason
        self.message = message
        self.ended = ended


class Started:
    """One process that reads, and the thread that ends it when its time is up."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        """Watch it from now on: it has these seconds to say hello."""
        self.process, self.served, self.worn = process, 0, False
        self._numbers = count(1)
        self._due, self._late, self._over = time.monotonic() + seconds, False, False
        self._changed = threading.Condition()
        self._watcher = threading.Thread(target=self._watch, name="ragstone-read", daemon=True)
        self._watcher.start()

    def ready(self, seconds: float) -> bool:
        """Give it these seconds from now on; False where it has ended."""
        with self._changed:
            if self._late or self._over or self.process.poll() is not None:
                return False
            self._due = time.monotonic() + seconds
            self._changed.notify()
            return True

    def hear(self) -> Told:
        """Return its next message, or raise `Died`."""
        try:
            heard = (
                receive(self.process.stdout, most_told=MOST_TEXT // 2, most=MOST_TEXT) if self.process.stdout else None
            )
        except (OSError, ValueError, RecursionError) as error:
            raise self._cause(_MOMENT) from error
        if heard is None:
            raise self._cause(_GRACE_SECONDS)
        return heard

    def ask(self, name: str, data: bytes, uri: str) -> Document:
        """Return the document that the process makes of a file, or raise its `ReadError`, or `Died`."""
        number = next(self._numbers)
        alarm = int(max(1.0, self._due - time.monotonic())) + 2
        try:
            if self.process.stdin:
                send(self.process.stdin, [number, name, uri, alarm], data)
        except OSError as error:
            raise self._cause(_GRACE_SECONDS) from error
        (answered, self.worn, verdict, *fields), text = self.hear()
        if answered != number:
            raise ValueError("an answer to another question")
        self.served += 1
        if verdict != READ:
            raise hear_failure(verdict, fields)
        return hear_document(uri, text.decode("utf-8"), fields)

    def close(self) -> None:
        """End it, whatever it is at, and let the system forget it."""
        with self._changed:
            self._over = True
            self._changed.notify()
        self.process.kill()
        if threading.current_thread() is not self._watcher:
            self._watcher.join(_GRACE_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError, ValueError):
                if pipe:
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE_SECONDS)

    def _watch(self) -> None:
        """Wait until its time is up, end it and let the system forget it."""
        with self._changed:
            while not self._over and (left := self._due - time.monotonic()) > 0:
                self._changed.wait(left)
            self._late = not self._over
            self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE_SECONDS)

    def _cause(self, seconds: float) -> Died:
        """Return why it says nothing more, or nothing that makes sense, once it has had some seconds to end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            ended = self.process.wait(seconds)
            if self._over:
                return Died("crash", "the process that read it was ended")
            if self._late or -ended in _LATE:
                return Died("timeout", "reading it takes too long")
            if ended == -getattr(signal, "SIGKILL", 9):  # not by us: the system was short of memory
                return Died("memory", "reading it takes too much memory", ended=True)
        return Died("crash", "the process that read it crashed")


class Warm:
    """Reads files one at a time in a process that is started on first need."""

    def __init__(
        self,
        command: Sequence[str] | None = None,
        *,
        deadline: float = DEADLINE_SECONDS,
        idle: float = IDLE_SECONDS,
    ) -> None:
        """Keep how it is started, the seconds that one file may take, and those that the process waits for another."""
        self._command, self._deadline, self._idle = command, deadline, idle
        self._lock = threading.Lock()
        self._child: Started | None = None

    @property
    def pid(self) -> int | None:
        """Return the number of the process, None where there is none now."""
        child = self._child
        return child.process.pid if child and child.process.returncode is None else None

    def read(self, name: str, data: bytes, uri: str) -> Document:
        """Return the document in bytes of a format, or raise `ReadError`."""
        with self._lock:
            end = time.monotonic() + self._deadline
            while True:
                child = self._at_hand(end)
                used = child.served > 0
                try:
                    document = child.ask(name, data, uri)
                except ReadError as error:
                    self._leave(child, fresh=error.reason == "memory")
                    raise
                except Died as died:
                    self._leave(child, fresh=True)
                    # Whoever ended it may not have meant this file: a new one tells.
                    if not (used and died.ended):
                        raise ReadError(died.message, reason=died.reason) from died
                except _NONSENSE as error:
                    self._leave(child, fresh=True)
                    raise ReadError("the process that read it answered nonsense", reason="crash") from error
                except BaseException:  # an interruption: the answer still under way must not meet another question
                    self._leave(child, fresh=True)
                    raise
                else:
                    self._leave(child, fresh=False)
                    return document

    def close(self) -> None:
        """End the process, if there is one; the next file starts another."""
        with self._lock:
            if self._child is not None:
                self._leave(self._child, fresh=True)

    def end(self) -> None:
        """End the process at once, whatever any thread is waiting for."""
        child = self._child
        if child is not None:
            child.close()

    def forget(self) -> None:
        """Let go, in a forked copy of the program, of what belongs to the program it was copied from."""
        self._lock = threading.Lock()
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in (child.process.stdin, child.process.stdout):
            with contextlib.suppress(OSError):
                if isinstance(pipe, (io.BufferedReader, io.BufferedWriter)):
                    pipe.raw.close()  # not flushed: the other one's words are not ours to say
        child.process.returncode = 0  # not our child, so there is nothing to wait for

    def _at_hand(self, end: float) -> Started:
        """Return a process that waits for a file, with the time until `end` to read it."""
        left = max(0.0, end - time.monotonic())
        if self._child is not None and self._child.ready(left):
            return self._child
        if self._child is not None:
            self._leave(self._child, fresh=True)
        process = started(self._command or python_command("ragstone.read.child_main")) if python() else None
        if process is None:
            raise ReadError("no process could be started to read it", hint=_NO_PYTHON, reason="unsupported")
        try:
            self._child = Started(process, left)
        except RuntimeError as error:  # no more threads
            process.kill()
            process.wait()
            raise ReadError("no thread could be started to read it", reason="memory") from error
        self._greet(self._child)
        return self._child

    def _greet(self, child: Started) -> None:
        """Hear the first word of a process, or end it."""
        greeted = False
        try:
            greeted = child.hear() == (HELLO, b"")
            if not greeted:
                raise Died("crash", "the process that reads files answered nonsense")
        except Died as died:
            raise ReadError(died.message, reason=died.reason) from died
        finally:
            if not greeted:
                self._leave(child, fresh=True)

    def _leave(self, child: Started, *, fresh: bool) -> None:
        """Let the process wait for the next file, or end it."""
        if fresh or child.worn or not child.ready(self._idle):
            self._child = None
            child.close()


_NO_PYTHON: Final = "files of this format are read by a second Python, which a frozen program cannot start"
_WARM: Final = Warm()
read_in_child: Final = _WARM.read
atexit.register(_WARM.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WARM.forget)
