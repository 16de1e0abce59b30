"""Which reader a file gets, by its name and its first bytes, and which files are none's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.errors import ReadError
from ragstone.read import decode
from ragstone.read.decode import BINARY
from ragstone.read.formats import Format, format_of
from ragstone.read.kinds import refusal
from ragstone.read.plain import PlainReader

if TYPE_CHECKING:
    from ragstone.protocols import Reader
    from ragstone.types import Document

__all__ = ["BINARY", "is_binary", "reader_for", "refusal"]

_PLAIN = PlainReader()


def reader_for(uri: str, data: bytes = b"") -> Reader:
    """Return the reader for a file of this name that begins with these bytes; `ReadError` when no reader takes it."""
    reason = refusal(uri)
    if reason is not None:
        raise ReadError(reason, hint="convert it to a format that is read, such as PDF or text", reason="unsupported")
    found = format_of(uri, data)
    return _PLAIN if found is None else FormatReader(found)


def is_binary(data: bytes, uri: str = "") -> bool:
    """Return whether bytes are neither text nor of a format that is read; a name that promises one is believed."""
    return format_of(uri, data) is None and decode.is_binary(data, uri)


@dataclass(frozen=True, slots=True)
class FormatReader:
    """Reads one format, in the child process."""

    format: Format

    def read(self, data: bytes, uri: str) -> Document:
        """Return the whole document, or raise `ReadError`."""
        from ragstone.read.child import read_in_child  # on first need: it brings threads and processes

        return read_in_child(self.format.name, data, uri)
