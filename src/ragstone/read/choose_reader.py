"""The reader for each file, chosen by its name and its first bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ragstone.config import is_ocr_installed
from ragstone.errors import ReadError
from ragstone.protocols import Reader
from ragstone.read import BINARY, encoding
from ragstone.read.confined_reader import CONFINED_READER
from ragstone.read.document_kinds import refine_kind
from ragstone.read.file_formats import (
    Format,
    explain_own_data,
    explain_refusal,
    find_format,
    is_image,
)
from ragstone.read.ocr_reader import OCR_READER
from ragstone.read.plain import PlainReader
from ragstone.types import Document, OcrLimits

_PLAIN: Final = PlainReader()
_PDF: Final = "pdf"
_NO_TEXT_LAYER: Final = "no text layer"
_INSTALL_OCR: Final = 'pip install "ragstone[ocr]" reads pictures and scanned pages'
_OCR_OFF: Final = "read.ocr is off"
_TEMPLATE_HEAD: Final = 20_000


def reader_for(uri: str, data: bytes = b"", ocr: OcrLimits | None = None) -> Reader:
    """Return the reader for a file that starts with these bytes. Raise `ReadError` if there is none.

    With the limits `ocr`, pictures and scanned pages are read too.
    """
    reason = explain_refusal(uri, ocr=ocr is not None)
    if reason is not None:
        hint = "convert it to a format that is read, such as PDF or text"
        if is_image(uri):
            hint = advise_ocr()
        raise ReadError(reason, hint=hint, reason="unsupported")
    if is_image(uri):
        return ImageReader()
    file_format = find_format(uri, data)
    if file_format is None:
        return _PLAIN
    return FormatReader(file_format, ocr)


def is_binary(data: bytes, uri: str = "", ocr: OcrLimits | None = None) -> bool:
    """Return whether bytes are neither text nor a format that is read."""
    if ocr is not None and is_image(uri):
        return False
    return find_format(uri, data) is None and encoding.is_binary(data)


def explain_no_text(data: bytes, uri: str = "", ocr: OcrLimits | None = None) -> str | None:
    """Return why bytes hold no text to index: they are binary, or Ragstone wrote them; None if they may hold some."""
    if is_binary(data, uri, ocr):
        return BINARY
    return explain_own_data(data)


@dataclass(frozen=True, slots=True)
class FormatReader:
    """Reads one format in the confined process."""

    format: Format
    ocr: OcrLimits | None = None
    """Limits for the text of scanned pages; None if it is not recognised."""

    def read(self, data: bytes, uri: str) -> Document:
        """Return the document, or raise `ReadError`."""
        if self.format.name == _PDF:
            return self._read_pdf(data, uri)
        document = CONFINED_READER.read(self.format.name, data, uri)
        if document.language != "html":
            return document
        # A template of a page is a view; only its source has the marks of the template.
        source = data[:_TEMPLATE_HEAD].decode("utf-8", "replace")
        kind = refine_kind(document.kind, document.language, uri, source)
        return replace(document, kind=kind)

    def _read_pdf(self, data: bytes, uri: str) -> Document:
        """Return the document of a PDF; its remarks or its error say how pages without text can be read."""
        if self.ocr is not None:
            document = CONFINED_READER.read("scanned-pdf", data, uri)
            return OCR_READER.fill_pages(document, data, self.ocr)
        try:
            document = CONFINED_READER.read(_PDF, data, uri)
        except ReadError as error:
            if error.reason != "no-text-layer":
                raise
            raise ReadError(f"{error.message}; {advise_ocr()}", reason=error.reason) from error
        return replace(document, remarks=tuple(map(_add_advice, document.remarks)))


def advise_ocr() -> str:
    """Return how pictures and pages without text can be read."""
    return _OCR_OFF if is_ocr_installed() else _INSTALL_OCR


def _add_advice(remark: str) -> str:
    return f"{remark}; {advise_ocr()}" if _NO_TEXT_LAYER in remark else remark


@dataclass(frozen=True, slots=True)
class ImageReader:
    """Reads pictures in the confined process."""

    def read(self, data: bytes, uri: str) -> Document:
        """Return the document of the text in the picture, or raise `ReadError`."""
        return OCR_READER.read_image(data, uri)
