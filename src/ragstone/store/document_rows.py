"""Rows of documents and chunks as objects, and the text of a document from its chunks and gaps."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ragstone.errors import StoreDamaged
from ragstone.store import catalog, texts
from ragstone.store.codec import (
    layout,
    load,
    load_gaps,
    load_marks,
    load_stamp,
    unpack,
)
from ragstone.store.failures import READ_AGAIN
from ragstone.store.fetch import Row, fetch_column
from ragstone.types import (
    Chunk,
    ChunkOutline,
    Document,
    KnownFile,
    Span,
    Stamp,
    StoredChunk,
    StoredDocument,
)

_SPANS: Final = (
    """SELECT start, "end", id FROM chunks WHERE document = ? ORDER BY start, "end", id"""
)
_BODIES: Final = """
    SELECT c.id, c.header, t.hash, CAST(t.body AS BLOB) FROM json_each(?) wanted
    CROSS JOIN chunks c ON c.id = wanted.value JOIN texts t ON t.id = c.text_id"""
_ALL_DOCUMENTS: Final = """
    SELECT col.name, d.id, d.gaps, d.characters, d.hash, d.uri, d.kind, d.language, d.title, d.metadata, d.marks,
           d.beside
    FROM documents d JOIN collections col ON col.id = d.collection ORDER BY d.collection, d.uri"""
_DOCUMENTS_WITH_TEXTS: Final = (
    "SELECT document FROM chunks WHERE text_id IN (SELECT value FROM json_each(?))"
)


# ── documents ─────────────────────────────────────────────────────────────────────────────────────


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


# ── texts of documents ────────────────────────────────────────────────────────────────────────────


def join_text(
    db: sqlite3.Connection, document: int, gaps: str, length: int, span: tuple[int, int]
) -> str:
    """Return a part of a text from the chunks of its document and the gaps between them."""
    start, end = max(0, span[0]), min(length, span[1])
    rows = db.execute(_SPANS, (document,)).fetchall()
    spans = [(chunk_start, chunk_end) for chunk_start, chunk_end, _ in rows]
    pieces = [
        piece for piece in layout(spans, length) if piece.start < end and piece.end > start
    ]
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
    for number, header_length, key, body in db.execute(_BODIES, (catalog.id_list(chunk_ids),)):
        _, own = texts.split_header(_sound_text(key, body), header_length)
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


def _is_intact(db: sqlite3.Connection, number: int, row: Row) -> bool:
    gaps, length, stored_hash, uri, kind, language, title, metadata, marks, beside = row
    try:
        rebuilt = Document(
            uri=unpack(uri),
            text=join_text(db, number, load_gaps(gaps), length, (0, length)),
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
    header, own = texts.split_header(_sound_text(*row[-2:]), header_length)
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


def _sound_text(key: bytes, body: bytes) -> str:
    """Return a stored text; `StoreDamaged` if it does not match its hash."""
    text = texts.sound(key, body)
    if text is None:
        raise StoreDamaged("the store is damaged: a text has changed", hint=READ_AGAIN)
    return text


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
