"""Documents and chunks of a collection: add, upload, list, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Query, Response, UploadFile
from fastapi.concurrency import run_in_threadpool

from ragstone.engine import Engine
from ragstone.errors import NotFound
from ragstone.surfaces.jobs.uploads import check_file_name
from ragstone.surfaces.jobs.work import upload_request
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.documents import document_json
from ragstone.surfaces.present.reports import add_report_json
from ragstone.surfaces.rest.authorised_route import AuthorisedCall, needs
from ragstone.surfaces.rest.bodies import DocumentBody, DocumentsBody, RemoveBody
from ragstone.surfaces.rest.forms import (
    chunk_form,
    decode_cursor,
    decode_filters,
    encode_cursor,
)
from ragstone.surfaces.rest.jobs_reply import job_reply
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.router import create_router
from ragstone.types import Document, IncomingFile

router = create_router("documents", "/api/rag")
Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(description="`next_cursor` of the page before.")]


@router.post("/collections/{collection_id}/documents")
@needs("write")
def add_document(call: AuthorisedCall, collection_id: str, body: DocumentBody) -> Response:
    """Store a text; the same name again replaces it."""
    collection = call.collection(collection_id)
    report = call.engine.add(_document(body), collection=collection.name)
    data = add_report_json(report)
    return reply(
        {
            **data,
            "collection_id": collection.uuid,
            "source_doc_id": body.source_doc_id,
        }
    )


@router.post("/documents")
@needs("write")
def add_documents(call: AuthorisedCall, body: DocumentsBody) -> Response:
    """Store texts in one call; without a collection they go to the default one."""
    documents = [_document(document) for document in body.documents]
    report = call.engine.add(documents, collection=body.collection, embed=body.embed)
    return reply(add_report_json(report))


@router.post("/collections/{collection_id}/files", status_code=202)
@needs("write")
async def upload_files(
    call: AuthorisedCall,
    collection_id: str,
    files: Annotated[list[UploadFile], File(description="Any number of files.")],
    wait: Annotated[bool, Query(description="Answer when the work is done.")] = False,
) -> Response:
    """Upload files; a job reads and stores them, and its events tell the progress."""
    incoming = [
        IncomingFile(check_file_name(file.filename), file.size or 0, file.file)
        for file in files
    ]

    def start() -> Response:
        collection = call.collection(collection_id).name
        return job_reply(call, upload_request(collection), incoming, wait=wait)

    return await run_in_threadpool(start)


@router.get("/collections/{collection_id}/documents")
@needs("read")
def list_documents(
    call: AuthorisedCall, collection_id: str, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """List the documents of a collection, a page at a time."""
    return reply(_page(call.engine, call.collection(collection_id).name, limit, cursor))


@router.get("/documents")
@needs("read")
def list_all_documents(
    call: AuthorisedCall,
    collection: str | None = None,
    filters: Annotated[str | None, Query(description="Filters as JSON.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the documents of a collection by its name, or of the whole project, a page at a time."""
    parsed = decode_filters(filters)
    return reply(_page(call.engine, collection, limit, cursor, parsed))


@router.post("/remove")
@needs("write")
def remove_documents(call: AuthorisedCall, body: RemoveBody) -> Response:
    """Remove documents by uri, or by ids of documents or chunks; unknown ones are not counted."""
    removed = call.engine.remove(body.uri, ids=body.ids, collection=body.collection)
    return reply({"removed": removed})


@router.get("/collections/{collection_id}/documents/{doc_id:path}")
@needs("read")
def show_document(call: AuthorisedCall, collection_id: str, doc_id: str) -> Response:
    """Return a document with its text."""
    collection = call.collection(collection_id).name
    document = call.engine.admin.document(doc_id, collection=collection)
    text = call.engine.admin.text(doc_id, collection=collection)
    if document is None or text is None:
        raise NotFound(f"there is no document {doc_id!r}", hint="list the documents first")
    return reply({"document": {**document_json(document), "text": text}})


@router.delete("/collections/{collection_id}/documents/{doc_id:path}")
@needs("write")
def delete_document(call: AuthorisedCall, collection_id: str, doc_id: str) -> Response:
    """Remove a document by its name, or by the id of one of its chunks."""
    collection = call.collection(collection_id)
    removed = call.engine.remove(ids=[doc_id], collection=collection.name)
    if not removed:
        raise NotFound(f"there is no document {doc_id!r}", hint="list the documents first")
    return reply({"removed": removed, "collection_id": collection.uuid})


@router.get("/collections/{collection_id}/chunks")
@needs("read")
def list_chunks(
    call: AuthorisedCall,
    collection_id: str,
    source_doc_id: str,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the chunks of a document in order, a page at a time."""
    collection = call.collection(collection_id).name
    position = decode_cursor(cursor, int)
    start = int(position[0]) if position else 0
    chunks = call.engine.admin.chunks(source_doc_id, collection=collection)
    page = chunks[max(0, start) :][:limit]
    following = max(0, start) + limit
    return reply(
        {
            "chunks": [chunk_form(chunk) for chunk in page],
            "next_cursor": encode_cursor(following) if following < len(chunks) else None,
        }
    )


def _document(body: DocumentBody) -> Document:
    return Document(
        body.source_doc_id,
        body.content,
        kind=body.kind,
        language=body.language,
        title=body.title,
        metadata=body.metadata,
    )


def _page(
    engine: Engine,
    collection: str | None,
    limit: int,
    cursor: str | None,
    filters: Json | None = None,
) -> Json:
    """Return a page of documents; `next_cursor` is empty on the last one."""
    position = decode_cursor(cursor, str, str)
    after = (str(position[0]), str(position[1])) if position else None
    documents = engine.admin.documents(
        collection=collection, filters=filters, after=after, limit=limit + 1
    )
    has_more = len(documents) > limit
    page = documents[:limit]
    return {
        "documents": [document_json(document) for document in page],
        "next_cursor": encode_cursor(page[-1].collection, page[-1].uri) if has_more else None,
    }
