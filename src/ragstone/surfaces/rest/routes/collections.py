"""Collections: create, list, delete."""

from __future__ import annotations

from fastapi import Response

from ragstone.errors import ConfigError, InputError
from ragstone.surfaces.present import Json
from ragstone.surfaces.rest.allowed_models import check_models
from ragstone.surfaces.rest.authorised_route import AuthorisedCall, Call, needs
from ragstone.surfaces.rest.bodies import CollectionBody
from ragstone.surfaces.rest.forms import collection_form
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.router import create_router
from ragstone.types import Collection

router = create_router("collections", "/api/rag/collections")


@router.post("")
@needs("write")
def create_collection(call: AuthorisedCall, body: CollectionBody) -> Response:
    """Create a collection."""
    check_models(call, body.embedding_provider)
    try:
        collection = call.engine.admin.create_collection(
            body.name,
            body.description,
            chunker=body.chunker,
            chunk_size=body.chunk_size,
            chunk_overlap=body.chunk_overlap,
            max_tokens=body.max_tokens,
            overlap_tokens=body.overlap_tokens,
            embedder=body.embedding_provider,
        )
    except ConfigError as error:  # an unknown chunker or embedder is the caller's choice here
        raise InputError(error.message, hint=error.hint) from error
    return reply({"collection": _form(call, collection)})


@router.get("")
@needs("read")
def list_collections(call: AuthorisedCall) -> Response:
    """List the collections of the project."""
    collections = call.engine.admin.collections()
    return reply({"collections": [_form(call, collection) for collection in collections]})


@router.get("/{collection_id}")
@needs("read")
def show_collection(call: AuthorisedCall, collection_id: str) -> Response:
    """Return one collection, by uuid or name."""
    return reply({"collection": _form(call, call.collection(collection_id))})


@router.delete("/{collection_id}")
@needs("write")
def delete_collection(call: AuthorisedCall, collection_id: str) -> Response:
    """Remove a collection with all its documents."""
    collection = call.collection(collection_id)
    count = call.engine.admin.drop_collection(collection.name)
    return reply({"collection_id": collection.uuid, "documents_removed": count})


def _form(call: Call, collection: Collection) -> Json:
    settings = call.engine.settings
    return collection_form(collection, settings.embed.provider, settings.embed.storage)
