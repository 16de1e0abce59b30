"""One document: its text with its chunks marked in place, its pages and its metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Body, Depends, Form, Query, Response

from ragstone.errors import InputError, NotFound
from ragstone.read.document_kinds import kind_of
from ragstone.read.plain import find_heading
from ragstone.surfaces.jobs.uploads import check_file_name
from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.rest.replies import JsonReply
from ragstone.surfaces.web.addresses import collection_path, unquote_uri
from ragstone.surfaces.web.document_view import Passage, view_document
from ragstone.surfaces.web.file_states import ON_DISK, STATE_LABELS, file_states
from ragstone.surfaces.web.headers import PAGE_HEADERS
from ragstone.surfaces.web.page import AuthorisedPage, PageCall, page_router
from ragstone.surfaces.web.page_pictures import describe_pictures
from ragstone.text import query_terms
from ragstone.text.counts import plural
from ragstone.types import Document

NAV: Final = None
Line = Annotated[int, Query(ge=0)]
PageNumber = Annotated[int, Query(ge=0, alias="page")]
QueryText = Annotated[str, Query(max_length=10_000)]
Text = Annotated[str, Form(max_length=1000)]
_KEEP: Final = "private, max-age=600"
router = page_router()


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """The part of a document to show: a line, a page, or a passage with the query that found it."""

    line: Line = 0
    number: PageNumber = 0
    start: Annotated[int, Query(ge=0)] = 0
    end: Annotated[int, Query(ge=0)] = 0
    q: QueryText = ""


Place = Annotated[DocumentPlace, Depends()]


@router.get("/documents")
@needs("read")
def show_odd_document(
    page: AuthorisedPage, collection: str, uri: str, place: Place
) -> Response:
    """Show a document whose name cannot be a path."""
    return _show_document(page, collection, uri, place)


@router.get("/documents/{collection}/{uri:path}")
@needs("read")
def show_document(page: AuthorisedPage, collection: str, uri: str, place: Place) -> Response:
    """Show a document at a line, a page or a passage."""
    return _show_document(page, collection, uri, place)


@router.get("/pictures/page")
@needs("read")
def show_picture(
    page: AuthorisedPage, collection: str, uri: str, number: PageNumber, q: QueryText = ""
) -> Response:
    """Return the picture of a page of an indexed PDF file, with the words of a query marked."""
    name = page.collection(collection).name
    picture = page.engine.admin.page_picture(uri, number, terms=query_terms(q), collection=name)
    headers = {**PAGE_HEADERS, "cache-control": _KEEP}
    return Response(picture, media_type="image/png", headers=headers)


@router.post("/documents")
@needs("write")
def add_text(
    page: AuthorisedPage,
    collection: Text,
    name: Text,
    text: Annotated[str, Form()],
    kind: Text = "doc",
    replace: Annotated[bool, Form()] = False,
) -> Response:
    """Store a pasted text; ask before it replaces a document."""
    if not text.strip():
        raise InputError("the text is empty", hint="paste a text with words")
    uri, collection = name.strip(), page.collection(collection).name
    existing = page.engine.admin.document(uri, collection=collection)
    if existing is not None and not replace:
        return page.render("document_exists.html", document=existing)
    _, language = kind_of(uri, text.encode("utf-8", "replace"))
    title = ""
    if language == "markdown":
        title = find_heading(text)
    document = Document(uri, text, kind.strip() or "doc", language, title)
    page.engine.add(document, collection=collection)
    done = "Replaced" if existing is not None else "Added"
    return page.toast(f"{done} {uri}.", event="textAdded")


@router.post("/documents/existing")
@needs("write")
def find_existing(
    page: AuthorisedPage, collection: str, names: Annotated[list[str], Body()]
) -> Response:
    """Return which names of files to upload are documents already."""
    name = page.collection(collection).name
    stored = page.engine.admin.document
    existing = [uri for uri in names if stored(check_file_name(uri), collection=name)]
    return JsonReply({"existing": existing})


@router.post("/documents/delete")
@needs("write")
def delete_documents(
    page: AuthorisedPage, collection: Text, uris: Annotated[list[str], Form()]
) -> Response:
    """Remove the chosen documents of a list, which then shows the others; the uris are quoted."""
    name = page.collection(collection).name
    names = [unquote_uri(uri) for uri in uris]
    count = page.engine.remove(ids=names, collection=name)
    if not count:
        raise NotFound("there are no such documents", hint="reload the page")
    deleted = names[0] if len(names) == 1 else plural(count, "document")
    return page.toast(f"Deleted {deleted}.", event="documentsChanged")


@router.delete("/documents")
@needs("write")
def delete_document(page: AuthorisedPage, collection: str, uri: str) -> Response:
    """Remove a document, and show its collection."""
    name = page.collection(collection).name
    if not page.engine.remove(uri, collection=name):
        raise NotFound(f"there is no document {uri!r}", hint="reload the page")
    return page.toast(f"Deleted {uri}.", location=collection_path(name))


def _show_document(page: PageCall, collection: str, uri: str, place: DocumentPlace) -> Response:
    admin = page.engine.admin
    name = page.collection(collection).name
    document = admin.document(uri, collection=name)
    if document is None:
        raise NotFound(f"there is no document {uri!r}", hint="it may have been removed")
    chunks = admin.chunks(uri, collection=name)
    text = admin.text(uri, collection=name) or ""
    state = file_states(page.engine, [document], has_folder=page.has_folder)[uri]
    passage = Passage(place.start, place.end, frozenset(query_terms(place.q)))
    view = view_document(
        text, chunks, document.marks, line=place.line, page=place.number, passage=passage
    )
    return page.render(
        "document.html",
        document=document,
        chunks=chunks,
        view=view,
        query=place.q,
        state=STATE_LABELS[state],
        is_on_disk=state in ON_DISK,
        pictures=describe_pictures(document, text, state, has_folder=page.has_folder),
    )
