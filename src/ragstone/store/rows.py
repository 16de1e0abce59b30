"""Rows as objects, and objects as the columns of rows, for every store. No SQL.

Texts in columns are either `str` or what `codec.pack` made of them: SQLite cannot store lone surrogates.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from ragstone.errors import InputError, NotFound, StoreDamaged
from ragstone.store.codec import (
    dump,
    dump_marks,
    dump_stamp,
    gaps_of,
    load,
    load_marks,
    load_stamp,
    unpack,
    unpack_body,
    unpack_optional,
)
from ragstone.store.failures import READ_AGAIN
from ragstone.store.fetch import Row
from ragstone.types import (
    Chunk,
    ChunkOutline,
    Collection,
    CollectionState,
    Document,
    KnownFile,
    PendingText,
    PreparedDocument,
    Span,
    Stamp,
    StoredChunk,
    StoredDocument,
    UnreadFile,
    UnreadFiles,
)

TEXT_ID, HEADER, SYMBOL = 1, 2, 13  # of the columns of a chunk
HASH, BESIDE = 6, 13  # of the columns of a document
_ANYWHERE: Final = Span(0, 0, 0, 0, 1, 1)


# ── collections ───────────────────────────────────────────────────────────────────────────────────


def collection_from(row: Row) -> Collection:
    """Return the collection of a row."""
    uuid, project, name, description, settings, documents, chunks, updated_at, kind = row
    return Collection(
        uuid, project, name, description, load(settings), documents, chunks, updated_at, kind
    )


def collection_state_from(row: Row) -> CollectionState:
    """Return the state of a row."""
    (
        synced_at,
        follows_folder,
        fingerprint,
        root,
        relative_root,
        needs_vectors,
        graph_seconds,
        graph_remarks,
    ) = row
    return CollectionState(
        synced_at=synced_at,
        follows_folder=bool(follows_folder),
        fingerprint=fingerprint,
        root=unpack_optional(root),
        relative_root=unpack_optional(relative_root),
        needs_vectors=bool(needs_vectors),
        graph_seconds=graph_seconds,
        graph_remarks=tuple(json.loads(graph_remarks)),
    )


def collection_state_row(state: CollectionState) -> Row:
    """Return the columns of a collection's state."""
    return (
        state.synced_at,
        state.follows_folder,
        state.fingerprint,
        state.root,
        state.relative_root,
        state.needs_vectors,
        state.graph_seconds,
        json.dumps(state.graph_remarks),
    )


def unread_files_from(recipe: str | bytes | None, rows: Iterable[Row]) -> UnreadFiles:
    """Return the unread files of rows; the recipe is None if none were stored."""
    if recipe is None:
        return UnreadFiles()
    files = {}
    for uri, stamp, reason, failed in rows:
        loaded = load_stamp(stamp)
        if loaded is not None:
            files[unpack(uri)] = UnreadFile(loaded, unpack(reason), bool(failed))
    return UnreadFiles(unpack(recipe), files)


def unread_row(uri: str, file: UnreadFile) -> Row:
    """Return the columns of an unread file."""
    return uri, dump_stamp(file.stamp), file.reason, file.failed


# ── documents ──────────────────────────────────────────────────────────────────────────────────────


def document_from(row: Row, collection: str) -> StoredDocument:
    """Return the document of a row."""
    (
        uri,
        kind,
        language,
        title,
        metadata,
        source,
        count,
        characters,
        hash_,
        stamp,
        added_at,
        marks,
        beside,
    ) = row
    return StoredDocument(
        uri=unpack(uri),
        collection=collection,
        kind=unpack(kind),
        language=unpack(language),
        title=unpack(title),
        metadata=load(metadata),
        source=unpack(source),
        chunks=count,
        characters=characters,
        hash=hash_,
        stamp=load_stamp(stamp),
        added_at=added_at,
        marks=load_marks(marks),
        beside=unpack(beside),
    )


def known_file_from(row: Row) -> tuple[str, KnownFile]:
    """Return the uri and the hash, stamp and recipe of a row."""
    uri, content_hash, stamp, recipe = row
    return unpack(uri), KnownFile(unpack(content_hash), _stamp_or_none(stamp), unpack(recipe))


def _stamp_or_none(stored: str | None) -> Stamp | None:
    """Return a stamp; None if it cannot be read, so that its file is read again."""
    try:
        return load_stamp(stored)
    except StoreDamaged:
        return None


def document_columns(prepared: PreparedDocument) -> Row:
    """Return the columns of a document, its gaps and `beside` last; `InputError` if it cannot be stored."""
    document = prepared.document
    if not document.uri:
        raise InputError("a document needs a uri", hint="give it a name")
    for chunk in prepared.chunks:
        check_slice(document, chunk)
    spans = sorted((chunk.span.start, chunk.span.end) for chunk in prepared.chunks)
    return (
        document.kind,
        document.language,
        document.title,
        dump(document.metadata, f"the metadata of {document.uri}"),
        dump_marks(document.marks),
        prepared.source,
        document.hash,
        prepared.content_hash,
        prepared.recipe,
        dump_stamp(prepared.stamp),
        len(document.text),
        len(prepared.chunks),
        gaps_of(document.text, spans),
        document.beside,
    )


