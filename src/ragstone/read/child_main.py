"""The process that reads strangers' files: is told a format and bytes, answers with a document or why there is none."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import sys
from collections.abc import Callable
from typing import IO, Any, Final

from ragstone.errors import ReadError
from ragstone.read.answer import HELLO, tell_document, tell_failure
from ragstone.read.confine import confine
from ragstone.read.formats import FORMATS, Format, Read
from ragstone.read.wire import receive, send

_MOST_MEMORY: Final = 400 << 20
"""A process that once needed more is not used again: what it freed may lie in pieces."""


def main() -> None:
    """Answer until there is nobody left to answer to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started this, and ends it
    gc.set_threshold(100_000, 20, 20)  # what is made here is let go by counting; looking for circles finds none
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    sys.stdout = sys.stderr
    readers = {each.name: _loaded(each) for each in FORMATS}
    peak = _peak()
    confine(sys.path)
    with contextlib.suppress(BrokenPipeError):
        _serve(requests, answers, readers, peak)


def _loaded(format_: Format) -> Read | None:
    """Return a reading function, None where a package that it needs is missing."""
    try:
        return format_.load()
    except (ImportError, OSError):
        return None


def _serve(requests: IO[bytes], answers: IO[bytes], readers: dict[str, Read | None], peak: Callable[[], int]) -> None:
    send(answers, HELLO)
    while (told := receive(requests)) is not None:
        (number, name, uri, seconds), data = told
        _alarm(seconds)
        fields, text = _answer(readers.get(name), data, uri)
        send(answers, [number, peak() > _MOST_MEMORY, *fields], text)
        _alarm(0)


def _answer(reader: Read | None, data: bytes, uri: str) -> tuple[list[Any], bytes]:
    """Return what a file says, or why it says nothing."""
    if reader is None:
        return tell_failure("unsupported", "the package that reads this format is not installed")
    try:
        return tell_document(reader(data, uri))
    except ReadError as error:
        return tell_failure(error.reason, error.message)
    except MemoryError:
        return tell_failure("memory", "reading it takes too much memory")
    except Exception as error:  # noqa: BLE001 - parsers led astray raise anything, and this process contains them
        return tell_failure("damaged", f"it cannot be read: {type(error).__name__}: {error}"[:300])


def _alarm(seconds: int) -> None:
    """Be ended by the system after some seconds: whoever asked ends this sooner, unless it was itself killed."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _peak() -> Callable[[], int]:
    """Return what tells the most bytes of memory this process has had, 0 where that cannot be known.

    Linux says it in a file, to be opened before that is refused; what it says elsewhere counts, after an `exec`, what
    the process that started this one had.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            told = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
            return lambda: _most_told(os.pread(told, 8192, 0))
        return lambda: 0
    try:
        import resource
    except ImportError:
        return lambda: 0
    unit = 1 if sys.platform == "darwin" else 1024
    return lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _most_told(status: bytes) -> int:
    """Return the most bytes of memory that a process has had, as Linux tells it."""
    found = re.search(rb"^VmHWM:\s*(\d+) kB$", status, re.M)
    return int(found[1]) * 1024 if found else 0
