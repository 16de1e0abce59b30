"""SQLite's failures as ours: one sentence and what to do."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from ragstone.errors import StoreBusy, StoreDamaged, StoreError
from ragstone.store.disk import WRITABLE_HINT

_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_CLOSED_TO_US: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)
_NO_ROOM_BYTES: Final = 1 << 20
READ_AGAIN: Final = "run `ragstone sync --full`; what no source gives must be put again"
RESTORE: Final = (
    "restore a backup; or move the file away, then `ragstone sync` brings files back"
    " and `ragstone import` of an export the documents that were given"
)


class DiskFailed(StoreError):
    """The disk failed while writing: nothing more may be acknowledged."""


class NoRoom(StoreError):
    """The disk is full: what is stored can still be read."""


class translated:
    """Raise our error for whatever SQLite, or a row that makes no sense, raises inside.

    A class, for it is in every search twice, and one made of a generator takes twice the time.
    """

    __slots__ = ("_location",)

    def __init__(self, location: str) -> None:
        """Take what the error is to name."""
        self._location = location

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raise ours instead."""
        if isinstance(error, sqlite3.Error):
            raise explain(error, self._location) from error
        if isinstance(error, UnicodeDecodeError):
            raise damaged(self._location, "text that is not UTF-8") from error


def damaged(location: str, what: str) -> StoreDamaged:
    """Return the error for a file with something in it that we never wrote."""
    return StoreDamaged(f"{location} is damaged: {what}", hint=RESTORE)


def explain(error: sqlite3.Error, location: str) -> StoreError:
    """Return our error for one of SQLite's."""
    extended = getattr(error, "sqlite_errorcode", None)
    code = extended & 0xFF if isinstance(extended, int) else None
    if code in _BUSY:
        return StoreBusy(f"another program holds {location}", hint="try again when it is done")
    if code in _DAMAGED or "decode to UTF-8" in str(error):
        return damaged(location, str(error))
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _no_room(location, extended)):
        return NoRoom(
            f"no room left for {location}: {error}",
            hint="free some disk space and run it again; nothing stored was lost",
        )
    if code == sqlite3.SQLITE_IOERR:
        return DiskFailed(
            f"the disk failed under {location}: {error}", hint="check the disk, then open the store again"
        )
    if code in _CLOSED_TO_US:
        return StoreError(f"cannot open {location} for writing: {error}", hint=WRITABLE_HINT)
    return StoreError(f"{location} cannot be used: {error}", hint="run `ragstone doctor`")


def _no_room(location: str, extended: int | None) -> bool:
    """Return whether an I/O error is a full disk by another name; a failed sync never is."""
    if extended in (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC):
        return False
    try:
        room = os.statvfs(Path(location).parent)
    except (OSError, AttributeError):  # AttributeError: Windows has no statvfs, and tells a full disk by its own code
        return False
    return room.f_bavail * room.f_frsize < _NO_ROOM_BYTES
