"""Recognises text in pictures and scanned pages, in a confined process and within limits for each file.

Each page is one request. A page that crashes the process, or takes too long, costs only itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.errors import ReadError, Reason
from ragstone.read.file_formats import name_of
from ragstone.read.messages import decode
from ragstone.read.page_text import PAGE_BREAK, describe_pages
from ragstone.read.worker_process import WorkerFailed, WorkerProcess
from ragstone.types import Document, Mark, OcrLimits

OCR_MEMORY_BYTES: Final = 2 << 30
"""Of address space. A full page needs about 1 GB of memory, most of it for finding the lines."""
PAGE_SECONDS: Final = 60.0
_MAX_TEXT_BYTES: Final = 4 << 20
_MAX_FAILURES: Final = 5
_NOT_RECOGNISED: Final = "no text could be recognised"


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The number of a PDF's page, or 0 for a picture; the bytes of the file are the payload."""

    page: int = 0


@dataclass(frozen=True, slots=True)
class PageReply:
    """Why a page gave no text; without a reason its text is the payload."""

    reason: Reason | None = None
    message: str = ""


@dataclass(slots=True)
class _PagesOutcome:
    """The recognised texts by page, the failures, and the pages that the limits left out."""

    texts: dict[int, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)

    def remarks(self, before: Sequence[str]) -> tuple[str, ...]:
        """Return the remarks of the report; recognised pages replace the remark that they have no text."""
        remarks = list(before)
        if self.texts:
            remarks = [remark for remark in before if "no text layer" not in remark]
            remarks.append(f"{describe_pages(list(self.texts))} been recognised (OCR)")
        if self.skipped:
            remarks.append(
                f"{describe_pages(self.skipped)} no text: the limits of OCR are reached"
            )
        return (*remarks, *self.failures[:_MAX_FAILURES])


class OcrReader:
    """Recognises pages one at a time in a confined process."""

    def __init__(
        self, command: Sequence[str] | None = None, *, page_seconds: float = PAGE_SECONDS
    ) -> None:
        """Keep the command and the seconds for one page; nothing is started yet."""
        self._worker = WorkerProcess(
            "ragstone.read.ocr_main",
            seconds=page_seconds,
            max_reply=_MAX_TEXT_BYTES,
            command=command,
        )

    @property
    def pid(self) -> int | None:
        """Return the id of the process, or None if none is running."""
        return self._worker.pid

    def close(self) -> None:
        """End the process; the next page starts another."""
        self._worker.close()

    def read_image(self, data: bytes, uri: str) -> Document:
        """Return the document of a picture; raise `ReadError` if it has no text."""
        text = self._recognise(data, 0)
        if not text.strip():
            raise ReadError(f"the picture: {_NOT_RECOGNISED}", reason="no-text-layer")
        remarks = ("its text was recognised (OCR)",)
        return Document(uri, text, "doc", "image", name_of(uri), remarks=remarks)

    def fill_pages(self, document: Document, data: bytes, limits: OcrLimits) -> Document:
        """Return a PDF's document with the text of its pages that had none; `ReadError` if it has no text at all."""
        texts = _split_pages(document)
        blank = [number for number, text in enumerate(texts, 1) if not text.strip()]
        outcome = self._recognise_pages(data, blank, limits)
        for number, text in outcome.texts.items():
            texts[number - 1] = text
        if not any(text.strip() for text in texts):
            reason = (*outcome.failures, _NOT_RECOGNISED)[0]
            raise ReadError(f"no page has a text layer, and {reason}", reason="no-text-layer")
        return _join_pages(document, texts, outcome.remarks(document.remarks))

    def _recognise_pages(
        self, data: bytes, numbers: Sequence[int], limits: OcrLimits
    ) -> _PagesOutcome:
        """Recognise pages in their order until the limits are reached."""
        outcome = _PagesOutcome(skipped=list(numbers))
        deadline = time.monotonic() + limits.seconds
        for number in numbers[: limits.pages]:
            if time.monotonic() > deadline:
                break
            outcome.skipped.remove(number)
            try:
                text = self._recognise(data, number)
            except ReadError as error:
                outcome.failures.append(f"page {number}: {error.message}")
                continue
            if text.strip():
                outcome.texts[number] = text
        return outcome

    def _recognise(self, data: bytes, page: int) -> str:
        try:
            header, payload = self._worker.call(PageRequest(page), data)
            reply = decode(PageReply, header)
            text = payload.decode("utf-8")
        except WorkerFailed as failure:
            message = "recognising its text takes too long"
            if failure.reason != "timeout":
                message = "the process that recognises its text failed"
            raise ReadError(message, reason=failure.reason) from failure
        except ValueError as error:
            self._worker.close()
            raise ReadError("an invalid reply", reason="crash") from error
        if reply.reason is not None:
            raise ReadError(reply.message[:300], reason=reply.reason)
        return text


def _split_pages(document: Document) -> list[str]:
    """Return the text of each page."""
    starts = [mark.start for mark in document.marks]
    ends = [start - len(PAGE_BREAK) for start in starts[1:]]
    ends.append(len(document.text))
    return [document.text[start:end] for start, end in zip(starts, ends, strict=True)]


def _join_pages(document: Document, texts: Sequence[str], remarks: Sequence[str]) -> Document:
    """Return the document with these texts of its pages, and marks where they start now."""
    marks: list[Mark] = []
    start = 0
    for mark, text in zip(document.marks, texts, strict=True):
        marks.append(replace(mark, start=start))
        start += len(text) + len(PAGE_BREAK)
    return replace(
        document, text=PAGE_BREAK.join(texts), marks=tuple(marks), remarks=tuple(remarks)
    )


OCR_READER: Final = OcrReader()
