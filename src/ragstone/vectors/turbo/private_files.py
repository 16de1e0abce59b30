"""Folders and files that only their owner can read: vectors reveal much of the texts they were made from."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def make_folder(folder: Path) -> None:
    """Create a private folder and its missing parents; make an existing folder of ours private."""
    for path in reversed([folder, *folder.parents]):
        if not path.exists():
            path.mkdir(mode=0o700, exist_ok=True)
    if os.name == "posix":
        status = folder.stat()
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            with suppress(OSError):
                folder.chmod(status.st_mode & 0o700)


def open_private(path: str, flags: int) -> int:
    """Return a file descriptor; a new file is readable by its owner only. Use it as the `opener` of `open`."""
    return os.open(path, flags, 0o600)
