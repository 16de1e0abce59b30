"""The JSON forms that only the REST interface has."""

from __future__ import annotations

import base64
import json

from ragstone.errors import InputError
from ragstone.surfaces.present import Json, format_time, pick
from ragstone.types import Collection, StoredChunk
from ragstone.types.storage import STORAGE_BITS


def collection_form(collection: Collection, provider: str, storage: str) -> Json:
    """Return a collection with its configuration and counts."""
    config = dict(collection.settings)
    provider = str(config.pop("embedder", provider))
    return {
        "uuid": collection.uuid,
        "project_id": collection.project,
        **pick(collection, "name", "description"),
        "config": {
            **config,
            "embedding_provider": provider,
            "tq_bits": STORAGE_BITS.get(storage),
        },
        "stats": {
            "doc_count": collection.documents,
            "chunk_count": collection.chunks,
            "last_indexed_at": format_time(collection.updated_at),
        },
    }


def chunk_form(stored: StoredChunk) -> Json:
    """Return a stored chunk with its position."""
    chunk, span = stored.chunk, stored.chunk.span
    return {
        "doc_id": f"{stored.uri}__chunk_{chunk.order}",
        "source_doc_id": stored.uri,
        "chunk_index": chunk.order,
        **pick(chunk, "text", "kind", "symbol"),
        "place": span.citation(stored.uri),
        "lines": [span.line_start, span.line_end],
        "page": span.page,
        "span": [span.start, span.end],
    }


def encode_cursor(*parts: str | int) -> str:
    """Return a position in a listing as a text for an address."""
    return base64.urlsafe_b64encode(json.dumps(parts).encode("ascii")).decode("ascii")


def decode_cursor(cursor: str | None, *types: type) -> list[str | int] | None:
    """Return the position of a cursor, None if there is none; `InputError` if it is not one of ours."""
    if not cursor:
        return None
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii")))
        if [type(part) for part in parts] != list(types):
            raise ValueError("other parts")
    except (ValueError, TypeError, RecursionError) as error:
        message = f"{cursor[:100]!r} is no cursor"
        raise InputError(message, hint="use `next_cursor` of the page before") from error
    return list(parts)


def decode_filters(text: str | None) -> Json | None:
    """Return filters that an address carries as JSON; `InputError` if they are none."""
    if not text:
        return None
    try:
        filters = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("filters is no JSON", hint='filters={"path": "docs/**"}') from error
    if not isinstance(filters, dict):
        raise InputError("filters is no JSON object", hint='filters={"path": "docs/**"}')
    return filters
