"""Addresses of pages about stored things. Names and uris may have any character."""

from __future__ import annotations

from urllib.parse import quote


def collection_path(name: str) -> str:
    """Return the address of a collection's page."""
    return f"/collections/{_quote(name)}"


def document_path(collection: str, uri: str, *, line: int = 0, page: int = 0) -> str:
    """Return the address of a document's page, at a line or a page of the document."""
    address = f"/documents/{_quote(collection)}/{_quote(uri)}"
    if line:
        return f"{address}#L{line}"
    return f"{address}#page-{page}" if page else address


def _quote(name: str) -> str:
    """Return a name as one part of an address. A slash stays, because uris are paths."""
    return quote(name, safe="/", errors="surrogatepass")
