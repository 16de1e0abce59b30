"""The record of the server that runs for a folder, so that `ragstone ui` finds it.

A lock says whether a server runs: the operating system releases it if the process dies. A file has the address.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from ragstone.errors import StoreBusy, StoreError
from ragstone.store.home_folder import SERVER_ADDRESS, SERVER_LOCK
from ragstone.store.lock import FileLock

_WAIT_SECONDS: Final = 0.5


class ServerRecord:
    """Holds the lock of a home while its server runs. A second server of the same home is not recorded."""

    def __init__(self, home: Path, address: str, project: str) -> None:
        """Take the home and the address; nothing is written yet."""
        self._home = home
        self._data = {"url": address, "project": project, "pid": os.getpid()}
        self._lock = FileLock(home / SERVER_LOCK, wait=0)
        self._is_held = False

    async def write_when_possible(self) -> None:
        """Write the record as soon as the home exists: the first sync makes it."""
        while not self._home.is_dir():
            await asyncio.sleep(_WAIT_SECONDS)
        with suppress(StoreBusy, StoreError, OSError):  # a read-only disk, or another server
            self._write()

    def remove(self) -> None:
        """Release the lock and remove the file."""
        if not self._is_held:
            return
        self._is_held = False
        with suppress(OSError):
            (self._home / SERVER_ADDRESS).unlink(missing_ok=True)
        self._lock.release()

    def _write(self) -> None:
        self._lock.acquire()
        self._is_held = True
        # A new file replaces the old one, so that a link is never followed.
        draft = self._home / f"{SERVER_ADDRESS}.{os.getpid()}"
        with open(draft, "x", encoding="utf-8") as file:
            json.dump(self._data, file)
        os.replace(draft, self._home / SERVER_ADDRESS)


def find_server(home: Path, project: str) -> str:
    """Return the address of the server that runs for a home and a project; empty if there is none."""
    lock = home / SERVER_LOCK
    if lock.is_symlink() or not lock.is_file():
        return ""
    try:
        with FileLock(lock, wait=0):
            return ""
    except StoreBusy:
        return _read_address(home / SERVER_ADDRESS, project)
    except StoreError:
        return ""


def _read_address(path: Path, project: str) -> str:
    """Return the address in a record of this project; empty if the record cannot be read."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        is_same = data["project"] == project
        return str(data["url"]) if is_same else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""
