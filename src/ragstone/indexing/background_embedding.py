"""Starts the process that makes missing vectors after a command has ended, and says how it goes.

There is at most one for each home. `background_embedding_main` is its program.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone import registry
from ragstone.config import is_automated
from ragstone.errors import ConfigError, StoreBusy, StoreError
from ragstone.read.python_command import build_background_command
from ragstone.store.home_folder import BACKGROUND_LOCK, BACKGROUND_LOG
from ragstone.store.lock import FileLock
from ragstone.types import BackgroundStatus

if TYPE_CHECKING:
    from ragstone.config import Settings

FAILED: Final = "failed: "
_PROGRAM: Final = "ragstone.indexing.background_embedding_main"
_MAX_LOG_BYTES: Final = 100_000
_TAIL_BYTES: Final = 2000
_RETRY_SECONDS: Final = 600.0
"""After a failure the next process starts only after this time: the next command would fail in the same way."""


_START_SECONDS: Final = 3.0
"""A process that was started this long ago at most counts as running, although it may not have its lock yet."""


class BackgroundEmbedding:
    """The background process of one project."""

    def __init__(self, settings: Settings, project: str) -> None:
        """Take the settings; nothing is started yet."""
        self._settings = settings
        self._project = project
        self._log = settings.home / BACKGROUND_LOG
        self._started_at = -_START_SECONDS

    @property
    def is_allowed(self) -> bool:
        """Return whether the settings allow a background process."""
        embed = self._settings.embed
        if "store.url" in self._settings.arguments():
            return False  # every user of the machine could read its password in the list of processes
        if embed.background != "auto":
            return embed.background == "on"
        return not is_automated() and not _is_paid(embed.provider)

    def start(self, problems: Sequence[str] = ()) -> bool:
        """Start the process, unless one runs or the last one failed a moment ago; return whether one runs now.

        `problems` are the reasons why services fail at the moment. The process would fail too, so it is not started.
        """
        if not self.is_allowed:
            return False
        if self.is_running():
            return True
        if self._failed_recently():
            return False
        if problems:
            self._note_failure(problems[0])
            return False
        request = {
            "folder": str(self._settings.root),
            "project": self._project,
            "settings": self._settings.arguments(),
        }
        command = build_background_command(_PROGRAM, json.dumps(request))
        if command is None or not _start_detached(command, self._log):
            return False
        self._started_at = time.monotonic()
        return True

    def _note_failure(self, reason: str) -> None:
        """Write to the log why no process was started; `status` shows it."""
        with (
            suppress(OSError),
            os.fdopen(
                _open_log(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT),
                "w",
                encoding="utf-8",
            ) as log,
        ):
            log.write(log_line(f"{FAILED}{reason}"))

    def status(self) -> BackgroundStatus:
        """Return whether the process runs, and why the last one failed."""
        if not self._log.exists():
            return BackgroundStatus(self.is_running())
        _, _, failure = self._last_line().partition(FAILED)
        return BackgroundStatus(self.is_running(), failure, str(self._log))

    def is_running(self) -> bool:
        """Return whether a process holds the lock, or was just started."""
        if time.monotonic() < self._started_at + _START_SECONDS:
            return True
        path = self._settings.home / BACKGROUND_LOCK
        if not path.exists():
            return False
        try:
            with FileLock(path, wait=0):
                return False
        except StoreBusy:
            return True
        except StoreError:  # the home can only be read
            return False

    def _failed_recently(self) -> bool:
        if FAILED not in self._last_line():
            return False
        try:
            return time.time() - self._log.stat().st_mtime < _RETRY_SECONDS
        except OSError:
            return False

    def _last_line(self) -> str:
        """Return the last line of the log; empty if there is none."""
        try:
            descriptor = _open_log(self._log, os.O_RDONLY)
        except OSError:
            return ""
        with os.fdopen(descriptor, "rb") as file:
            file.seek(max(0, os.fstat(descriptor).st_size - _TAIL_BYTES))
            lines = file.read(_TAIL_BYTES).decode("utf-8", "replace").splitlines()
        return lines[-1] if lines else ""


def log_line(sentence: str) -> str:
    """Return a line of the log: the time and the sentence."""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S')} {' '.join(sentence.split())}\n"


def _is_paid(provider: str) -> bool:
    """Return whether an embedder costs money; an unknown one fails elsewhere with a clear message."""
    try:
        return registry.find("embedder", provider.partition(":")[0]).is_paid
    except ConfigError:
        return False


def _start_detached(command: list[str], log: Path) -> bool:
    """Start a process that outlives this one and its terminal; return whether it was started."""
    flags = 0
    for name in ("CREATE_NO_WINDOW", "CREATE_NEW_PROCESS_GROUP", "BELOW_NORMAL_PRIORITY_CLASS"):
        flags |= getattr(subprocess, name, 0)
    try:
        output = _open_log(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    except OSError:
        return False
    try:
        if os.fstat(output).st_size > _MAX_LOG_BYTES:
            os.truncate(output, 0)
        process = subprocess.Popen(  # noqa: S603 - our own program run by our own Python, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            cwd=log.anchor,  # it must not keep the user's folder in use
            start_new_session=True,
            creationflags=flags,
        )
    except OSError:
        return False
    finally:
        os.close(output)
    process.returncode = 0  # it is not waited for, so Python must not warn that it still runs
    return True


def _open_log(path: Path, flags: int) -> int:
    """Return a descriptor of the log. A link or a pipe may have come with a clone and is refused."""
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no file")
    return descriptor
