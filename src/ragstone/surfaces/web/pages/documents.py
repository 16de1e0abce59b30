"""One document: its text with its chunks marked in place, its pages and its metadata."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query, Response

from ragstone.errors import NotFound
from ragstone.surfaces.rest.route import needs
from ragstone.surfaces.web.addresses import collection_path
from ragstone.surfaces.web.document_view import view_document
from ragstone.surfaces.web.file_states import STATE_LABELS, file_states
from ragstone.surfaces.web.page import AuthorisedPage, PageCall, page_router

NAV: Final = None
Line = Annotated[int, Query(ge=0)]
PageNumber = Annotated[int, Query(ge=0, alias="page")]
router = page_router()


@router.get("/documents")
@needs("read")
def show_odd_document(
    page: AuthorisedPage, collection: str, uri: str, line: Line = 0, number: PageNumber = 0
) -> Response:
    """Show a document whose name cannot be a path."""
    return _show_document(page, collection, uri, line, number)


@router.get("/documents/{collection}/{uri:path}")
@needs("read")
def show_document(
    page: AuthorisedPage,
    collection: str,
    uri: str,
    line: Line = 0,
    number: PageNumber = 0,
) -> Response:
    """Show a document at a line or a page."""
    return _show_document(page, collection, uri, line, number)


@router.delete("/documents")
@needs("write")
def delete_document(page: AuthorisedPage, collection: str, uri: str) -> Response:
    """Remove a document."""
    name = page.collection(collection).name
    if not page.engine.remove(uri, collection=name):
        raise NotFound(f"there is no document {uri!r}", hint="reload the page")
    return page.toast("Deleted.", location=collection_path(name))


def _show_document(
    page: PageCall, collection: str, uri: str, line: int, number: int
) -> Response:
    admin = page.engine.admin
    name = page.collection(collection).name
    document = admin.document(uri, collection=name)
    if document is None:
        raise NotFound(f"there is no document {uri!r}", hint="it may have been removed")
    chunks = admin.chunks(uri, collection=name)
    text = admin.text(uri, collection=name) or ""
    states = file_states(page.engine, [document], has_folder=page.has_folder)
    return page.render(
        "document.html",
        document=document,
        chunks=chunks,
        view=view_document(text, chunks, document.marks, line=line, page=number),
        state=STATE_LABELS[states[uri]],
    )
