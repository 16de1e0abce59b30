"""The text of a settings file, up to a size."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ragstone.errors import ConfigError

MAX_YAML_BYTES: Final = 256_000
"""YAML is slow to parse."""


def read_settings_file(path: Path, max_bytes: int) -> str | None:
    """Return the text of a settings file, None if there is none; raise `ConfigError` if it cannot be read."""
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
        with path.open("rb") as file:
            return file.read(max_bytes + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(
            f"The settings file {path} cannot be read: {error.strerror or error}."
        ) from error
