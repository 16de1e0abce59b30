"""A lock between processes and threads on a side file; the operating system releases it when its holder dies."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from ragstone.errors import StoreBusy, StoreError

WAIT_SECONDS: Final = 30.0
_SHORTEST_NAP: Final = 0.001
_LONGEST_NAP: Final = 0.05
_FOR_EVER: Final = -1.0

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class FileLock:
    """One holder at a time, over all processes of the host; the thread that holds it may take it again.

    Without a path it is a lock between threads only. `wait` is how long to queue; None waits without end.
    """

    def __init__(self, path: Path | None, *, wait: float | None = WAIT_SECONDS) -> None:
        """Keep where and how long; the file is made when the lock is first taken."""
        self._path = path
        self._wait = wait
        self._patience = threading.local()  # how long one thread waits is no matter of the others
        self._thread_lock = threading.RLock()
        self._depth = 0
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.release()

    def acquire(self, wait: float | None = None) -> None:
        """Take the lock, or raise `StoreBusy` when it was not free in time."""
        patience = getattr(self._patience, "seconds", self._wait) if wait is None else wait
        end = None if patience is None else time.monotonic() + patience
        if not self._thread_lock.acquire(timeout=_FOR_EVER if patience is None else max(0.0, patience)):
            raise self._busy(patience)
        try:
            if self._depth == 0 and self._path is not None:
                self._queue(self._path, end, patience)
            self._depth += 1
        except BaseException:
            self._thread_lock.release()
            raise

    def release(self) -> None:
        """Give the lock back."""
        self._depth -= 1
        try:
            if self._depth == 0 and self._descriptor is not None:
                descriptor, self._descriptor = self._descriptor, None
                try:
                    _unlock(descriptor)
                finally:
                    os.close(descriptor)
        finally:
            self._thread_lock.release()

    @contextmanager
    def patience(self, seconds: float | None) -> Iterator[None]:
        """Queue in this thread at most this long while it is entered; None changes nothing."""
        before = getattr(self._patience, "seconds", self._wait)
        self._patience.seconds = before if seconds is None else seconds
        try:
            yield
        finally:
            self._patience.seconds = before

    def _queue(self, path: Path, end: float | None, patience: float | None) -> None:
        nap = _SHORTEST_NAP
        while True:
            descriptor = _opened(path)
            try:
                if _try_lock(descriptor) and _still_there(descriptor, path):
                    self._descriptor, descriptor = descriptor, -1
                    return
            finally:
                if descriptor >= 0:
                    os.close(descriptor)
            if end is not None and time.monotonic() >= end:
                raise self._busy(patience)
            time.sleep(nap)
            nap = min(nap * 1.5, _LONGEST_NAP)

    def _busy(self, patience: float | None) -> StoreBusy:
        return StoreBusy(
            f"another writer has held {self._path or 'the store'} for {patience or 0:.0f} seconds",
            hint="try again when it is done",
        )


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(
            f"cannot write to {path.parent}: {error.strerror}",
            hint="make the folder writable, or set RAGSTONE_RAG_STORE_PATH to a folder that is",
        ) from error


def _still_there(descriptor: int, path: Path) -> bool:
    """Return whether the locked file is the one others see; somebody may have deleted it while we queued."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False
