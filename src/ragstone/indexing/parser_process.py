"""Code parsed where it can be stopped: a grammar that can lose itself for ever is asked in a process of its own.

Once begun, tree-sitter cannot be interrupted. Kotlin's grammar may then never come back from a text that is no Kotlin;
the others end, if late. So Kotlin is parsed beside this process, by one that is ended when it takes too long.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Final

from ragstone.code.grammars import language_of
from ragstone.code.symbols import read
from ragstone.indexing.parser_protocol import dump, load
from ragstone.read.process import command, python, started
from ragstone.read.wire import receive, send

if TYPE_CHECKING:
    from ragstone.code.facts import FileFacts

UNSURE: Final = frozenset({"kotlin"})
SECONDS: Final = 5.0
"""For one file; a hundred kilobytes of Kotlin take a tenth of a second."""


def facts_of(text: str, uri: str, language: str = "") -> FileFacts | None:
    """Return what a file defines and uses; None where it has no grammar, or its grammar loses itself in it."""
    if (language or language_of(uri)) not in UNSURE:
        return read(text, uri, language)
    return _BESIDE.ask(text, uri, language)


class Beside:
    """The process that parses what may never end: started when it is needed, and again after it was stopped."""

    def __init__(self, *, seconds: float = SECONDS) -> None:
        """Take how long one text may take."""
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._asking = threading.Lock()

    def ask(self, text: str, uri: str, language: str) -> FileFacts | None:
        """Return what the other process says of a text; None where it was too slow, or there can be none."""
        with self._asking:
            process = self._running()
            if process is None or process.stdin is None or process.stdout is None:
                return None
            limit = threading.Timer(self._seconds, process.kill)
            limit.daemon = True
            limit.start()
            try:
                send(process.stdin, {"uri": uri, "language": language}, text.encode("utf-8", "surrogatepass"))
                told = receive(process.stdout)
            except (OSError, ValueError):  # it was ended in the middle of it
                told = None
            finally:
                limit.cancel()
            if told is None:
                self._end()
                return None
            return load(told[1]) if told[1] else None

    def close(self) -> None:
        """End the process, if there is one."""
        with self._asking:
            self._end()

    def _running(self) -> subprocess.Popen[bytes] | None:
        if self._owner != os.getpid():  # forked: the process is the other one's
            self._process, self._owner = None, os.getpid()
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = started(command("ragstone.indexing.parser_process")) if python() else None
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()


_BESIDE: Final = Beside()
atexit.register(_BESIDE.close)


def main() -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started this, and ends it
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    with contextlib.suppress(BrokenPipeError):
        while (told := receive(requests)) is not None:
            about, data = told
            _alarm(2 * SECONDS)
            facts = read(data.decode("utf-8", "surrogatepass"), about["uri"], about["language"])
            _alarm(0)
            send(answers, None, b"" if facts is None else dump(facts))


def _alarm(seconds: float) -> None:
    """Let the system end this process after a while, should nobody be left to do it; not where it has no such clock."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
