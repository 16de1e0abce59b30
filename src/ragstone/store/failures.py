"""Errors of SQLite as errors of Ragstone: one sentence and a remedy."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ragstone.errors import StoreBusy, StoreDamaged, StoreError
from ragstone.store.home_folder import LOCAL_DISK_HINT, WRITABLE_HINT

_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NOT_WRITABLE: Final = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
)
_PROBLEMS: Final[dict[int | None, str]] = {
    sqlite3.SQLITE_INTERRUPT: "took too long to read and was stopped"
}
_FAILED_SYNC: Final = (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC)
_FAILED_LOCK: Final = (
    sqlite3.SQLITE_IOERR_LOCK,
    sqlite3.SQLITE_IOERR_RDLOCK,
    sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK,
)
_NO_ROOM_BYTES: Final = 1 << 20
READ_AGAIN: Final = "run `ragstone sync --full`; what no source gives must be put again"
RESTORE: Final = (
    "restore a backup; or move the file away, then `ragstone sync` brings files back"
    " and `ragstone import` of an export the documents that were given"
)


class DiskFailed(StoreError):
    """The disk failed during a write: no further write may be acknowledged."""


class NoRoom(StoreError):
    """The disk is full: stored data can still be read."""


@contextmanager
def translated(location: str) -> Iterator[None]:
    """Raise a Ragstone error for every error of SQLite inside of the block."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(error, location) from error
    except UnicodeDecodeError as error:
        raise damaged(location, "text that is not UTF-8") from error


def damaged(location: str, what: str) -> StoreDamaged:
    """Return the error for a file with content that Ragstone never wrote."""
    return StoreDamaged(f"{location} is damaged: {what}", hint=RESTORE)


def explain(error: sqlite3.Error, location: str) -> StoreError:
    """Return the Ragstone error for an error of SQLite."""
    extended = getattr(error, "sqlite_errorcode", None)
    code = extended & 0xFF if isinstance(extended, int) else None
    if code in _BUSY:
        return StoreBusy(f"another program holds {location}", hint="try again when it is done")
    if code in _DAMAGED or "decode to UTF-8" in str(error):
        return damaged(location, str(error))
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return _explain_disk_error(error, location, extended)
    if code in _NOT_WRITABLE:
        return StoreError(f"cannot open {location} for writing: {error}", hint=WRITABLE_HINT)
    problem = _PROBLEMS.get(code, "cannot be used")
    return StoreError(f"{location} {problem}: {error}", hint="run `ragstone doctor`")


def _explain_disk_error(
    error: sqlite3.Error, location: str, extended: int | None
) -> StoreError:
    """Return the error for a disk that is full, has no locks, or failed."""
    if extended == sqlite3.SQLITE_FULL or _is_disk_full(location, extended):
        return NoRoom(
            f"no room left for {location}: {error}",
            hint="free some disk space and run it again; nothing stored was lost",
        )
    if extended in _FAILED_LOCK:
        return StoreError(f"the file system of {location} has no locks", hint=LOCAL_DISK_HINT)
    return DiskFailed(
        f"the disk failed under {location}: {error}",
        hint="check the disk, then open the store again",
    )


def _is_disk_full(location: str, extended: int | None) -> bool:
    """Return whether an I/O error comes from a full disk; a failed sync never does."""
    if extended in _FAILED_SYNC:
        return False
    try:
        status = os.statvfs(Path(location).parent)
    except (
        OSError,
        AttributeError,
    ):  # AttributeError: Windows has no statvfs, and its own error code for a full disk
        return False
    return status.f_bavail * status.f_frsize < _NO_ROOM_BYTES
