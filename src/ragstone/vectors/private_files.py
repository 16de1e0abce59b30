"""Folders and files that only their owner can read: vectors tell much of the texts they were made from."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def make_folder(folder: Path) -> None:
    """Make a private folder, its missing parents private too; one of ours that others can see is closed to them."""
    for missing in reversed([folder, *folder.parents]):
        if not missing.exists():
            missing.mkdir(mode=0o700, exist_ok=True)
    if os.name == "posix":
        seen = folder.stat()
        if seen.st_mode & 0o077 and seen.st_uid == os.geteuid():
            with suppress(OSError):
                folder.chmod(seen.st_mode & 0o700)


def private(path: str, flags: int) -> int:
    """Return a descriptor, a new file made so that only its owner can read it; the `opener` of `open`."""
    return os.open(path, flags, 0o600)
