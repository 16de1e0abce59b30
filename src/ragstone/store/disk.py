"""Checks of the file and its folder before SQLite opens it, by `stat` only: the file itself is never opened."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ragstone.errors import StoreError

# File systems whose locks are not reliable for a database that several processes share.
NETWORK_TYPES: Final = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "virtiofs",
        "fuse.sshfs",
        "fuse.s3fs",
        "fuse.rclone",
        "afs",
        "ceph",
    }
)
_MOUNTS: Final = Path("/proc/self/mounts")
WRITABLE_HINT: Final = (
    "make the folder and its files writable, or set RAGSTONE_RAG_STORE_PATH to a folder that is"
)
LOCAL_DISK_HINT: Final = "set RAGSTONE_RAG_STORE_PATH to a folder on a local disk"

Signature = tuple[int, int, int, bool]
"""Inode, size and time of a file, and whether it has a log."""


def prepare(path: Path, *, allow_network: bool) -> bool:
    """Create the file if it is missing, and return whether it can be written. `StoreError` if it cannot be read."""
    folder = path.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_dir():
            raise StoreError(f"{path} is a folder", hint="give the path of a file")
        if not allow_network and (kind := network_type(folder)):
            raise StoreError(
                f"{folder} is on a network or shared file system ({kind}), where a database can lose writes",
                hint="set RAGSTONE_RAG_STORE_PATH to a folder on a local disk",
            )
        if not path.exists():
            _create(path)
    except OSError as error:
        raise StoreError(
            f"cannot write to {folder}: {error.strerror}", hint=WRITABLE_HINT
        ) from error
    if not os.access(path, os.R_OK):
        raise StoreError(
            f"cannot read {path}", hint="make the folder and its files readable for this user"
        )
    return os.access(folder, os.W_OK) and os.access(path, os.W_OK)


def _create(path: Path) -> None:
    try:
        # Only a new file: closing a descriptor of an open database would drop SQLite's locks.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return  # another process created it


def read_only_uri(path: Path, *, alone: bool = False) -> str:
    """Return the URI that opens a file which cannot be written.

    SQLite needs a writable folder, or an existing index of the log, to read a log. Without either, a file without a
    log is opened as one that never changes; a file with a log is refused, since part of its data would be missing.
    `alone`: the index of a log cannot be created because the disk is full.
    """
    wal, shm = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    uri = path.absolute().as_uri() + "?mode=ro"
    if not alone and (os.access(path.parent, os.W_OK) or (wal.exists() and shm.exists())):
        return uri
    if size_of(wal):
        raise StoreError(
            f"{path} has writes in its log that are not in the file, and the folder cannot be written",
            hint="run `ragstone status` once where the folder is writable and has room",
        )
    return uri + "&immutable=1"


def signature(path: Path) -> Signature:
    """Return a value that changes when another process changes the file."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0, False)
    return (
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        path.with_name(path.name + "-wal").exists(),
    )


def network_type(folder: Path, *, mounts: Path = _MOUNTS) -> str:
    """Return the name of the network file system of a folder, empty if it is local or unknown."""
    if str(folder).startswith("\\\\"):
        return "a network share"
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""  # not Linux
    real_folder = os.path.join(os.path.realpath(folder), "")
    longest, kind = "", ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) > 2:
            mount = os.path.join(fields[1].replace("\\040", " "), "")
            if real_folder.startswith(mount) and len(mount) >= len(longest):
                longest, kind = mount, fields[2]
    return kind if kind in NETWORK_TYPES else ""


def size_of(path: Path) -> int:
    """Return the size of a file in bytes, 0 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
