"""Runs a program that the user named and returns its output: no shell, no input, and no process is left over."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone import config
from ragstone.errors import AccessError, ConfigError, InputError

_MAX_BYTES: Final = 1_000_000
"""The longest manual page has about half of it."""
_GRACE: Final = 0.3
"""Seconds that background processes of an ended program may keep its output open."""
_TIMEOUT: Final = "it did not end in time"
_FLOOD: Final = "it says too much"
_VARIABLES: Final = {
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "SYSTEMD_PAGER": "cat",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "COLUMNS": "100",
    "MANWIDTH": "100",
    "LINES": "1000",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "CI": "1",  # many programs then ask no questions and look for no updates
    "DO_NOT_TRACK": "1",
    "GROFF_NO_SGR": "1",
}
_ESCAPES: Final = re.compile(
    r"\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # titles and links
    r"|\x1b[@-Z\\-_]|\x1b\[[0-?]*[ -/]*[@-~]"
)
_OVERSTRIKE: Final = re.compile("[^\n\x08]\x08")
_CONTROLS: Final = {code: None for code in (*range(9), *range(11, 32), 127)}
_NAME: Final = re.compile(r"[A-Za-z0-9_.+@\[-]+")


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """The output of a program and its exit code."""

    text: str = ""
    code: int | None = None
    """Negative for a signal; None if we ended the program or could not start it."""
    problem: str = ""
    """Why we ended the program or could not start it."""


def find_program(name: str, *, project: Path) -> Path:
    """Return the program of a name or path; raise `InputError` or `AccessError` if it may not be run.

    A name is searched in the absolute folders of `PATH`. A program inside the project may have come with a clone, so it
    is run only by its path.
    """
    if os.name != "posix":
        raise ConfigError(
            "programs are only asked for help on Linux and macOS",
            hint="save the help and add the file",
        )
    if os.sep in name:
        path = Path(os.path.abspath(os.path.expanduser(name)))
        if not _is_executable(path):
            raise InputError(
                f"there is no program at {name}", hint="check the path and its permissions"
            )
        return path
    if not _NAME.fullmatch(name) or name.startswith("-") or set(name) == {"."}:
        raise InputError(
            f"{name[:80]!r} is no name of a program",
            hint="for example git, or ./tool for one that is here",
        )
    return _search_path(name, project.resolve())


def _search_path(name: str, project: Path) -> Path:
    """Return the first program of a name in `PATH`; raise `AccessError` if it is in the project."""
    for folder in config.search_path():
        path = Path(folder, name)
        if not _is_executable(path):
            continue
        is_link_into_project = path.resolve().is_relative_to(project)
        if is_link_into_project or path.parent.resolve().is_relative_to(project):
            raise AccessError(
                f"{name} lies in the project itself: {path}",
                hint=f"if that is the one you mean: ragstone capture {path}",
            )
        return path
    raise InputError(
        f"there is no program {name!r}", hint="check its name; ./tool names one that is here"
    )


def run_program(command: Sequence[str], *, seconds: float) -> ProgramOutput:
    """Return the output of a program; the program and all processes it started have ended by then."""
    with tempfile.TemporaryDirectory(prefix="ragstone-", ignore_cleanup_errors=True) as empty:
        environment = {
            **config.child_environment(),
            **_VARIABLES,
            "TMPDIR": empty,
        }
        try:
            process = subprocess.Popen(  # noqa: S603 - the user named the program; no shell
                command,
                cwd=empty,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return ProgramOutput(
                problem=f"it cannot be started: {getattr(error, 'strerror', None) or error}"
            )
        try:
            streams, problem = _read_output(process, seconds)
        finally:
            _kill_group(process)
    output, errors = (clean_output(stream) for stream in streams)
    text = output if output.strip() else errors
    if problem:
        return ProgramOutput(text, problem=problem)
    return ProgramOutput(text, process.returncode)


def clean_output(data: bytes) -> str:
    """Return output as plain text: no colours, overstruck letters, control characters or spaces at line ends."""
    text = data.decode("utf-8", "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _ESCAPES.sub("", text)
    for _ in range(3):  # bold is a letter over itself, underlined one over `_`
        text = _OVERSTRIKE.sub("", text)
    text = text.translate(_CONTROLS).expandtabs()
    lines = [line.rstrip() for line in text.split("\n")]
    return "\n".join(lines).strip("\n")


def _is_executable(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode) and os.access(path, os.X_OK)
    except OSError:
        return False


def _read_output(process: subprocess.Popen[bytes], seconds: float) -> tuple[list[bytes], str]:
    """Return output and errors, and why reading stopped early, if it did."""
    received: dict[int, bytearray] = {}
    deadline = time.monotonic() + seconds
    problem = ""
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                selector.register(stream.fileno(), selectors.EVENT_READ)
                received[stream.fileno()] = bytearray()
        while selector.get_map() and not problem:
            if process.poll() is not None:
                deadline = min(deadline, time.monotonic() + _GRACE)
            problem = _read_available(selector, received, deadline)
    if problem == _TIMEOUT and process.poll() is not None:
        problem = ""  # only background processes kept the output open
    if not problem:
        problem = _wait_for_end(process, deadline)
    return [bytes(data) for data in received.values()], problem


def _read_available(
    selector: selectors.BaseSelector, received: dict[int, bytearray], deadline: float
) -> str:
    """Add the available output to `received`; return why to stop reading, or an empty text."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        return _TIMEOUT
    for key, _ in selector.select(min(seconds, 0.1)):
        try:
            data = os.read(key.fd, 65_536)
        except BlockingIOError:
            continue
        if not data:
            selector.unregister(key.fd)
        received[key.fd] += data
    total = sum(len(data) for data in received.values())
    if total > _MAX_BYTES:
        return _FLOOD
    return ""


def _wait_for_end(process: subprocess.Popen[bytes], deadline: float) -> str:
    """Wait for a program that has closed its output; return why it has to be ended, or an empty text."""
    try:
        process.wait(max(deadline - time.monotonic(), 0.01))
    except subprocess.TimeoutExpired:
        return _TIMEOUT
    return ""


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a program and all processes in its group."""
    for _ in range(3):  # a process that was just being started misses the first signal
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
