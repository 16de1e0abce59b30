"""The tools for the contents of the index: collections, documents and the status."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from ragstone.errors import InputError, NotFound
from ragstone.retrieval.context.formatters import one_line
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.documents import collection_json, document_json
from ragstone.surfaces.present.reports import status_json
from ragstone.surfaces.tools.passages import count_fitting
from ragstone.surfaces.tools.schemas import (
    COLLECTION,
    count_schema,
    list_schema,
    result_schema,
    text_schema,
)
from ragstone.surfaces.tools.tool import Tool, ToolAnswer, ToolCall
from ragstone.text.counts import plural
from ragstone.types import Document, StoredDocument

_PAGE: Final = 50
_NAME: Final = text_schema("The collection's name.")


def _collection_create(call: ToolCall) -> ToolAnswer:
    collection = call.engine.admin.create_collection(
        call.arguments["name"], call.arguments.get("description", "")
    )
    return ToolAnswer(
        f"Created the collection {one_line(collection.name)}.",
        {"success": True, "collection": collection_json(collection)},
    )


def _collection_list(call: ToolCall) -> ToolAnswer:
    collections = call.engine.admin.collections()
    lines = [
        f"{one_line(collection.name)}: {_describe_size(collection.documents, collection.chunks)}"
        for collection in collections
    ]
    return ToolAnswer(
        "\n".join(lines) or "There is no collection yet.",
        {
            "success": True,
            "results": [collection_json(collection) for collection in collections],
        },
    )


def _collection_delete(call: ToolCall) -> ToolAnswer:
    name = call.arguments["name"]
    names = [collection.name for collection in call.engine.admin.collections()]
    if name not in names:
        hint = f"there are {', '.join(names) or 'none yet'}"
        raise NotFound(f"there is no collection {name!r}", hint=hint)
    count = call.engine.admin.drop_collection(name)
    return ToolAnswer(
        f"Removed {one_line(name)} with {plural(count, 'document')}.",
        {"success": True, "name": name, "removed": count},
    )


def _document_add(call: ToolCall) -> ToolAnswer:
    arguments = call.arguments
    uri = arguments["source_doc_id"]
    document = Document(uri, arguments["content"], metadata=arguments.get("metadata") or {})
    report = call.engine.add(document, collection=arguments.get("collection"))
    return ToolAnswer(
        f"Stored {one_line(uri)}: {report.chunks_added} new chunks, {report.chunks_skipped} unchanged.",
        {
            "success": report.documents > 0,
            "chunks_added": report.chunks_added,
            "chunks_skipped": report.chunks_skipped,
            "collection": arguments.get("collection")
            or call.engine.settings.rag.vector_store.collection_name,
            "source_doc_id": uri,
            "notes": list(report.notes),
        },
    )


def _document_list(call: ToolCall) -> ToolAnswer:
    limit = call.arguments.get("limit", _PAGE)
    documents = call.engine.sources(collection=call.arguments.get("collection"))
    after = call.arguments.get("cursor")
    if after is not None:
        documents = _skip_to(documents, after)
    page = list(islice(documents, limit + 1))
    results = [_short_json(document) for document in page[:limit]]
    results = results[: count_fitting(results)]
    shown = page[: len(results)]
    lines = [
        f"{one_line(document.uri)} ({document.kind}, {plural(document.chunks, 'chunk')})"
        for document in shown
    ]
    data: Json = {"success": True, "results": results}
    if len(page) > len(shown):
        data["next_cursor"] = _cursor(shown[-1])
        lines.append("(more: ask again with the cursor in next_cursor)")
    return ToolAnswer("\n".join(lines) or "There is no document.", data)


def _skip_to(documents: Iterator[StoredDocument], cursor: str) -> Iterator[StoredDocument]:
    """Yield the documents after the one that the cursor names; all keys are ordered by collection and uri."""
    if "\n" not in cursor:
        raise InputError(
            f"{cursor[:100]!r} is no cursor", hint="use next_cursor of the page before"
        )
    for document in documents:
        if _cursor(document) > cursor:
            yield document


def _cursor(document: StoredDocument) -> str:
    return f"{document.collection}\n{document.uri}"


def _short_json(document: StoredDocument) -> Json:
    fields = document_json(document)
    names = ("uri", "collection", "kind", "language", "title", "chunks", "added_at")
    return {name: fields[name] for name in names}


def _document_delete(call: ToolCall) -> ToolAnswer:
    name = call.arguments["doc_id"]
    count = call.engine.remove(ids=[name], collection=call.arguments.get("collection"))
    if not count:
        raise NotFound(
            f"there is no document {name!r}", hint="rag_document_list lists the documents"
        )
    return ToolAnswer(
        f"Removed {one_line(name)}.", {"success": True, "doc_id": name, "removed": count}
    )


def _describe_size(documents: int, chunks: int) -> str:
    """Return the size of an index: `2 documents, 1 chunk`."""
    return f"{plural(documents, 'document')}, {plural(chunks, 'chunk')}"


def _status(call: ToolCall) -> ToolAnswer:
    status = status_json(call.engine.status())
    size = _describe_size(status["documents"], status["chunks"])
    lines = [f"{size} in {plural(len(status['collections']), 'collection')}"]
    for space in status["spaces"]:
        lines.append(f"vectors of {space['model']}: {space['embedded']} of {space['texts']}")
    if status["sessions"]:
        sessions, turns = (
            plural(status["sessions"], "conversation"),
            plural(status["turns"], "turn"),
        )
        lines.append(f"memory: {sessions}, {turns}")
    lines.append(f"last sync: {status['last_sync'] or 'never'}")
    return ToolAnswer("\n".join(lines), {"success": True, **status})


COLLECTION_CREATE: Final = Tool(
    "rag_collection_create",
    "Create a collection for documents.",
    {
        "name": _NAME,
        "description": {"type": "string", "description": "What it is for."},
    },
    ("name",),
    _collection_create,
    result_schema(collection={"type": "object"}),
    read_only=False,
)
COLLECTION_LIST: Final = Tool(
    "rag_collection_list",
    "List the collections of the project.",
    {},
    (),
    _collection_list,
    list_schema("name", "documents"),
)
COLLECTION_DELETE: Final = Tool(
    "rag_collection_delete",
    "Remove a collection with all its documents. It cannot be undone.",
    {"name": _NAME},
    ("name",),
    _collection_delete,
    result_schema(removed={"type": "integer"}),
    read_only=False,
    destructive=True,
)
DOCUMENT_ADD: Final = Tool(
    "rag_document_add",
    "Store a text as a document; the same name again replaces it.",
    {
        "content": text_schema("The text."),
        "source_doc_id": text_schema("The document's name, such as notes/today."),
        "collection": {**COLLECTION, "description": "The collection; made if missing."},
        "metadata": {"type": "object", "description": "Names and values to filter by."},
    },
    ("content", "source_doc_id"),
    _document_add,
    result_schema(chunks_added={"type": "integer"}, chunks_skipped={"type": "integer"}),
    read_only=False,
)
DOCUMENT_LIST: Final = Tool(
    "rag_document_list",
    "List the documents of the index, a page at a time.",
    {
        "collection": COLLECTION,
        "limit": count_schema("Documents at most.", 1, 100),
        "cursor": text_schema("next_cursor of the page before."),
    },
    (),
    _document_list,
    list_schema("uri", "collection"),
)
DOCUMENT_DELETE: Final = Tool(
    "rag_document_delete",
    "Remove a document from the index. A file of the folder comes back with the next sync.",
    {
        "doc_id": text_schema("The document's uri, or the id of a chunk."),
        "collection": COLLECTION,
    },
    ("doc_id",),
    _document_delete,
    result_schema(removed={"type": "integer"}),
    read_only=False,
    destructive=True,
)
STATUS: Final = Tool(
    "rag_status",
    "Show how much is indexed, and how far the vectors are.",
    {},
    (),
    _status,
    result_schema(documents={"type": "integer"}, chunks={"type": "integer"}),
)
