"""Uploaded files that wait for their job: on disk, readable by this user only, and limited in bytes."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from ragstone.errors import Overloaded, StoreError
from ragstone.types import IncomingFile

FOLDER: Final = "uploads"
"""A folder in the home; each process has its own folder in it."""
_COPY_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file on disk that waits for its job."""

    name: str
    size: int
    path: Path

    def read(self) -> bytes:
        """Return its bytes."""
        return self.path.read_bytes()


class UploadSpool:
    """Keeps the files of waiting uploads. Safe to use from several threads."""

    def __init__(self, home: Path | None, max_bytes: int) -> None:
        """Take the home, or None for the system's temporary folder; nothing is made before the first upload."""
        self._parent = None if home is None else home / FOLDER
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self.used = 0
        """Bytes of the files that wait now."""
        if self._parent is not None:
            _remove_leftovers(self._parent)

    def add(self, files: Sequence[IncomingFile]) -> list[UploadedFile]:
        """Copy files to disk and return them; `Overloaded` if too many bytes wait already."""
        size = sum(file.size for file in files)
        with self._lock:
            if self.used + size > self._max_bytes:
                raise Overloaded("too many uploaded bytes are waiting", hint="try again later")
            self.used += size
            try:
                folder = self._own_folder()
            except OSError as error:
                self.used -= size
                raise _unusable(error) from error
        stored = [
            UploadedFile(file.name, file.size, folder / secrets.token_hex(16)) for file in files
        ]
        try:
            for file, target in zip(files, stored, strict=True):
                _copy(file.stream, target.path)
        except OSError as error:
            self.remove(stored)
            raise _unusable(error) from error
        return stored

    def remove(self, files: Iterable[UploadedFile]) -> None:
        """Remove files whose job is over."""
        for file in files:
            file.path.unlink(missing_ok=True)
            with self._lock:
                self.used -= file.size

    def close(self) -> None:
        """Remove all files of this process."""
        with self._lock:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def _own_folder(self) -> Path:
        """Return the folder of this process; made on first use."""
        if self._folder is None:
            if self._parent is not None:
                self._parent.mkdir(mode=0o700, exist_ok=True)
            prefix = f"{os.getpid()}-"
            self._folder = Path(tempfile.mkdtemp(prefix=prefix, dir=self._parent))
        return self._folder


def _copy(stream: BinaryIO, path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        shutil.copyfileobj(stream, target, _COPY_BYTES)


def _remove_leftovers(parent: Path) -> None:
    """Remove the files of processes that were killed; those of a server that still runs stay."""
    if parent.is_symlink() or not parent.is_dir():
        return
    for folder in parent.iterdir():
        number = folder.name.partition("-")[0]
        if number.isdigit() and not _is_running(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: int) -> bool:
    """Return whether another process with this number runs."""
    if process == os.getpid():
        return False
    with suppress(PermissionError):
        try:
            os.kill(process, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True


def _unusable(error: OSError) -> StoreError:
    reason = error.strerror or error
    return StoreError(f"the upload cannot be stored: {reason}", hint="is the disk full?")
