"""Uploaded files: each becomes a document; one that cannot be read does not stop the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragstone.engine import Engine
from ragstone.errors import InputError, ProviderError, QuotaError, ReadError
from ragstone.indexing.backfill import outage_note
from ragstone.protocols import JobFile, Progress
from ragstone.read.choose_reader import explain_no_text, reader_for
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.reports import skips_json
from ragstone.types import Document, Metadata, Skip


def check_file_name(name: str | None) -> str:
    """Return the name of a file as a uri; `InputError` if it has none."""
    uri = (name or "").replace("\\", "/").strip("/")
    if not uri.strip():
        raise InputError("a file has no name", hint='-F "files=@notes.md"')
    return uri


def add_files(
    engine: Engine,
    files: Sequence[JobFile],
    collection: str,
    progress: Progress,
    *,
    metadata: Metadata,
) -> Json:
    """Store files and return the chunks of each, and the files that could not be read or stored."""
    documents: list[Json] = []
    failed: list[Skip] = []
    for number, file in enumerate(files):
        progress("read", number, len(files))
        try:
            document = _read(engine, file)
            document = replace(document, metadata={**document.metadata, **metadata})
            report = engine.add(document, collection=collection, embed=False)
        except (InputError, ReadError, QuotaError) as error:
            failed.append(Skip(file.name, str(error)))
            continue
        documents.append(
            {
                "source_doc_id": document.uri,
                "chunks_added": report.chunks_added,
                "chunks_skipped": report.chunks_skipped,
                "replaced": any(
                    result.kept or result.removed for result in report.per_document
                ),
            }
        )
    progress("read", len(files), len(files))
    embedded = 0
    notes = []
    if documents:
        try:
            embedded = engine.admin.embed(collection=collection, progress=progress)
        except ProviderError as error:
            notes.append(outage_note(engine.settings, error))
    return {
        "success": not failed,
        "documents": documents,
        "failed": skips_json(failed),
        "embedded": embedded,
        "notes": notes,
    }


def _read(engine: Engine, file: JobFile) -> Document:
    ocr = engine.settings.ocr
    reader_for(file.name, ocr=ocr)  # refuses an unsupported type by its name
    problem = engine.admin.source().limits.explain_excess(file.name, file.size)
    if problem:
        raise ReadError(problem, hint="split the file")
    data = file.read()
    reason = explain_no_text(data, file.name, ocr)
    if reason is not None:
        raise ReadError(reason, hint="give a file of text")
    return reader_for(file.name, data, ocr).read(data, file.name)
