"""Settings files as text: bounded, and every way of not being one told in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ragstone.errors import ConfigError

MAX_YAML_BYTES: Final = 256_000
"""YAML is slow to parse, and such a file is a page."""


def file_text(path: Path, most_bytes: int) -> str | None:
    """Return what a settings file says; None if there is no such file."""
    data = file_bytes(path, most_bytes)
    if data is None:
        return None
    if len(data) > most_bytes:
        raise ConfigError(f"The settings file {path} is larger than {most_bytes:,} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"The settings file {path} is not UTF-8 text (byte {error.start}).") from error


def file_bytes(path: Path, most: int) -> bytes | None:
    """Return the bytes of a file, one more than `most` where there are more; None if there is no such file."""
    try:
        with path.open("rb") as file:
            return file.read(most + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"The settings file {path} cannot be read: {error.strerror or error}.") from error
