"""One writer at a time in a folder, among processes; taken at once or not at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ragstone.vectors.private_files import private

NAME = "lock"


@contextmanager
def try_lock(folder: Path) -> Iterator[bool]:
    """Yield whether the folder is ours alone until the end of the block; the system lets go of it if we die."""
    with open(folder / NAME, "a+b", opener=private) as file:
        held = _take(file)
        try:
            yield held
        finally:
            if held:
                _release(file)


if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_UN)
