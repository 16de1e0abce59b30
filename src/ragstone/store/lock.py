"""A lock between processes and threads. The operating system releases it if its holder dies."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

import filelock

from ragstone.errors import StoreBusy, StoreError
from ragstone.store.home_folder import LOCAL_DISK_HINT, WRITABLE_HINT

WAIT_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.005
_FOREVER: Final = -1.0
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
"""Network and virtual file systems without locks answer with one of these."""


class FileLock:
    """One holder at a time among all processes of the host; the holding thread may acquire it again.

    Without a path it is a lock between threads. `wait` is how long to queue; None waits without a limit.
    """

    def __init__(self, path: Path | None, *, wait: float | None = WAIT_SECONDS) -> None:
        """Keep the path; the file is created when the lock is first acquired."""
        self._path = path
        self._wait = wait
        self._timeout = threading.local()
        self._threads = threading.RLock()
        self._file: filelock.BaseFileLock | None = None
        if path is not None:
            # The file stays: removing it with every release would cost time.
            self._file = filelock.FileLock(
                path,
                mode=0o600,
                thread_local=False,
                poll_interval=_POLL_SECONDS,
                fallback_to_soft=False,
                preserve_lock_file=True,
            )

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def acquire(self, wait: float | None = None) -> None:
        """Acquire the lock, or raise `StoreBusy` if it was not free in time."""
        seconds = self._seconds if wait is None else wait
        self._require_folder()
        started = time.monotonic()
        if not self._threads.acquire(
            timeout=_FOREVER if seconds is None else max(0.0, seconds)
        ):
            raise self._busy(seconds)
        try:
            if self._file is not None:
                waited = time.monotonic() - started
                self._file.acquire(_FOREVER if seconds is None else max(0.0, seconds - waited))
        except filelock.Timeout as error:
            self._threads.release()
            raise self._busy(seconds) from error
        except (OSError, NotImplementedError) as error:
            self._threads.release()
            raise self._explain(error) from error
        except BaseException:
            self._threads.release()
            raise

    def release(self) -> None:
        """Release the lock."""
        try:
            if self._file is not None:
                self._file.release()
        finally:
            self._threads.release()

    @contextmanager
    def timeout(self, seconds: float | None) -> Iterator[None]:
        """Limit how long this thread queues inside the `with` block; None changes nothing."""
        before = self._seconds
        if seconds is not None:
            self._timeout.seconds = seconds
        try:
            yield
        finally:
            self._timeout.seconds = before

    @property
    def _seconds(self) -> float | None:
        seconds: float | None = getattr(self._timeout, "seconds", self._wait)
        return seconds

    def _require_folder(self) -> None:
        """Raise `StoreError` if the folder is gone: `filelock` would make it again, as an empty home."""
        if self._path is not None and not self._path.parent.is_dir():
            raise StoreError(
                f"the folder {self._path.parent} is gone", hint="open the index again"
            )

    def _explain(self, error: OSError | NotImplementedError) -> StoreError:
        """Return the error for a lock file that cannot be locked: no permission, or no locks on this file system."""
        folder = self._path and self._path.parent
        if isinstance(error, NotImplementedError) or error.errno in _NO_LOCKS:
            return StoreError(
                f"the file system of {folder} has no locks, so an index there is not safe",
                hint=LOCAL_DISK_HINT,
            )
        return StoreError(f"cannot write to {folder}: {error.strerror}", hint=WRITABLE_HINT)

    def _busy(self, seconds: float | None) -> StoreBusy:
        name = self._path or "the store"
        return StoreBusy(
            f"another writer has held {name} for {seconds or 0:.0f} seconds",
            hint="try again when it is done",
        )
