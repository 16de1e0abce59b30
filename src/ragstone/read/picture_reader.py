"""Pictures of the pages of a PDF, drawn in a confined process and kept for a while."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.errors import ReadError, Reason
from ragstone.read.messages import decode
from ragstone.read.worker_process import WorkerFailed, WorkerProcess
from ragstone.types.bounded_cache import BoundedCache

PICTURE_SECONDS: Final = 30.0
_MAX_PICTURE_BYTES: Final = 8 << 20
_MAX_TERMS: Final = 100
_KEPT_PICTURES: Final = 24
_PNG_START: Final = b"\x89PNG\r\n\x1a\n"
_FAILED: Final = "the process that draws the page failed"

_PictureKey = tuple[str, int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PictureRequest:
    """The number of a page and the terms to mark; the bytes of the file are the payload."""

    page: int
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PictureReply:
    """Why a page gave no picture; without a reason its PNG is the payload."""

    reason: Reason | None = None
    message: str = ""


class PictureReader:
    """Draws pages one at a time in a confined process; the last pictures are kept."""

    def __init__(
        self, command: Sequence[str] | None = None, *, seconds: float = PICTURE_SECONDS
    ) -> None:
        """Keep the command and the seconds for one page; nothing is started yet."""
        self._worker = WorkerProcess(
            "ragstone.read.picture_main",
            seconds=seconds,
            max_reply=_MAX_PICTURE_BYTES,
            command=command,
        )
        self._pictures: BoundedCache[_PictureKey, bytes] = BoundedCache(_KEPT_PICTURES)

    @property
    def pid(self) -> int | None:
        """Return the id of the process, or None if none is running."""
        return self._worker.pid

    def close(self) -> None:
        """End the process; the next page starts another."""
        self._worker.close()

    def draw(self, data: bytes, page: int, terms: Sequence[str] = ()) -> bytes:
        """Return a page of a PDF, from 1 on, as a PNG with these terms marked; raise `ReadError` if it cannot be drawn."""
        request = PictureRequest(page, tuple(sorted(set(terms)))[:_MAX_TERMS])
        key = (hashlib.sha256(data).hexdigest(), page, request.terms)
        picture = self._pictures.get(key)
        if picture is None:
            picture = self._pictures[key] = self._draw(data, request)
        return picture

    def _draw(self, data: bytes, request: PictureRequest) -> bytes:
        try:
            header, picture = self._worker.call(request, data)
            reply = decode(PictureReply, header)
        except WorkerFailed as failure:
            message = "drawing the page takes too long"
            if failure.reason != "timeout":
                message = _FAILED
            raise ReadError(message, reason=failure.reason) from failure
        except ValueError as error:
            self._worker.close()
            raise ReadError(_FAILED, reason="crash") from error
        if reply.reason is not None:
            raise ReadError(reply.message[:300], reason=reply.reason)
        if not picture.startswith(_PNG_START):
            self._worker.close()
            raise ReadError(_FAILED, reason="crash")
        return picture


PICTURE_READER: Final = PictureReader()
