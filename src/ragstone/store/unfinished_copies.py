"""Unfinished copies: a process that was killed leaves its draft, and the next copy removes it."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Final

from ragstone.store.codec import fresh_uuid

_DRAFT: Final = re.compile(
    r"\.ragstone-(?P<host>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f-]+\.part(?:-journal|-wal|-shm)?"
)
_SIDE_FILES: Final = ("", "-journal", "-wal", "-shm")
_OLD_SECONDS: Final = 86_400.0
"""A draft of another host, whose processes are unknown here, is left over after a day."""


def new_draft(folder: Path) -> Path:
    """Return a free name for an unfinished copy; it names this host and process."""
    return folder / f".ragstone-{_host()}-{os.getpid()}-{fresh_uuid()}.part"


def remove_draft(draft: Path) -> None:
    """Remove a draft and the side files of its database."""
    for suffix in _SIDE_FILES:
        with suppress(OSError):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the drafts in a folder whose process has ended."""
    try:
        names = os.listdir(folder)
    except OSError:
        return  # the copy itself reports it
    for name in names:
        match = _DRAFT.fullmatch(name)
        if match is not None and _is_left_over(folder / name, match):
            with suppress(OSError):
                os.unlink(folder / name)


def _is_left_over(path: Path, match: re.Match[str]) -> bool:
    try:
        age = time() - os.lstat(path).st_mtime
    except OSError:
        return False
    if os.name == "nt" or match["host"] != _host():
        return age > _OLD_SECONDS
    return not _is_running(int(match["process"]))


def _is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # a process of another user
    return True


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]
