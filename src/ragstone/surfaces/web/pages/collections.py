"""Collections: the list, and one collection with its documents and its ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Form, Query, Response

from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.rest.forms import decode_cursor, encode_cursor
from ragstone.surfaces.web.addresses import collection_path
from ragstone.surfaces.web.file_states import STATE_LABELS, file_states
from ragstone.surfaces.web.formats import plural
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, PageCall, page_router
from ragstone.types import Collection, StoredDocument

NAV: Final = NavItem("Collections", "/collections", "collections", "c")
PAGE_SIZE: Final = 50
_MAX_NAME: Final = 200
_SHOWN_SKIPS: Final = 500
_SPECIAL: Final = frozenset("*?[]{}!\\")
router = page_router()


@dataclass(frozen=True, slots=True)
class ListOptions:
    """The part of a collection to show: documents whose path contains `q`, of one kind, after a cursor."""

    view: str = ""
    q: Annotated[str, Query(max_length=500)] = ""
    kind: Annotated[str, Query(max_length=100)] = ""
    cursor: str = ""


Options = Annotated[ListOptions, Depends()]


@router.get("/collections")
@needs("read")
def list_collections(page: AuthorisedPage, options: Options, name: str = "") -> Response:
    """List the collections; `name` opens one whose name cannot be a path."""
    if name:
        return _show_collection(page, name, options)
    return page.render("collections.html", collections=page.engine.admin.collections())


@router.post("/collections")
@needs("write")
def create_collection(
    page: AuthorisedPage,
    name: Annotated[str, Form(max_length=_MAX_NAME)],
    description: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """Create a collection and open it."""
    collection = page.engine.admin.create_collection(name.strip(), description.strip())
    return page.toast(f"Created {collection.name}.", location=collection_path(collection.name))


@router.get("/collections/{name:path}")
@needs("read")
def show_collection(page: AuthorisedPage, name: str, options: Options) -> Response:
    """Show the documents of a collection, a page at a time, or its ledger."""
    return _show_collection(page, name, options)


@router.delete("/collections")
@needs("write")
def delete_collection(page: AuthorisedPage, name: str) -> Response:
    """Remove a collection with all its documents."""
    collection = page.collection(name)
    count = page.engine.admin.drop_collection(collection.name)
    message = f"Deleted {collection.name} with {plural(count, 'document')}."
    return page.toast(message, location="/collections")


def _show_collection(page: PageCall, name: str, options: ListOptions) -> Response:
    collection = page.collection(name)
    follows_folder = page.has_folder and page.engine.admin.follows_folder(
        collection=collection.name
    )
    if options.view == "ledger" and follows_folder:
        return _show_ledger(page, collection, options)
    documents, following = _list_documents(page, collection.name, options)
    return page.render(
        "collection_documents.html" if page.is_part else "collection.html",
        collection=collection,
        follows_folder=follows_folder,
        documents=documents,
        states=file_states(page.engine, documents, has_folder=page.has_folder),
        labels=STATE_LABELS,
        next_cursor=following,
        options=options,
    )


def _show_ledger(page: PageCall, collection: Collection, options: ListOptions) -> Response:
    """Show the ledger. The page asks for its files later: a large folder takes a second."""
    if not page.is_part:
        return page.render(
            "collection_ledger.html",
            collection=collection,
            follows_folder=True,
            options=options,
        )
    return page.render(
        "collection_ledger_files.html",
        ledger=page.engine.admin.compare_folder(collection=collection.name),
        shown=_SHOWN_SKIPS,
    )


def _list_documents(
    page: PageCall, collection: str, options: ListOptions
) -> tuple[list[StoredDocument], str]:
    """Return a page of documents, and the position of the next page; it is empty on the last one."""
    filters: dict[str, object] = {}
    if options.q.strip():
        filters["path"] = path_patterns(options.q.strip())
    if options.kind:
        filters["kind"] = options.kind
    position = decode_cursor(options.cursor, str)
    after = (collection, str(position[0])) if position else None
    documents = page.engine.admin.documents(
        collection=collection, filters=filters or None, after=after, limit=PAGE_SIZE + 1
    )
    has_more = len(documents) > PAGE_SIZE
    listed = documents[:PAGE_SIZE]
    return listed, encode_cursor(listed[-1].uri) if has_more else ""


def path_patterns(text: str) -> list[str]:
    """Return patterns for paths that contain a text; a text with wildcards is a pattern itself."""
    if _SPECIAL & set(text):
        return [text]
    return [f"*{text}*", f"**/*{text}*", f"**/*{text}*/**"]
