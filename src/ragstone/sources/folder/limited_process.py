"""Runs a program with limits of time, output and memory."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO, NamedTuple

if sys.platform == "linux":
    import resource

TIMEOUT_SECONDS = 60.0
STALL_SECONDS = 2.0
"""A program that sleeps longer waits for something that may never come, such as the writer of a FIFO."""
_POLL_SECONDS = 0.2
_MAX_OUTPUT_BYTES = 100_000_000
_MAX_ERROR_BYTES = 100_000
_MAX_MEMORY_BYTES = 1 << 30
_PAGE_BYTES = 4096


def run_limited(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes] | None:
    """Return the result of a command; None if it cannot be started, stalls, takes too long or writes too much."""
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell; the caller fixes the program
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError:
        return None
    _limit_memory(process.pid)
    errors: list[bytes] = []
    has_ended = threading.Event()
    with process:
        guard = threading.Thread(target=_guard, args=(process, has_ended))
        reader = threading.Thread(target=_read_errors, args=(process.stderr, errors))
        guard.start()
        reader.start()
        try:
            output = _read_output(process)
            reader.join()
            status = process.wait()
        finally:
            has_ended.set()
            process.kill()
            guard.join()
    if output is None or status < 0:
        return None
    return subprocess.CompletedProcess(process.args, status, output, b"".join(errors))


class _Usage(NamedTuple):
    """The state of a process: whether it sleeps, its processor time so far, and its memory."""

    is_sleeping: bool
    ticks: int
    memory_bytes: int


def _guard(process: subprocess.Popen[bytes], has_ended: threading.Event) -> None:
    """Kill a process that takes too long, takes too much memory, or waits without doing anything."""
    deadline = monotonic() + TIMEOUT_SECONDS
    asleep_since: float | None = None
    ticks = -1
    while not has_ended.wait(_POLL_SECONDS):
        now = monotonic()
        usage = _read_usage(process.pid)
        if not usage.is_sleeping or usage.ticks != ticks:
            asleep_since = None
        elif asleep_since is None:
            asleep_since = now
        ticks = usage.ticks
        is_stalled = asleep_since is not None and now - asleep_since > STALL_SECONDS
        if is_stalled or now > deadline or usage.memory_bytes > _MAX_MEMORY_BYTES:
            process.kill()
            return


def _read_usage(process_id: int) -> _Usage:
    """Return the usage of a process; only Linux says it. Waiting for a disk is another state than sleep."""
    try:
        stat = Path(f"/proc/{process_id}/stat").read_text("ascii", "replace")
        pages = Path(f"/proc/{process_id}/statm").read_text("ascii").split()[5]
    except (OSError, IndexError):
        return _Usage(is_sleeping=False, ticks=0, memory_bytes=0)
    # The name of the program, in parentheses, may have spaces.
    fields = stat.rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return _Usage(fields[0] == "S", ticks, int(pages) * _PAGE_BYTES)


def _read_output(process: subprocess.Popen[bytes]) -> bytes | None:
    """Return all output; None if it is too much, which ends the process."""
    if process.stdout is None:
        return b""
    output = process.stdout.read(_MAX_OUTPUT_BYTES + 1)
    if len(output) <= _MAX_OUTPUT_BYTES:
        return output
    process.kill()
    return None


def _read_errors(stream: IO[bytes], errors: list[bytes]) -> None:
    """Keep the first bytes of a stream and read on to its end, so that the process never waits."""
    errors.append(stream.read(_MAX_ERROR_BYTES))
    while stream.read(_MAX_ERROR_BYTES):
        continue


def _limit_memory(process_id: int) -> None:
    """Limit the memory of a process: a small crafted file can need gigabytes. Only Linux can do it from outside.

    The process may have taken the memory before. The guard ends it then.
    """
    if sys.platform == "linux":
        limit = (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES)
        with suppress(OSError):  # the process has ended
            resource.prlimit(process_id, resource.RLIMIT_DATA, limit)
