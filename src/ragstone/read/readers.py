"""The reader for each file, chosen by its name and its first bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ragstone.errors import ReadError
from ragstone.protocols import Reader
from ragstone.read import encoding
from ragstone.read.confined_reader import CONFINED_READER
from ragstone.read.file_types import explain_refusal
from ragstone.read.formats import Format, find_format
from ragstone.read.plain import PlainReader
from ragstone.read.proposed_kinds import refine_kind
from ragstone.types import Document

_PLAIN: Final = PlainReader()
_TEMPLATE_HEAD: Final = 20_000


def reader_for(uri: str, data: bytes = b"") -> Reader:
    """Return the reader for a file that starts with these bytes. Raise `ReadError` if there is none."""
    reason = explain_refusal(uri)
    if reason is not None:
        hint = "convert it to a format that is read, such as PDF or text"
        raise ReadError(reason, hint=hint, reason="unsupported")
    file_format = find_format(uri, data)
    if file_format is None:
        return _PLAIN
    return FormatReader(file_format)


def is_binary(data: bytes, uri: str = "") -> bool:
    """Return whether bytes are neither text nor a format that is read."""
    return find_format(uri, data) is None and encoding.is_binary(data)


@dataclass(frozen=True, slots=True)
class FormatReader:
    """Reads one format in the confined process."""

    format: Format

    def read(self, data: bytes, uri: str) -> Document:
        """Return the document, or raise `ReadError`."""
        document = CONFINED_READER.read(self.format.name, data, uri)
        if document.language != "html":
            return document
        # A template of a page is a view; only its source has the marks of the template.
        source = data[:_TEMPLATE_HEAD].decode("utf-8", "replace")
        kind = refine_kind(document.kind, document.language, uri, source)
        return replace(document, kind=kind)
