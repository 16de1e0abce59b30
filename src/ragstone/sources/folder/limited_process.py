"""Runs a program with limits of time, output and memory."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

if sys.platform == "linux":
    import resource

TIMEOUT_SECONDS = 60.0
_MAX_OUTPUT_BYTES = 100_000_000
_MAX_ERROR_BYTES = 100_000
_MAX_MEMORY_BYTES = 1 << 30


def run_limited(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes] | None:
    """Return the result of a command; None if it cannot be started, takes too long or writes too much."""
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
    with process:
        timer = threading.Timer(TIMEOUT_SECONDS, process.kill)
        reader = threading.Thread(target=_read_errors, args=(process.stderr, errors))
        timer.start()
        reader.start()
        try:
            output = _read_output(process)
            reader.join()
            status = process.wait()
        finally:
            process.kill()
            timer.cancel()
    if output is None or status < 0:
        return None
    return subprocess.CompletedProcess(process.args, status, output, b"".join(errors))


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
    """Limit the memory of a process: a small crafted file can ask for gigabytes. Only Linux can do it from outside."""
    if sys.platform == "linux":
        limit = (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES)
        with suppress(OSError):  # the process has ended
            resource.prlimit(process_id, resource.RLIMIT_DATA, limit)
