"""The confined process that draws pages: one page for each request."""

from __future__ import annotations

import sys
from typing import Final

from ragstone.errors import ReadError, Reason
from ragstone.read.confine import confine
from ragstone.read.messages import Message, decode
from ragstone.read.page_picture import draw_page
from ragstone.read.picture_reader import PictureReply, PictureRequest
from ragstone.read.worker_loop import WorkerLoop

_MAX_USED_BYTES: Final = 400 << 20
"""A process that used more is replaced: its freed memory may be fragmented."""


def main() -> None:
    """Give up every right that drawing does not need, then answer requests."""
    loop = WorkerLoop()
    confine(sys.path)
    loop.run(_handle, max_memory=_MAX_USED_BYTES)


def _handle(header: object, data: bytes) -> Message:
    request = decode(PictureRequest, header)
    try:
        return PictureReply(), draw_page(data, request.page, frozenset(request.terms))
    except ReadError as error:
        return _fail(error.reason, error.message)
    except MemoryError:
        return _fail("memory", "drawing the page takes too much memory")
    except Exception as error:  # noqa: BLE001 - a hostile file may raise anything
        return _fail("damaged", f"the page cannot be drawn: {type(error).__name__}"[:300])


def _fail(reason: Reason, message: str) -> Message:
    return PictureReply(reason, message), b""
