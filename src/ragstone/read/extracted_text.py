"""Documents whose text was extracted from another format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragstone.read.document_kinds import kind_of
from ragstone.read.file_formats import name_of
from ragstone.types import Document, Mark, Metadata


class ExtractedText(Protocol):
    """A text, and marks where its sections, slides, sheets or chapters start."""

    @property
    def text(self) -> str:
        """Return the whole text."""

    @property
    def marks(self) -> Sequence[Mark]:
        """Return the marks in order."""


def build_document(
    uri: str,
    extracted: ExtractedText,
    language: str,
    title: str,
    *,
    remark_if_empty: str,
    metadata: Metadata | None = None,
) -> Document:
    """Return the document of an extracted text; without a title it is named after the file."""
    text = extracted.text
    return Document(
        uri,
        text,
        kind_of(uri)[0],
        language,
        title or name_of(uri),
        metadata or {},
        tuple(extracted.marks),
        remarks=() if text else (remark_if_empty,),
    )
