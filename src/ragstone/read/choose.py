"""Which reader a file gets, by its name, and which files are none's."""

from __future__ import annotations

from ragstone.errors import ReadError
from ragstone.protocols import Reader
from ragstone.read.decode import BINARY, is_binary
from ragstone.read.kinds import refusal
from ragstone.read.plain import PlainReader

__all__ = ["BINARY", "is_binary", "reader_for", "refusal"]

_PLAIN = PlainReader()


def reader_for(uri: str) -> Reader:
    """Return the reader for a file of this name, or raise `ReadError` when no reader takes it."""
    reason = refusal(uri)
    if reason is not None:
        raise ReadError(reason, hint="only text files are read")
    return _PLAIN
