"""What is asked of the place where the file lies, before SQLite sees it; by stat only, the file is never opened."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ragstone.errors import StoreError

# File systems whose locks or memory maps are not to be trusted with a database that several processes share.
NETWORK_TYPES: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "afs", "ceph"}
)
_MOUNTS: Final = Path("/proc/self/mounts")


def prepare(path: Path, *, allow_network: bool) -> None:
    """Make an empty private file where there is none; `StoreError` where a database cannot live."""
    folder = path.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {error.strerror}", hint="choose another path") from error
    if path.is_dir():
        raise StoreError(f"{path} is a folder", hint="give the path of a file")
    if not allow_network and (kind := network_type(folder)):
        raise StoreError(
            f"{folder} is on a network or shared file system ({kind}), where a database can lose writes",
            hint="set the store's path to a folder on a local disk",
        )
    if not path.exists():
        _create(path)
    for needed in (folder, path):
        if not os.access(needed, os.R_OK | os.W_OK):
            raise StoreError(f"cannot write to {needed}", hint="make the folder and its files writable for this user")


def _create(path: Path) -> None:
    try:
        # Only ever a file that nobody had: closing a descriptor of a live one would drop SQLite's locks.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return  # another process was quicker
    except OSError as error:
        raise StoreError(
            f"cannot write to {path.parent}: {error.strerror}", hint="make the folder writable, or choose another path"
        ) from error


def network_type(folder: Path, *, mounts: Path = _MOUNTS) -> str:
    """Return the name of the network file system a folder lies on, or nothing."""
    if str(folder).startswith("\\\\"):
        return "a network share"
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""  # not Linux: it cannot be told
    here = os.path.join(os.path.realpath(folder), "")
    best, kind = "", ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) > 2:
            point = os.path.join(fields[1].replace("\\040", " "), "")
            if here.startswith(point) and len(point) >= len(best):
                best, kind = point, fields[2]
    return kind if kind in NETWORK_TYPES else ""


def size_of(path: Path) -> int:
    """Return a file's size in bytes, 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
