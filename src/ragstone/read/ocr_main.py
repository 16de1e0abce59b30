"""The confined process that recognises text: one page or picture for each request."""

from __future__ import annotations

import sys
from typing import Final

from ragstone.errors import ReadError, Reason
from ragstone.read.confine import confine
from ragstone.read.messages import Message, decode
from ragstone.read.ocr import recognise_image, recognise_page
from ragstone.read.ocr_reader import OCR_MEMORY_BYTES, PageReply, PageRequest
from ragstone.read.worker_loop import WorkerLoop

_MAX_USED_BYTES: Final = 1536 << 20
"""A process that used more is replaced: its freed memory may be fragmented."""


def main() -> None:
    """Give up every right that recognition does not need, then answer requests; the first one loads the models."""
    loop = WorkerLoop()
    confine(sys.path, memory=OCR_MEMORY_BYTES)
    loop.run(_handle, max_memory=_MAX_USED_BYTES)


def _handle(header: object, data: bytes) -> Message:
    request = decode(PageRequest, header)
    try:
        text = recognise_page(data, request.page) if request.page else recognise_image(data)
    except ReadError as error:
        return _fail(error.reason, error.message)
    except MemoryError:
        return _fail("memory", "recognising its text takes too much memory")
    except Exception as error:  # noqa: BLE001 - a decoder on a hostile file may raise anything
        return _fail("damaged", f"it cannot be recognised: {type(error).__name__}"[:300])
    return PageReply(), text.encode("utf-8", "replace")


def _fail(reason: Reason, message: str) -> Message:
    return PageReply(reason, message), b""
