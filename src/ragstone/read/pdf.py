"""PDF."""

from __future__ import annotations

import pypdfium2

from ragstone.types import Document


def read(data: bytes, uri: str) -> Document:
    """Return the document."""
    pdf = pypdfium2.PdfDocument(data)
    text = "\f".join(page.get_textpage().get_text_bounded() for page in pdf)
    return Document(uri, text, "doc", "text")
