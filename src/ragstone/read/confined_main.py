"""The confined process: reads one file for each request."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Final

from ragstone.errors import ReadError, Reason
from ragstone.read.confine import confine
from ragstone.read.confined_reader import (
    MAX_TEXT_BYTES,
    ReadFailure,
    ReadReply,
    ReadRequest,
)
from ragstone.read.file_formats import FORMATS, Format, ReadFunction
from ragstone.read.messages import Message, decode
from ragstone.read.worker_loop import WorkerLoop
from ragstone.types import Document

_MAX_MEMORY_BYTES: Final = 400 << 20
"""A process that used more is replaced: its freed memory may be fragmented."""


def main() -> None:
    """Load all readers, give up every right that reading does not need, then answer requests."""
    loop = WorkerLoop()
    readers = {each.name: _load(each) for each in FORMATS}
    confine(sys.path)

    def handle(header: object, data: bytes) -> Message:
        request = decode(ReadRequest, header)
        return _read(readers.get(request.format), data, request.uri)

    loop.run(handle, max_memory=_MAX_MEMORY_BYTES)


def _load(format_: Format) -> ReadFunction | None:
    """Return the reading function of a format, or None if its package is not installed."""
    try:
        return format_.load()
    except (ImportError, OSError):
        return None


def _read(read: ReadFunction | None, data: bytes, uri: str) -> Message:
    """Return the reply for one file."""
    if read is None:
        return _fail(
            "unsupported",
            "the package that reads this format is not installed",
        )
    try:
        return _reply(read(data, uri))
    except ReadError as error:
        return _fail(error.reason, error.message)
    except MemoryError:
        return _fail("memory", "reading it takes too much memory")
    except Exception as error:  # noqa: BLE001 - a parser on a hostile file may raise anything
        return _fail(
            "damaged",
            f"it cannot be read: {type(error).__name__}: {error}"[:300],
        )


def _reply(document: Document) -> Message:
    text = document.text.encode("utf-8", "replace")
    if len(text) > MAX_TEXT_BYTES:
        return _fail("too-big", f"its text is larger than {MAX_TEXT_BYTES >> 20} MB")
    return ReadReply(replace(document, text=""), None), text


def _fail(reason: Reason, message: str) -> Message:
    return ReadReply(None, ReadFailure(reason, message)), b""
