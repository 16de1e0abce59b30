"""Reads stored documents and chunks, and puts the text of a document together again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ragstone.errors import StoreDamaged
from ragstone.store import catalog, filters, texts
from ragstone.store.codec import (
    dump_stamp,
    layout,
    load,
    load_gaps,
    load_marks,
    load_stamp,
    pack,
    unpack,
    unpack_body,
)
from ragstone.store.failures import READ_AGAIN
from ragstone.store.fetch import fetch_column
from ragstone.types import (
    Chunk,
    ChunkOutline,
    Document,
    Filter,
    KnownFile,
    Scope,
    Span,
    Stamp,
    StoredChunk,
    StoredDocument,
)

_LARGEST_LIMIT: Final = 1 << 31
_DOCUMENT: Final = """
    SELECT d.uri, d.kind, d.language, d.title, d.metadata, d.source, d.chunks, d.characters, d.hash, d.stamp,
           d.added_at, d.marks, d.beside
    FROM documents d WHERE d.collection = ?"""
_DOCUMENT_BY_URI: Final = _DOCUMENT + " AND d.uri = ?"
_DOCUMENTS_AFTER: Final = _DOCUMENT + " AND d.uri > ? AND {where} ORDER BY d.uri LIMIT ?"
_CHUNK: Final = """
    SELECT c.id, c.text_id, col.name, d.metadata, c.header, c.ord,
           c.start, c."end", c.byte_start, c.byte_end, c.line_start, c.line_end, c.page,
           c.page_label, c.unit, d.uri, d.title, d.kind, d.language, c.kind, c.symbol, CAST(t.body AS BLOB)"""
_CHUNKS_OF_DOCUMENT: Final = (
    _CHUNK
    + """
    FROM documents d JOIN collections col ON col.id = d.collection
    JOIN chunks c ON c.document = d.id JOIN texts t ON t.id = c.text_id
    WHERE d.collection = ? AND d.uri = ? ORDER BY c.ord, c.id"""
)
_CHUNKS_BY_ID: Final = (
    _CHUNK
    + """
    FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value
    JOIN collections col ON col.id = c.collection
    JOIN documents d ON d.id = c.document JOIN texts t ON t.id = c.text_id WHERE col.project = ?"""
)
_OUTLINES: Final = """
    SELECT c.id, c.text_id, col.name, d.uri, d.kind, c.ord, c.symbol, c.start, c."end"
    FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value
    JOIN collections col ON col.id = c.collection
    JOIN documents d ON d.id = c.document WHERE col.project = ?"""
_COPIES: Final = """
    SELECT c.text_id, c.id FROM json_each(?) wanted CROSS JOIN chunks c ON c.text_id = wanted.value
    WHERE c.collection IN (SELECT value FROM json_each(?)) ORDER BY c.text_id, c.id"""
_SPANS: Final = (
    """SELECT start, "end", id FROM chunks WHERE document = ? ORDER BY start, "end", id"""
)
_BODIES: Final = """
    SELECT c.id, c.header, CAST(t.body AS BLOB) FROM json_each(?) wanted
    CROSS JOIN chunks c ON c.id = wanted.value JOIN texts t ON t.id = c.text_id"""
_TEXT: Final = "SELECT id, gaps, characters FROM documents WHERE collection = ? AND uri = ?"
_ALL_DOCUMENTS: Final = """
    SELECT col.name, d.id, d.gaps, d.characters, d.hash, d.uri, d.kind, d.language, d.title, d.metadata, d.marks,
           d.beside
    FROM documents d JOIN collections col ON col.id = d.collection ORDER BY d.collection, d.uri"""
_DOCUMENTS_WITH_TEXTS: Final = (
    "SELECT document FROM chunks WHERE text_id IN (SELECT value FROM json_each(?))"
)
_KNOWN: Final = (
    "SELECT uri, content_hash, stamp, recipe FROM documents WHERE collection = ? AND source = ?"
)
_KNOWN_BY_URI: Final = _KNOWN + " AND uri = ?"
_KNOWN_BETWEEN: Final = _KNOWN + " AND uri >= ? AND uri < ?"
_AFTER_SLASH: Final = chr(ord("/") + 1)
_TOUCH: Final = """
    UPDATE documents SET stamp = ? WHERE collection = ? AND uri = ? AND source = ? AND stamp IS NOT ?"""


def row_limit(limit: int) -> int:
    """Return a limit that SQLite can hold, 0 for a negative one."""
    return max(0, min(limit, _LARGEST_LIMIT))


# ── documents ─────────────────────────────────────────────────────────────────────────────────────


def document(
    db: sqlite3.Connection, collection: int, collection_name: str, uri: str
) -> StoredDocument | None:
    """Return a document without its text, or None."""
    row = db.execute(_DOCUMENT_BY_URI, (collection, pack(uri))).fetchone()
    return _stored_document(row, collection_name) if row else None


def documents(
    db: sqlite3.Connection,
    scope: Scope,
    *,
    filter: Filter | None,
    after: tuple[str, str] | None,
    limit: int,
) -> list[StoredDocument]:
    """Return documents by (collection, uri), starting after the pair `after`."""
    condition = filters.where(filter)
    statement = _DOCUMENTS_AFTER.format(where=condition.sql)
    first_collection, first_uri = after or ("", "")
    page: list[StoredDocument] = []
    for name, number in catalog.in_scope(db, scope).items():
        missing = row_limit(limit) - len(page)
        if missing <= 0:
            break
        if name >= first_collection:
            start = pack(first_uri) if name == first_collection else ""
            rows = db.execute(statement, (number, start, *condition.parameters, missing))
            page += [_stored_document(row, name) for row in rows]
    return page


def _stored_document(row: tuple[Any, ...], collection: str) -> StoredDocument:
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


def known_files(
    db: sqlite3.Connection,
    collection: int,
    source: str,
    *,
    uris: Sequence[str] | None,
    below: bool,
) -> dict[str, KnownFile]:
    """Return hash, stamp and recipe of the documents that came from a source, by uri."""
    owner = (collection, pack(source))
    if uris is None:
        rows = db.execute(_KNOWN, owner).fetchall()
    else:
        rows = []
        for uri in uris:
            rows += db.execute(_KNOWN_BY_URI, (*owner, pack(uri)))
            if below:
                folder = (pack(f"{uri}/"), pack(f"{uri}{_AFTER_SLASH}"))
                rows += db.execute(_KNOWN_BETWEEN, (*owner, *folder))
    files = {}
    for uri, content_hash, stamp, recipe in rows:
        file = KnownFile(unpack(content_hash), _stamp_or_none(stamp), unpack(recipe))
        files[unpack(uri)] = file
    return files


def _stamp_or_none(stored: str | None) -> Stamp | None:
    """Return a stamp; None if it cannot be read, so that its file is read again."""
    try:
        return load_stamp(stored)
    except StoreDamaged:
        return None


def touch(
    db: sqlite3.Connection, collection: int, source: str, stamps: Mapping[str, Stamp | None]
) -> None:
    """Store new stamps; equal ones change nothing."""
    for uri, stamp in stamps.items():
        packed = dump_stamp(stamp)
        db.execute(_TOUCH, (packed, collection, pack(uri), pack(source), packed))


# ── texts of documents ────────────────────────────────────────────────────────────────────────────


def text(
    db: sqlite3.Connection, collection: int, uri: str, span: tuple[int, int] | None = None
) -> str | None:
    """Return the text of a document, or the part of it inside of a span; None if there is no such document."""
    row = db.execute(_TEXT, (collection, pack(uri))).fetchone()
    if row is None:
        return None
    number, gaps, length = row
    return _join_text(db, number, load_gaps(gaps), length, span or (0, length))


def _join_text(
    db: sqlite3.Connection, document: int, gaps: str, length: int, span: tuple[int, int]
) -> str:
    """Return a part of a text from the chunks of its document and the gaps between them."""
    start, end = max(0, span[0]), min(length, span[1])
    rows = db.execute(_SPANS, (document,)).fetchall()
    spans = [(chunk_start, chunk_end) for chunk_start, chunk_end, _ in rows]
    pieces = [piece for piece in layout(spans, length) if piece.start < end and piece.end > start]
    bodies = _bodies(db, [rows[piece.chunk][2] for piece in pieces if piece.chunk is not None])
    parts = []
    for piece in pieces:
        source = gaps
        if piece.chunk is not None:
            source = bodies.get(rows[piece.chunk][2], "")
        shift = piece.offset - piece.start
        first = max(start, piece.start) + shift
        last = min(end, piece.end) + shift
        parts.append(source[first:last])
    joined = "".join(parts)
    if len(joined) != max(0, end - start):
        raise StoreDamaged("the store is damaged: a document's text has holes", hint=READ_AGAIN)
    return joined


def _bodies(db: sqlite3.Connection, chunk_ids: Sequence[int]) -> dict[int, str]:
    bodies = {}
    for number, header_length, body in db.execute(_BODIES, (catalog.id_list(chunk_ids),)):
        _, own = texts.split_header(unpack_body(body), header_length)
        bodies[number] = own
    return bodies


def damaged_documents(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the collection and uri of every document that cannot be read or does not match its hash."""
    damaged_texts = catalog.id_list(texts.damaged_texts(db))
    with_damaged_text = set(fetch_column(db, _DOCUMENTS_WITH_TEXTS, damaged_texts))
    for collection, number, *row in db.execute(_ALL_DOCUMENTS).fetchall():
        if number in with_damaged_text or not _is_intact(db, number, row):
            uri = row[3]
            if not isinstance(uri, str):
                uri = bytes(uri).decode(errors="replace")
            yield f"{collection}/{uri}"


