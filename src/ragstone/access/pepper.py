"""The pepper of the keys: a random file in the home folder, so that a copy of the database alone is useless."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from ragstone.errors import StoreError

FILE_NAME: Final = "pepper"
_BYTES: Final = 32
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def load_pepper(home: Path) -> bytes:
    """Return the pepper of a home folder; it is made on first use, readable by the user only."""
    path = home / FILE_NAME
    try:
        return _read(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _unusable(path, error) from error
    return _create(path)


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | _NOFOLLOW)
    try:
        pepper = os.read(descriptor, _BYTES + 1)
    finally:
        os.close(descriptor)
    if len(pepper) != _BYTES:
        raise StoreError(
            f"{path} is damaged", hint="restore it, or remove it and make new keys"
        )
    return pepper


def _create(path: Path) -> bytes:
    """Write a pepper under another name first: another process never reads half of it."""
    pepper = secrets.token_bytes(_BYTES)
    draft = path.with_name(f"{FILE_NAME}.{secrets.token_hex(8)}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
        descriptor = os.open(draft, flags, 0o600)
        try:
            os.write(descriptor, pepper)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        try:
            os.link(draft, path)
        finally:
            os.unlink(draft)
    except FileExistsError:
        return _read(path)  # another process was faster
    except OSError as error:
        raise _unusable(path, error) from error
    return pepper


def _unusable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{path} cannot be used: {error.strerror or error}", hint="set RAGSTONE_ACCESS_PEPPER"
    )
