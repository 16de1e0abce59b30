"""The home folder `.ragstone/`: private, kept out of version control by a file of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ragstone.errors import StoreError

DATABASE: Final = "ragstone.db"
VECTORS: Final = "vectors"
EMBED_LOCK: Final = "embed.lock"
_IGNORE: Final = "# Made by Ragstone: everything here can be made again from the folder around it.\n*\n"


def make_home(home: Path) -> Path:
    """Return the home folder, made now with private permissions if it was not there."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore = home / ".gitignore"
        if not ignore.exists():
            ignore.write_text(_IGNORE, encoding="utf-8")
    except NotADirectoryError as error:
        raise StoreError(
            f"{home} is not a folder", hint="move that file away, or set RAGSTONE_RAG_STORE_PATH"
        ) from error
    except FileExistsError as error:
        raise StoreError(
            f"{home} is not a folder", hint="move that file away, or set RAGSTONE_RAG_STORE_PATH"
        ) from error
    except OSError as error:
        raise StoreError(
            f"cannot write to {home}: {os.strerror(error.errno or 0)}",
            hint="make the folder writable, or set RAGSTONE_RAG_STORE_PATH to a folder that is",
        ) from error
    return home


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