def _is_intact(db: sqlite3.Connection, number: int, row: Sequence[Any]) -> bool:
    gaps, length, stored_hash, uri, kind, language, title, metadata, marks, beside = row
    try:
        rebuilt = Document(
            uri=unpack(uri),
            text=_join_text(db, number, load_gaps(gaps), length, (0, length)),
            kind=unpack(kind),
            language=unpack(language),
            title=unpack(title),
            metadata=load(metadata),
            marks=load_marks(marks),
            beside=unpack(beside),
        )
    except StoreDamaged:
        return False
    return bool(rebuilt.hash == stored_hash)


# ── chunks ────────────────────────────────────────────────────────────────────────────────────────


def document_chunks(db: sqlite3.Connection, collection: int, uri: str) -> list[StoredChunk]:
    """Return the chunks of a document in order; damaged ones are left out."""
    return _readable_chunks(db.execute(_CHUNKS_OF_DOCUMENT, (collection, pack(uri))))


def chunks(
    db: sqlite3.Connection, project: str, chunk_ids: Sequence[int]
) -> dict[int, StoredChunk]:
    """Return chunks of a project by id; damaged ones are left out."""
    rows = db.execute(_CHUNKS_BY_ID, (catalog.id_list(chunk_ids), catalog.project_id(db, project)))
    return {chunk.id: chunk for chunk in _readable_chunks(rows)}


