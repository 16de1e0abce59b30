"""Files read as a sync would read them, so that kind and language are the engine's own choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.types import Document


def read_file(path: Path, uri: str) -> Document:
    """Return a file as a document known by this uri, or raise what `unreadable` names."""
    from ragstone.errors import ReadError
    from ragstone.read.readers import is_binary, reader_for

    data = path.read_bytes()
    if is_binary(data, uri):
        raise ReadError(f"{uri} is binary")
    return reader_for(uri, data).read(data, uri)


def unreadable() -> tuple[type[Exception], ...]:
    """Return the errors that mean: this file has no text."""
    from ragstone.errors import ReadError

    return (ReadError, OSError)
