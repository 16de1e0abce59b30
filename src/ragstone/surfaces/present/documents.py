"""Documents and collections as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.surfaces.present import Json, format_time, pick

if TYPE_CHECKING:  # a search loads few types
    from ragstone.types import Collection, StoredDocument


def document_json(document: StoredDocument) -> Json:
    """Return a document as a listing shows it."""
    return {
        **pick(
            document, "uri", "collection", "kind", "language", "title", "metadata", "source"
        ),
        **pick(document, "chunks", "characters", "hash"),
        "added_at": format_time(document.added_at),
    }


def collection_json(collection: Collection) -> Json:
    """Return a collection as a listing shows it."""
    return {
        **pick(collection, "uuid", "name", "description", "settings", "documents", "chunks"),
        "updated_at": format_time(collection.updated_at),
    }
