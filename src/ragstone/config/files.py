"""The text of a settings file, up to a size."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from ragstone.errors import ConfigError

MAX_YAML_BYTES: Final = 256_000
"""YAML is slow to parse."""
PROJECT_LAYER: Final = "project file"
"""First words of the origin of a value in a file that may have come with a clone."""


def read_settings_file(path: Path, max_bytes: int, *, allow_link: bool) -> str | None:
    """Return the text of a settings file, None if there is none; raise `ConfigError` if it cannot be read.

    A link may be the user's own; in a project it may have come with a clone and lead anywhere.
    """
    if not allow_link and path.is_symlink():
        hint = "replace the link by the file itself"
        raise ConfigError(f"The settings file {path} is a link and is not read.", hint=hint)
    data = read_bytes(path, max_bytes)
    if data is None:
        return None
    if len(data) > max_bytes:
        raise ConfigError(f"The settings file {path} is larger than {max_bytes:,} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"The settings file {path} is not UTF-8 text (byte {error.start})."
        ) from error


def read_bytes(path: Path, max_bytes: int) -> bytes | None:
    """Return the bytes of a file, at most `max_bytes` + 1; None if there is no such file."""
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError(f"The settings file {path} is not a regular file.")
            return file.read(max_bytes + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(
            f"The settings file {path} cannot be read: {error.strerror or error}."
        ) from error


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file; a FIFO does not wait for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
