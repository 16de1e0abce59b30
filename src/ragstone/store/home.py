"""The home folder `.ragstone/`: private, kept out of version control by a file of its own."""

from __future__ import annotations

import os
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
_OTHERS: Final = 0o077
_IGNORE: Final = """\
# Made by Ragstone. What it knows of files comes back with `ragstone sync`; documents that were given to it
# (`ragstone add`) are kept here alone: `ragstone export` or `ragstone backup` saves them.
*
"""


def make_home(home: Path, *, trusted: bool = False) -> Path:
    """Return the home folder, made now with private permissions if it was not there.

    A link may have come with a clone and lead anywhere: in place of the folder only one that the user named is followed
    (`trusted`), inside it none.
    """
    if not trusted and home.is_symlink():
        raise _a_link(home, "or name its target with RAGSTONE_RAG_STORE_PATH")
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if home.name == NAME:  # a folder that the user named may hold more than what is ours
            _tighten(home)
            _tighten(home / VECTORS)
            _tighten(home / WORDS)
        link = next(_links(home), None)
        if link is not None:
            raise _a_link(link, "and `ragstone sync` makes the index anew")
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
    with suppress(OSError):  # a folder that is not there, a link, a disk that is read-only now: it stays as it is
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            seen = os.fstat(descriptor)
            if seen.st_mode & _OTHERS and seen.st_uid == os.geteuid():
                os.fchmod(descriptor, seen.st_mode & 0o700)
        finally:
            os.close(descriptor)


def _links(home: Path) -> Iterator[Path]:
    """Yield the links in the places where files of ours are opened: the files themselves, and all below the indexes."""
    for entry in list(os.scandir(home)):  # all of it, so that it is closed
        if entry.is_symlink() and (entry.name in (VECTORS, WORDS, EMBED_LOCK) or entry.name.startswith(DATABASE)):
            yield home / entry.name
    for index in (VECTORS, WORDS):
        for folder, below, files in os.walk(home / index):
            for name in (*below, *files):
                if os.path.islink(os.path.join(folder, name)):
                    yield Path(folder, name)


def _a_link(path: Path, otherwise: str) -> StoreError:
    return StoreError(
        f"{path} is a symbolic link, which may have come with the folder and is not followed",
        hint=f"remove it, {otherwise}",
    )


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
