"""The home folder `.ragstone/`: private, and ignored by version control. Checks of its database file.

The database is checked by `stat` only before SQLite opens it: the file itself is never opened.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from ragstone.errors import StoreError

NAME: Final = ".ragstone"
DATABASE: Final = "ragstone.db"
VECTORS: Final = "vectors"
WORDS: Final = "words"
EMBED_LOCK: Final = "embed.lock"
EVENTS: Final = "events.jsonl"
SIZES: Final = "sizes.jsonl"
BACKGROUND_LOCK: Final = "background.lock"
BACKGROUND_LOG: Final = "background.log"
SERVER_LOCK: Final = "server.lock"
SERVER_ADDRESS: Final = "server.json"
SEAL: Final = "seal"
IGNORE_FILE: Final = ".gitignore"
_FILES: Final = (
    VECTORS,
    WORDS,
    EMBED_LOCK,
    BACKGROUND_LOCK,
    BACKGROUND_LOG,
    SERVER_LOCK,
    SERVER_ADDRESS,
    SEAL,
)
_OTHERS: Final = 0o077
_IGNORE: Final = """\
# Made by Ragstone. `ragstone sync` makes the index of files again; documents that were added by hand
# (`ragstone add`) exist only here: `ragstone export` or `ragstone backup` saves them.
*
"""


def make_home(home: Path, *, trusted: bool = False) -> Path:
    """Return the home folder; create it with private permissions if it is missing.

    A symbolic link may have come with a clone and lead anywhere. The folder itself may be a link only if the user
    named it (`trusted`); links inside of it are refused.
    """
    if not trusted and home.is_symlink():
        raise _link_error(home, "or name its target with RAGSTONE_RAG_STORE_PATH")
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if home.name == NAME:  # a folder with another name may have other files of the user
            for folder in (home, home / VECTORS, home / WORDS):
                _make_private(folder)
        link = next(_links(home), None)
        if link is not None:
            raise _link_error(link, "and `ragstone sync` makes the index anew")
        database = home / DATABASE
        if database.is_fifo() or database.is_socket():
            raise StoreError(
                f"{database} is no regular file, so no index is read from it",
                hint="remove it, and `ragstone sync` makes the index anew",
            )
        _ignore(home)
    except (NotADirectoryError, FileExistsError) as error:
        raise StoreError(
            f"{home} is not a folder",
            hint="move that file away, or set RAGSTONE_RAG_STORE_PATH",
        ) from error
    except OSError as error:
        raise StoreError(
            f"cannot write to {home}: {os.strerror(error.errno or 0)}",
            hint="make the folder writable, or set RAGSTONE_RAG_STORE_PATH to a folder that is",
        ) from error
    return home


def _make_private(folder: Path) -> None:
    """Remove the permissions of other users from a folder; the permissions of this user stay."""
    if os.name != "posix":
        return
    with suppress(OSError):  # a missing folder, a link, or a read-only disk
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            status = os.fstat(descriptor)
            if status.st_mode & _OTHERS and status.st_uid == os.geteuid():
                os.fchmod(descriptor, status.st_mode & 0o700)
        finally:
            os.close(descriptor)


def _links(home: Path) -> Iterator[Path]:
    """Yield symbolic links among the files of Ragstone, and all links below the index folders."""
    for entry in list(os.scandir(home)):
        if entry.is_symlink() and (entry.name in _FILES or entry.name.startswith(DATABASE)):
            yield home / entry.name
    for index in (VECTORS, WORDS):
        for folder, below, files in os.walk(home / index):
            for name in (*below, *files):
                if os.path.islink(os.path.join(folder, name)):
                    yield Path(folder, name)


def _link_error(path: Path, alternative: str) -> StoreError:
    return StoreError(
        f"{path} is a symbolic link, which may have come with the folder and is not followed",
        hint=f"remove it, {alternative}",
    )


def _ignore(home: Path) -> None:
    """Write `.gitignore`; if that fails, an existing index can still be read."""
    try:
        with open(home / IGNORE_FILE, "x", encoding="utf-8") as file:
            file.write(_IGNORE)
    except FileExistsError:
        return
    except OSError:
        if not (home / DATABASE).exists():
            raise


def machine_path(path: str) -> str:
    """Return a path with the name of this machine, as a store that several machines share remembers it."""
    return f"{socket.gethostname()}:{path}"


def size_on_disk(home: Path) -> int:
    """Return the size of all files in the home folder in bytes, by `stat` only."""
    total = 0
    for folder, _, names in os.walk(home):
        for name in names:
            try:
                total += os.stat(os.path.join(folder, name)).st_size
            except OSError:
                continue  # a side file that was removed
    return total


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
    if _has_content(wal):
        raise StoreError(
            f"{path} has writes in its log that are not in the file, and the folder cannot be written",
            hint="run `ragstone status` once where the folder is writable and has room",
        )
    return uri + "&immutable=1"


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


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
