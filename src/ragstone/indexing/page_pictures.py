"""Pictures of the pages of indexed PDF files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.errors import NotFound, ReadError
from ragstone.indexing.collection import folder_source
from ragstone.read.picture_reader import PICTURE_READER
from ragstone.sources.folder.source import FILES
from ragstone.sources.secrets.placeholders import PLACEHOLDER_START
from ragstone.types import Item

if TYPE_CHECKING:
    from ragstone.indexing.collection import IndexedCollection
    from ragstone.types import StoredDocument


def has_pictures(document: StoredDocument) -> bool:
    """Return whether a document is a PDF file of the folder; the bytes of other documents are not kept."""
    return document.language == "pdf" and document.source == FILES


def draw_page_picture(
    collection: IndexedCollection, uri: str, page: int, terms: Sequence[str] = ()
) -> bytes:
    """Return a page of an indexed PDF file as a PNG with these terms marked.

    Raise `NotFound` if there is no such page, `ReadError` if the file is not the one that was indexed, if a secret
    was taken out of its text, or if the page cannot be drawn.
    """
    store = collection.components.store
    document = store.document(collection.key, uri)
    if document is None or not has_pictures(document):
        raise NotFound(
            f"there is no picture of {uri!r}", hint="only PDF files of the folder have some"
        )
    if all(mark.number != page for mark in document.marks):
        raise NotFound(
            f"{uri!r} has no page {page}", hint=f"it has {len(document.marks)} pages"
        )
    if PLACEHOLDER_START in (store.text(collection.key, uri) or ""):
        raise ReadError("a picture would show the secrets that were taken out of its text")
    data = folder_source(collection.settings).load(Item(uri, None)).data
    hashes = {row.content_hash for row in store.document_chunks(collection.key, uri)}
    if hashlib.sha256(data).hexdigest() not in hashes:
        raise ReadError("the file was changed since it was indexed", hint="sync the folder")
    return PICTURE_READER.draw(data, page, terms)