def check_slice(document: Document, chunk: Chunk) -> None:
    """Raise `InputError` if a chunk is not an exact slice of its document."""
    start, end = chunk.span.start, chunk.span.end
    has_length = start >= 0 and end - start == len(chunk.text)
    if not has_length or document.text[start:end] != chunk.text:
        raise InputError(
            f"chunk {chunk.order} of {document.uri} is not a slice of its text",
            hint="the chunker must give exact slices",
        )


# ── chunks ─────────────────────────────────────────────────────────────────────────────────────────


def readable_chunks(rows: Iterable[Row]) -> list[StoredChunk]:
    """Return rows as chunks; a damaged one, which `check` reports, must not hide the others."""
    readable = []
    for row in rows:
        try:
            readable.append(_stored_chunk(row))
        except StoreDamaged:
            continue
    return readable


def _stored_chunk(row: Row) -> StoredChunk:
    number, text_id, collection, metadata, header_length, order = row[:6]
    start, end, byte_start, byte_end, line_start, line_end, page, added_at = row[6:14]
    page_label, unit, uri, title, document_kind, language, kind, symbol, content_hash = map(
        unpack, row[14:-2]
    )
    header, own = split_header(require_sound(*row[-2:]), header_length)
    if len(own) != end - start:
        raise StoreDamaged(
            "the store is damaged: a text does not fill its span", hint=READ_AGAIN
        )
    span = Span(start, end, byte_start, byte_end, line_start, line_end, page, page_label, unit)
    chunk = Chunk(own, span, order, kind, symbol, header)
    return StoredChunk(
        number,
        text_id,
        collection,
        uri,
        title,
        document_kind,
        language,
        load(metadata),
        chunk,
        content_hash,
        added_at,
    )


def outline_from(row: Row) -> ChunkOutline:
    """Return the outline of a row."""
    number, text_id, collection, uri, kind, order, symbol, start, end = row[:9]
    line_start, line_end, page, page_label, unit = row[9:]
    return ChunkOutline(
        number,
        text_id,
        collection,
        unpack(uri),
        unpack(kind),
        order,
        unpack(symbol),
        start,
        end,
        line_start,
        line_end,
        page,
        unpack(page_label),
        unpack(unit),
    )


def chunk_columns(chunk: Chunk, text_id: int) -> Row:
    """Return the columns of a chunk."""
    span = chunk.span
    return (
        chunk.order,
        text_id,
        len(chunk.header),
        span.start,
        span.end,
        span.byte_start,
        span.byte_end,
        span.line_start,
        span.line_end,
        span.page,
        span.page_label,
        span.unit,
        chunk.kind,
        chunk.symbol,
    )


def identity(columns: Row) -> Row:
    """Return the columns of a chunk that decide if it keeps its id."""
    return columns[TEXT_ID], columns[HEADER], columns[SYMBOL]


# ── texts and vectors ──────────────────────────────────────────────────────────────────────────────


def sound(key: bytes, stored: str | bytes) -> str | None:
    """Return a stored text, or None if it cannot be read or does not match its key."""
    text = readable_text(stored)
    if text is None or not isinstance(key, bytes) or not hash_of(text).startswith(key):
        return None
    return text


def require_sound(key: bytes, body: bytes) -> str:
    """Return a stored text; `StoreDamaged` if it does not match its hash."""
    text = sound(key, body)
    if text is None:
        raise StoreDamaged("the store is damaged: a text has changed", hint=READ_AGAIN)
    return text


def readable_text(stored: str | bytes) -> str | None:
    """Return a stored text, or None if it cannot be read."""
    try:
        return unpack_body(stored)
    except StoreDamaged:
        return None


def hash_of(text: str) -> bytes:
    """Return the hash of which the key of a text is a prefix."""
    return Chunk(text, _ANYWHERE, 0).hash


def split_header(text: str, length: int) -> tuple[str, str]:
    """Return the header and the chunk's own text of a stored text; the header has the given length."""
    return (text[:length], text[length + 1 :]) if length else ("", text)


def pending_texts(rows: Iterable[Row]) -> list[PendingText]:
    """Return the texts of rows; damaged ones are left out."""
    texts = []
    for number, key, body in rows:
        text = sound(key, body)
        if text is not None:
            texts.append(PendingText(number, text))
    return texts


def check_widths(vectors: Sequence[tuple[int, bytes]], width: int | None) -> int:
    """Return the length of vectors in bytes, or raise `InputError` if they differ from each other or from `width`."""
    widths = {len(data) for _, data in vectors}
    if width is not None:
        widths.add(width)
    if len(widths) > 1 or 0 in widths:
        raise InputError(
            f"vectors of one space have one length, at least a byte, not {sorted(widths)} bytes"
        )
    return max(widths, default=0)


def no_space(project: str, space_id: int) -> NotFound:
    """Return the error for a space that the project does not have."""
    return NotFound(f"project {project!r} has no space {space_id}", hint="make it first")
