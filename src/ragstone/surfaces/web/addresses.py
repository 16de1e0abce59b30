"""Addresses of pages about stored things. Names and uris may have any character."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, unquote, urlencode

from ragstone.types import Hit


def collection_path(name: str, **query: str) -> str:
    """Return the address of a collection's page."""
    if _is_plain(name):
        return _with_query(f"/collections/{quote_uri(name)}", query)
    return _with_query("/collections", {"name": name, **query})


def collection_change_path(name: str) -> str:
    """Return the address that requests to change a collection go to."""
    return _with_query("/collections", {"name": name})


def session_path(name: str, **query: str) -> str:
    """Return the address of a conversation's page."""
    if _is_plain(name):
        return _with_query(f"/memory/{quote_uri(name)}", query)
    return _with_query("/memory", {"session": name, **query})


def session_change_path(name: str, **query: str) -> str:
    """Return the address that requests to change a conversation go to."""
    return _with_query("/memory", {"session": name, **query})


def document_path(collection: str, uri: str, *, line: int = 0, page: int = 0) -> str:
    """Return the address of a document's page, at a line or a page of the document."""
    if line:
        return _document_path(collection, uri, {"line": str(line)}) + f"#L{line}"
    if page:
        return _document_path(collection, uri, {"page": str(page)}) + f"#page-{page}"
    return _document_path(collection, uri, {})


def passage_path(hit: Hit, query: str = "") -> str:
    """Return the address of a hit's document that marks the passage, and the words of the query in it."""
    parameters = {"start": str(hit.span.start), "end": str(hit.span.end)}
    if query:
        parameters["q"] = query
    return _document_path(hit.collection, hit.source_doc_id, parameters) + "#passage"


def picture_path(collection: str, uri: str, page: int, version: str, query: str = "") -> str:
    """Return the address of the picture of a page, with the words of a query marked.

    The version of the document is in the address, because browsers keep the picture for a while.
    """
    parameters = {"collection": collection, "uri": uri, "page": str(page)}
    if query:
        parameters["q"] = query
    return _with_query("/pictures/page", {**parameters, "version": version[:12]})


def document_change_path(collection: str, uri: str) -> str:
    """Return the address that requests to change a document go to."""
    return _with_query("/documents", {"collection": collection, "uri": uri})


def quote_uri(uri: str) -> str:
    """Return a name for an address or a form, which cannot have every character. A slash stays."""
    return quote(uri, safe="/", errors="surrogatepass")


def unquote_uri(text: str) -> str:
    """Return the uri that `quote_uri` wrote."""
    return unquote(text, errors="surrogatepass")


def _document_path(collection: str, uri: str, query: Mapping[str, str]) -> str:
    address = f"/documents/{quote_uri(collection)}/{quote_uri(uri)}"
    if "/" in collection or not (_is_plain(collection) and _is_plain(uri)):
        address = "/documents"
        query = {"collection": collection, "uri": uri, **query}
    return _with_query(address, query)


def _is_plain(name: str) -> bool:
    """Return whether a browser sends a name unchanged as a path: it removes dots and empty parts."""
    return not {"", ".", ".."} & set(name.split("/"))


def _with_query(address: str, query: Mapping[str, str]) -> str:
    return f"{address}?{urlencode(query, errors='surrogatepass')}" if query else address
