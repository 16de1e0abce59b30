"""Collections: the list, and one collection with its documents and its ledger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from fastapi import Depends, Form, Query, Response

from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.web.addresses import collection_path
from ragstone.surfaces.web.file_states import ON_DISK, STATE_LABELS, file_states
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, PageCall, page_router
from ragstone.text.counts import plural
from ragstone.types import Collection, DocumentColumn, DocumentOrder, StoredDocument

NAV: Final = NavItem("Collections", "/collections", "collections", "c")
PAGE_SIZE: Final = 50
_MAX_NAME: Final = 200
_SHOWN_SKIPS: Final = 500
_LAST_PAGE: Final = 1_000_000
_COLUMNS: Final[dict[str, DocumentColumn]] = {
    "name": "uri",
    "kind": "kind",
    "chunks": "chunks",
    "characters": "characters",
    "added": "added_at",
}
"""The columns of the list that can be sorted, by their names in an address."""
_LARGEST_FIRST: Final = frozenset({"chunks", "characters", "added"})
_SPECIAL: Final = frozenset("*?[]{}!\\")
router = page_router()


@dataclass(frozen=True, slots=True)
class ListOptions:
    """The part of a collection to show: a page of the documents whose path contains `q`, of one kind, sorted."""

    view: str = ""
    q: Annotated[str, Query(max_length=500)] = ""
    kind: Annotated[str, Query(max_length=100)] = ""
    sort: Annotated[str, Query(pattern=f"^-?({'|'.join(_COLUMNS)})$")] = "name"
    """A column; with a minus the largest value is the first one."""
    number: Annotated[int, Query(ge=1, le=_LAST_PAGE, alias="page")] = 1

    @property
    def order(self) -> DocumentOrder:
        """Return the order of the documents."""
        return DocumentOrder(_COLUMNS[self.sort.removeprefix("-")], self.sort.startswith("-"))

    @property
    def is_filtered(self) -> bool:
        """Return whether some documents are left out."""
        return bool(self.q.strip() or self.kind)

    def direction(self, column: str) -> Literal["ascending", "descending", ""]:
        """Return how the list is sorted by a column; empty if it is sorted by another one."""
        if self.sort.removeprefix("-") != column:
            return ""
        return "descending" if self.order.descending else "ascending"

    def query(self, *, sort: str = "", number: int = 0) -> dict[str, str]:
        """Return the parameters of an address that shows the same documents in another order or on another page."""
        values = {
            "q": self.q,
            "kind": self.kind,
            "sort": sort or self.sort,
            "page": str(number or self.number),
        }
        defaults = {"q": "", "kind": "", "sort": "name", "page": "1"}
        return {name: value for name, value in values.items() if value != defaults[name]}

    def sorted_query(self, column: str) -> dict[str, str]:
        """Return the parameters that sort by a column; a second time the other way round."""
        direction = self.direction(column)
        is_first_descending = column in _LARGEST_FIRST and not direction
        minus = "-" if is_first_descending or direction == "ascending" else ""
        return self.query(sort=minus + column)


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
    documents = _list_documents(page, collection.name, options)
    if not documents and options.number > 1:  # the documents of the last page were deleted
        options = replace(options, number=1)
        documents = _list_documents(page, collection.name, options)
    return page.render(
        "collection_documents.html" if page.is_part else "collection.html",
        collection=collection,
        follows_folder=follows_folder,
        documents=documents[:PAGE_SIZE],
        has_more=len(documents) > PAGE_SIZE,
        first=(options.number - 1) * PAGE_SIZE + 1,
        states=file_states(page.engine, documents, has_folder=page.has_folder),
        labels=STATE_LABELS,
        on_disk=ON_DISK,
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
) -> list[StoredDocument]:
    """Return a page of documents, and one more if there is a next page."""
    filters: dict[str, object] = {}
    if options.q.strip():
        filters["path"] = path_patterns(options.q.strip())
    if options.kind:
        filters["kind"] = options.kind
    return page.engine.admin.documents(
        collection=collection,
        filters=filters,
        order=options.order,
        skip=(options.number - 1) * PAGE_SIZE,
        limit=PAGE_SIZE + 1,
    )


def path_patterns(text: str) -> list[str]:
    """Return patterns for paths that contain a text; a text with wildcards is a pattern itself."""
    if _SPECIAL & set(text):
        return [text]
    return [f"*{text}*", f"**/*{text}*", f"**/*{text}*/**"]
