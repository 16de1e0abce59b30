"""Private files of lines in the home: lines are added, read from a position, and overwritten."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SAFE: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""No link is followed, and a FIFO does not wait for its other end."""
_MAX_READ_BYTES: Final = 8_000_000


@dataclass(frozen=True, slots=True)
class LogPosition:
    """A position in a log: the inode of the file and the offset in it."""

    inode: int = 0
    offset: int = 0


def append_line(path: Path, line: bytes) -> None:
    """Add a line to a private file of the home with one write; `OSError` if the file is a link."""
    if path.parent.is_symlink():
        raise OSError("the folder is a link: a cloned repository may point it anywhere")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _SAFE, 0o600)
    try:
        _require_regular(descriptor)
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _require_regular(descriptor: int) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError("the event log is not a regular file")


def read_lines(
    path: Path, position: LogPosition | None = None
) -> tuple[list[bytes], LogPosition]:
    """Return the complete lines after a position, all lines if it belongs to another file, and their end."""
    start = position or LogPosition()
    try:
        descriptor = os.open(path, os.O_RDONLY | _SAFE | getattr(os, "O_BINARY", 0))
    except OSError:
        return [], start
    with os.fdopen(descriptor, "rb") as file:
        try:
            _require_regular(descriptor)
        except OSError:
            return [], start
        inode = os.fstat(descriptor).st_ino
        offset = start.offset if start.inode == inode else 0
        file.seek(offset)
        data = file.read(_MAX_READ_BYTES)
    complete = data.rfind(b"\n") + 1
    return data[:complete].splitlines(), LogPosition(inode, offset + complete)


def rewrite_lines(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Overwrite each complete line with another one of the same length, so that no line moves while others are added."""
    try:
        descriptor = os.open(path, os.O_RDWR | _SAFE | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return
    with os.fdopen(descriptor, "r+b") as file:
        _require_regular(descriptor)
        data = file.read()
        lines = data[: data.rfind(b"\n") + 1].split(b"\n")
        file.seek(0)
        file.write(b"\n".join(map(change, lines)))
        file.flush()
        os.fsync(descriptor)
