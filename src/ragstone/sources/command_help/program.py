"""Running a program that the user named, to hear what it says: no shell, no input, an end to all that it starts."""

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone import config
from ragstone.errors import AccessError, ConfigError, InputError

_MOST_BYTES: Final = 1_000_000
"""The longest manual there is has about half of it."""
_GRACE: Final = 0.3
"""Seconds that what a program left behind may keep its output open before it is ended too."""
_TIME: Final = "it did not end in time"
_FLOOD: Final = "it says too much"
_QUIET: Final = {
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
    "CI": "1",  # many programs then neither ask nor look for updates
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
class Said:
    """What a program said, and how it ended."""

    text: str = ""
    code: int | None = None
    """The exit code, negative for a signal; None where it was ended by us or could not be started."""
    trouble: str = ""
    """Why it was ended, or could not be started."""


def find(name: str, *, project: Path) -> Path:
    """Return the program a name stands for, or raise `InputError`, `AccessError`.

    A name is looked for in the absolute folders of `PATH`, never where somebody stands, and what lies in the project is
    not run by name alone: it may have come with a clone. A path says which program is meant.
    """
    if os.name != "posix":
        raise ConfigError("programs are only asked for help on Linux and macOS", hint="save the help and add the file")
    if os.sep in name:
        path = Path(os.path.abspath(os.path.expanduser(name)))
        if not _runs(path):
            raise InputError(f"there is no program at {name}", hint="check the path and its permissions")
        return path
    if not _NAME.fullmatch(name) or name.startswith("-") or set(name) == {"."}:
        raise InputError(
            f"{name[:80]!r} is no name of a program", hint="for example git, or ./tool for one that is here"
        )
    found = next((path for folder in config.search_path() if _runs(path := Path(folder, name))), None)
    if found is None:
        raise InputError(f"there is no program {name!r}", hint="check its name; ./tool names one that is here")
    here = project.resolve()
    if found.resolve().is_relative_to(here) or found.parent.resolve().is_relative_to(here):
        raise AccessError(
            f"{name} lies in the project itself: {found}", hint=f"if that is the one you mean: ragstone capture {found}"
        )
    return found


def ask(command: Sequence[str], *, seconds: float, extra: Mapping[str, str] | None = None) -> Said:
    """Return what a program says when run with these arguments; it and all it started have ended by then."""
    with tempfile.TemporaryDirectory(prefix="ragstone-", ignore_cleanup_errors=True) as empty:
        environment = {**config.child_environment(), **_QUIET, "TMPDIR": empty, **(extra or {})}
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
            return Said(trouble=f"it cannot be started: {getattr(error, 'strerror', None) or error}")
        try:
            heard, trouble = _heard(process, seconds)
        finally:
            _end(process)
    out, err = (clean(one) for one in heard)
    code = None if trouble else process.returncode
    return Said(out if out.strip() else err, code, trouble)


def clean(data: bytes) -> str:
    """Return output as plain text: no colours, letters struck twice, control characters or spaces at line ends."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    text = _ESCAPES.sub("", text)
    for _ in range(3):  # bold is a letter struck over itself, underlining one over `_`; nobody strikes more often
        text = _OVERSTRIKE.sub("", text)
    text = text.translate(_CONTROLS).expandtabs()
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _runs(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode) and os.access(path, os.X_OK)
    except OSError:
        return False


def _heard(process: subprocess.Popen[bytes], seconds: float) -> tuple[list[bytes], str]:
    """Return output and errors, and why listening ended early, if it did."""
    heard: dict[int, bytearray] = {}
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as waiting:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                waiting.register(stream.fileno(), selectors.EVENT_READ)
                heard[stream.fileno()] = bytearray()
        trouble = ""
        while waiting.get_map() and not trouble:
            if process.poll() is not None:
                # It is over; what it started in the background may not be.
                end = min(end, time.monotonic() + _GRACE)
            trouble = _listen(waiting, heard, end)
        if trouble == _TIME and process.poll() is not None:
            trouble = ""
        if not trouble:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(end - time.monotonic(), 0.01))
            trouble = "" if process.returncode is not None else _TIME
    return [bytes(one) for one in heard.values()], trouble


def _listen(waiting: selectors.BaseSelector, heard: dict[int, bytearray], end: float) -> str:
    """Take in what is there now, and return why to stop listening, if so."""
    left = end - time.monotonic()
    if left <= 0:
        return _TIME
    for key, _ in waiting.select(min(left, 0.1)):
        try:
            piece = os.read(key.fd, 65_536)
        except BlockingIOError:
            continue
        if not piece:
            waiting.unregister(key.fd)
        heard[key.fd] += piece
    return _FLOOD if sum(len(one) for one in heard.values()) > _MOST_BYTES else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and everything in its process group."""
    for _ in range(3):  # what was being started while the signal was sent is met by the next
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
