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
WRITABLE_HINT: Final = "make the folder and its files writable, or set RAGSTONE_RAG_STORE_PATH to a folder that is"

Signature = tuple[int, int, int, bool]
"""What tells that a file, or whether a log is beside it, has changed."""


def prepare(path: Path, *, allow_network: bool) -> bool:
    """Return whether the file can be written, an empty private one made now if there was none.

    One that is there and can only be read is good to read from; `StoreError` where a database cannot live.
    """
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
        raise StoreError(f"cannot write to {folder}: {error.strerror}", hint=WRITABLE_HINT) from error
    if not os.access(path, os.R_OK):
        raise StoreError(f"cannot read {path}", hint="make the folder and its files readable for this user")
    return os.access(folder, os.W_OK) and os.access(path, os.W_OK)


def _create(path: Path) -> None:
    try:
        # Only ever a file that nobody had: closing a descriptor of a live one would drop SQLite's locks.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return  # another process was quicker


def read_only_uri(path: Path, *, alone: bool = False) -> str:
    """Return how SQLite is asked to open a file that cannot be written.

    To follow a log, SQLite needs the log's index beside it, and makes one where there is none. Where it cannot, a file
    without a log is taken as one that never changes, and a file with one is refused: half of it may be missing.
    `alone`: it cannot, because there is no room.
    """
    wal, shm = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    uri = path.absolute().as_uri() + "?mode=ro"
    if not alone and (os.access(path.parent, os.W_OK) or (wal.exists() and shm.exists())):
        return uri
    if size_of(wal):
        raise StoreError(
            f"{path} has writes in its log that were not brought into the file, and the folder cannot be written",
            hint="run `ragstone status` once where the folder is writable and has room",
        )
    return uri + "&immutable=1"


def signature(path: Path) -> Signature:
    """Return what another process cannot change in a file without changing this."""
    try:
        seen = path.stat()
    except OSError:
        return (0, 0, 0, False)
    return (seen.st_ino, seen.st_size, seen.st_mtime_ns, path.with_name(path.name + "-wal").exists())


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
