"""Reading untrusted documents in a confined process.

The reply is checked like any foreign input. If the process crashes, hangs, uses too much memory or
sends an invalid reply, the file gets a `ReadError` and the next file gets a new process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragstone.errors import ReadError, Reason
from ragstone.read.messages import decode
from ragstone.read.worker_process import (
    IDLE_SECONDS,
    WorkerFailed,
    WorkerProcess,
)
from ragstone.types import Document

DEADLINE_SECONDS: Final = 30.0
MAX_TEXT_BYTES: Final = 64 << 20
_MAX_TITLE: Final = 1_000
_MAX_REMARK: Final = 2_000
_INVALID: Final = "the process that read it sent an invalid reply"
_MESSAGES: Final[dict[Reason, str]] = {
    "timeout": "reading it takes too long",
    "memory": "reading it takes too much memory",
    "unsupported": "no process could be started to read it",
}
_NO_PYTHON: Final = (
    "files of this format are read by a second Python, which a frozen program cannot start"
)


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """The format of a file and its uri; the bytes of the file are the payload."""

    format: str
    uri: str


@dataclass(frozen=True, slots=True)
class ReadFailure:
    """Why a file gave no document."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A document without its text, which is the payload; or a failure."""

    document: Document | None
    failure: ReadFailure | None


class ConfinedReader:
    """Reads files one at a time in a confined process."""

    def __init__(
        self,
        command: Sequence[str] | None = None,
        *,
        deadline: float = DEADLINE_SECONDS,
        idle: float = IDLE_SECONDS,
    ) -> None:
        """Keep the seconds for one file and the seconds that an idle process is kept."""
        self._worker = WorkerProcess(
            "ragstone.read.confined_main",
            seconds=deadline,
            idle_seconds=idle,
            max_reply=MAX_TEXT_BYTES,
            command=command,
        )

    @property
    def pid(self) -> int | None:
        """Return the id of the process, or None if none is running."""
        return self._worker.pid

    def read(self, format_name: str, data: bytes, uri: str) -> Document:
        """Return the document in the bytes of a file, or raise `ReadError`."""
        try:
            header, payload = self._worker.call(ReadRequest(format_name, uri), data)
        except WorkerFailed as failure:
            message = _MESSAGES.get(failure.reason, "the process that read it crashed")
            hint = _NO_PYTHON if failure.reason == "unsupported" else ""
            raise ReadError(message, hint=hint, reason=failure.reason) from failure
        try:
            reply = decode(ReadReply, header)
            document = _complete(reply, payload.decode("utf-8"), uri)
        except ValueError as error:
            self._worker.close()
            raise ReadError(_INVALID, reason="crash") from error
        if document is not None:
            return document
        failed = reply.failure or ReadFailure("crash", _INVALID)
        if failed.reason in ("memory", "crash"):
            self._worker.close()
        raise ReadError(failed.message[:_MAX_REMARK], reason=failed.reason)

    def close(self) -> None:
        """End the process; the next file starts another."""
        self._worker.close()

    def kill(self) -> None:
        """End the process at once, even while a thread waits for it."""
        self._worker.kill()


def _complete(reply: ReadReply, text: str, uri: str) -> Document | None:
    """Return the document with its text, or None for a failure. Raise `ValueError` if its marks are invalid."""
    if reply.document is None:
        return None
    starts = [0, *(mark.start for mark in reply.document.marks), len(text)]
    if starts != sorted(starts):
        raise ValueError("marks are out of order or outside the text")
    remarks = tuple(remark[:_MAX_REMARK] for remark in reply.document.remarks)
    title = reply.document.title[:_MAX_TITLE]
    return replace(
        reply.document,
        uri=uri,
        text=text,
        title=title,
        remarks=remarks,
        symbols=None,
    )


CONFINED_READER: Final = ConfinedReader()
