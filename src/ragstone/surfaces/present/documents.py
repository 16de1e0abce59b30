"""Documents and collections as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.surfaces.present import Json, format_time

if TYPE_CHECKING:  # a search loads few types
    from ragstone.types import Collection, StoredDocument


def document_json(document: StoredDocument) -> Json:
    """Return a document as a listing shows it."""
    return {
        "uri": document.uri,
        "collection": document.collection,
        "kind": document.kind,
        "language": document.language,
        "title": document.title,
        "metadata": dict(document.metadata),
        "source": document.source,
        "chunks": document.chunks,
        "characters": document.characters,
        "hash": document.hash,
        "added_at": format_time(document.added_at),
    }


def collection_json(collection: Collection) -> Json:
    """Return a collection as a listing shows it."""
    return {
        "uuid": collection.uuid,
        "name": collection.name,
        "description": collection.description,
        "settings": dict(collection.settings),
        "documents": collection.documents,
        "chunks": collection.chunks,
        "updated_at": format_time(collection.updated_at),
    }