def outlines(
    db: sqlite3.Connection, project: str, chunk_ids: Sequence[int]
) -> dict[int, ChunkOutline]:
    """Return outlines of chunks of a project by id."""
    rows = db.execute(_OUTLINES, (catalog.id_list(chunk_ids), catalog.project_id(db, project)))
    by_id = {}
    for row in rows:
        number, text_id, collection, uri, kind, order, symbol, start, end = row
        by_id[number] = ChunkOutline(
            number,
            text_id,
            collection,
            unpack(uri),
            unpack(kind),
            order,
            unpack(symbol),
            start,
            end,
        )
    return by_id


def copies(db: sqlite3.Connection, scope: Scope, text_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the ids of all chunks in scope that have each text."""
    chunks_by_text: dict[int, list[int]] = {}
    listed = catalog.id_list(dict.fromkeys(text_ids))
    for text_id, chunk_id in db.execute(_COPIES, (listed, catalog.scope_ids(db, scope))):
        chunks_by_text.setdefault(text_id, []).append(chunk_id)
    return chunks_by_text


def _readable_chunks(rows: Iterable[tuple[Any, ...]]) -> list[StoredChunk]:
    """Return rows as chunks; a damaged one, which `check` reports, must not hide the others."""
    readable = []
    for row in rows:
        try:
            readable.append(_stored_chunk(row))
        except StoreDamaged:
            continue
    return readable


def _stored_chunk(row: tuple[Any, ...]) -> StoredChunk:
    number, text_id, collection, metadata, header_length, order = row[:6]
    start, end, byte_start, byte_end, line_start, line_end, page = row[6:13]
    page_label, unit, uri, title, document_kind, language, kind, symbol = map(unpack, row[13:-1])
    header, own = texts.split_header(unpack_body(row[-1]), header_length)
    if len(own) != end - start:
        raise StoreDamaged("the store is damaged: a text does not fill its span", hint=READ_AGAIN)
    span = Span(start, end, byte_start, byte_end, line_start, line_end, page, page_label, unit)
    chunk = Chunk(own, span, order, kind, symbol, header)
    return StoredChunk(
        number, text_id, collection, uri, title, document_kind, language, load(metadata), chunk
    )
