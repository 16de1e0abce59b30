"""The home folder `.ragstone/`: private, kept out of version control by a file of its own."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from ragstone.errors import StoreError

NAME: Final = ".ragstone"
DATABASE: Final = "ragstone.db"
VECTORS: Final = "vectors"
WORDS: Final = "words"
EMBED_LOCK: Final = "embed.lock"
_OTHERS: Final = 0o077
_IGNORE: Final = """\
# Made by Ragstone. What it knows of files comes back with `ragstone sync`; documents that were given to it
# (`ragstone add`) are kept here alone: `ragstone export` or `ragstone backup` saves them.
*
"""


def make_home(home: Path) -> Path:
    """Return the home folder, made now with private permissions if it was not there."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if home.name == NAME:  # a folder that the user named may hold more than what is ours
            _tighten(home)
            _tighten(home / VECTORS)
            _tighten(home / WORDS)
        _ignore(home)
    except (NotADirectoryError, FileExistsError) as error:
        raise StoreError(
            f"{home} is not a folder", hint="move that file away, or set RAGSTONE_RAG_STORE_PATH"
        ) from error
    except OSError as error:
        raise StoreError(
            f"cannot write to {home}: {os.strerror(error.errno or 0)}",
            hint="make the folder writable, or set RAGSTONE_RAG_STORE_PATH to a folder that is",
        ) from error
    return home


def _tighten(folder: Path) -> None:
    """Take from others what they may do with a folder of ours; our own bits stay, read-only ones too."""
    if os.name != "posix":
        return
    with suppress(FileNotFoundError):
        seen = os.lstat(folder)
        if seen.st_mode & _OTHERS and seen.st_uid == os.geteuid():
            with suppress(OSError):  # a disk that is read-only now stays as it is
                os.chmod(folder, seen.st_mode & 0o700)


def _ignore(home: Path) -> None:
    """Write the file that keeps the folder out of version control; without it an index can still be read."""
    try:
        with open(home / ".gitignore", "x", encoding="utf-8") as file:
            file.write(_IGNORE)
    except FileExistsError:
        return
    except OSError:
        if not (home / DATABASE).exists():
            raise


def database_files(home: Path) -> tuple[Path, ...]:
    """Return the files that no other part may ever open: the database and what SQLite keeps beside it."""
    return tuple(home / f"{DATABASE}{suffix}" for suffix in ("", "-wal", "-shm", ".lock"))


def size_on_disk(home: Path) -> int:
    """Return the bytes of everything in the home folder, by stat only."""
    total = 0
    for folder, _, names in os.walk(home):
        for name in names:
            try:
                total += os.stat(os.path.join(folder, name)).st_size
            except OSError:
                continue  # a side file that went away meanwhile
    return total
