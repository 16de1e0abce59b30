"""The home folder `.ragstone/`: private, and ignored by version control."""

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


def database_files(home: Path) -> tuple[Path, ...]:
    """Return the files that only SQLite may open: the database, its side files and its lock."""
    return tuple(home / f"{DATABASE}{suffix}" for suffix in ("", "-wal", "-shm", ".lock"))


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
