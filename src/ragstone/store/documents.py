"""Documents and chunks as they are stored, and the text of a document put together again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ragstone.errors import StoreDamaged
from ragstone.store import catalog, filters, texts
from ragstone.store.catalog import CollectionIds
from ragstone.store.codec import dump_stamp, layout, load, load_gaps, load_marks, load_stamp, pack, unpack, unpack_body
from ragstone.store.failures import READ_AGAIN
from ragstone.store.words.fts5_index import split_header
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
_ONE_DOCUMENT: Final = _DOCUMENT + " AND d.uri = ?"
_SOME_DOCUMENTS: Final = _DOCUMENT + " AND d.uri > ? AND {where} ORDER BY d.uri LIMIT ?"
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
_SPANS: Final = """SELECT start, "end", id FROM chunks WHERE document = ? ORDER BY start, "end", id"""
_BODIES: Final = """
    SELECT c.id, c.header, CAST(t.body AS BLOB) FROM json_each(?) wanted
    CROSS JOIN chunks c ON c.id = wanted.value JOIN texts t ON t.id = c.text_id"""
_EVERY_DOCUMENT: Final = """
    SELECT col.name, d.id, d.gaps, d.characters, d.hash, d.uri, d.kind, d.language, d.title, d.metadata, d.marks,
           d.beside
    FROM documents d JOIN collections col ON col.id = d.collection ORDER BY d.collection, d.uri"""
_HOLDERS: Final = "SELECT document FROM chunks WHERE text_id IN (SELECT value FROM json_each(?))"
_KNOWN: Final = "SELECT uri, content_hash, stamp, recipe FROM documents WHERE collection = ? AND source = ?"
_ONE_KNOWN: Final = _KNOWN + " AND uri = ?"
_KNOWN_BELOW: Final = _KNOWN + " AND uri >= ? AND uri < ?"
_AFTER_SLASH: Final = chr(ord("/") + 1)
_TOUCH: Final = """
    UPDATE documents SET stamp = ? WHERE collection = ? AND uri = ? AND source = ? AND stamp IS NOT ?"""


def row_limit(limit: int) -> int:
    """Return a limit that SQLite can hold, 0 for a negative one."""
    return max(0, min(limit, _LARGEST_LIMIT))


def document(db: sqlite3.Connection, place: CollectionIds, collection: str, uri: str) -> StoredDocument | None:
    """Return what is stored of one document."""
    row = db.execute(_ONE_DOCUMENT, (place.collection, pack(uri))).fetchone()
    return _document(row, collection) if row else None


def documents(
    db: sqlite3.Connection, scope: Scope, *, filter: Filter | None, after: tuple[str, str] | None, limit: int
) -> list[StoredDocument]:
    """Return documents ordered by (collection, uri), from behind `after` on."""
    condition = filters.where(filter)
    statement = _SOME_DOCUMENTS.format(where=condition.sql)
    found: list[StoredDocument] = []
    for name, number in catalog.in_scope(db, scope).items():
        missing = row_limit(limit) - len(found)
        if missing <= 0:
            break
        if after is None or name >= after[0]:
            behind = pack(after[1]) if after is not None and name == after[0] else ""
            rows = db.execute(statement, (number, behind, *condition.parameters, missing))
            found += [_document(row, name) for row in rows]
    return found


def text(db: sqlite3.Connection, place: CollectionIds, uri: str, span: tuple[int, int] | None = None) -> str | None:
    """Return a document's text, or a part of it: its chunks with the gaps between them."""
    row = db.execute(
        "SELECT id, gaps, characters FROM documents WHERE collection = ? AND uri = ?", (place.collection, pack(uri))
    ).fetchone()
    return _text(db, *row, span=span) if row else None


def _text(
    db: sqlite3.Connection, number: int, packed: str | bytes, length: int, *, span: tuple[int, int] | None = None
) -> str:
    gaps = load_gaps(packed)
    start, end = (max(0, span[0]), min(length, span[1])) if span else (0, length)
    rows = db.execute(_SPANS, (number,)).fetchall()
    pieces = [piece for piece in layout([row[:2] for row in rows], length) if piece.start < end and piece.end > start]
    bodies = _bodies(db, [rows[piece.chunk][2] for piece in pieces if piece.chunk is not None])
    parts = []
    for piece in pieces:
        source = gaps if piece.chunk is None else bodies.get(rows[piece.chunk][2], "")
        offset = piece.offset - piece.start
        parts.append(source[max(start, piece.start) + offset : min(end, piece.end) + offset])
    whole = "".join(parts)
    if len(whole) != max(0, end - start):
        raise StoreDamaged("the store is damaged: a document's text has holes", hint=READ_AGAIN)
    return whole


def _bodies(db: sqlite3.Connection, chunk_ids: Sequence[int]) -> dict[int, str]:
    rows = db.execute(_BODIES, (catalog.id_list(chunk_ids),))
    return {number: split_header(unpack_body(body), header)[1] for number, header, body in rows}


def wrong_documents(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the collection and uri of every document of the store that is not what was stored."""
    of_damaged = db.execute(_HOLDERS, (catalog.id_list(texts.damaged(db)),))
    wrong = {row[0] for row in of_damaged}
    for collection, number, *row in db.execute(_EVERY_DOCUMENT).fetchall():
        if number in wrong or not _whole(db, number, row):
            uri = row[3]
            yield f"{collection}/{uri if isinstance(uri, str) else bytes(uri).decode(errors='replace')}"


def _whole(db: sqlite3.Connection, number: int, row: Sequence[Any]) -> bool:
    """Return whether a document can be read and has the hash it should have."""
    gaps, characters, wanted, uri, kind, language, title, metadata, marks, beside = row
    try:
        rebuilt = Document(
            uri=unpack(uri),
            text=_text(db, number, gaps, characters),
            kind=unpack(kind),
            language=unpack(language),
            title=unpack(title),
            metadata=load(metadata),
            marks=load_marks(marks),
            beside=unpack(beside),
        )
    except StoreDamaged:
        return False
    return bool(rebuilt.hash == wanted)


def known_files(
    db: sqlite3.Connection, place: CollectionIds, source: str, *, uris: Sequence[str] | None = None, below: bool = False
) -> dict[str, KnownFile]:
    """Return what is remembered of every document that came from a source, or of some, or of those below some."""
    whose = (place.collection, pack(source))
    if uris is None:
        rows = db.execute(_KNOWN, whose).fetchall()
    else:
        rows = [row for uri in uris for row in db.execute(_ONE_KNOWN, (*whose, pack(uri)))]
        if below:
            ranges = [(pack(f"{uri}/"), pack(f"{uri}{_AFTER_SLASH}")) for uri in uris]
            rows += [row for first, end in ranges for row in db.execute(_KNOWN_BELOW, (*whose, first, end))]
    return {unpack(uri): KnownFile(unpack(hash_), _stamp(stamp), unpack(recipe)) for uri, hash_, stamp, recipe in rows}


def _stamp(stored: str | None) -> Stamp | None:
    """Return a stamp; none for one that cannot be read, so that its file is looked into again."""
    try:
        return load_stamp(stored)
    except StoreDamaged:
        return None


def touch(db: sqlite3.Connection, place: CollectionIds, source: str, stamps: Mapping[str, Stamp | None]) -> None:
    """Note new stamps; those that are the same change nothing."""
    packed = ((pack(uri), dump_stamp(stamp)) for uri, stamp in stamps.items())
    db.executemany(_TOUCH, [(stamp, place.collection, uri, pack(source), stamp) for uri, stamp in packed])


def document_chunks(db: sqlite3.Connection, place: CollectionIds, uri: str) -> list[StoredChunk]:
    """Return a document's chunks in order, those that cannot be read left out."""
    return _readable_chunks(db.execute(_CHUNKS_OF_DOCUMENT, (place.collection, pack(uri))))


def chunks(db: sqlite3.Connection, project: str, ids: Sequence[int]) -> dict[int, StoredChunk]:
    """Return chunks of a project by id, those that cannot be read left out."""
    rows = db.execute(_CHUNKS_BY_ID, (catalog.id_list(ids), catalog.project_id(db, project)))
    return {chunk.id: chunk for chunk in _readable_chunks(rows)}


def outlines(db: sqlite3.Connection, project: str, ids: Sequence[int]) -> dict[int, ChunkOutline]:
    """Return what ranking looks at of a project's chunks, by id."""
    found = map(ChunkOutline._make, db.execute(_OUTLINES, (catalog.id_list(ids), catalog.project_id(db, project))))
    return {
        row.id: row if type(row.uri) is type(row.document_kind) is type(row.symbol) is str else _readable(row)
        for row in found
    }


def copies(db: sqlite3.Connection, scope: Scope, text_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return, for each text, the ids of all chunks in scope that hold it."""
    found: dict[int, list[int]] = {}
    wanted = (catalog.id_list(list(dict.fromkeys(text_ids))), catalog.scope_ids(db, scope))
    for text_id, chunk_id in db.execute(_COPIES, wanted):
        found.setdefault(text_id, []).append(chunk_id)
    return found


def _document(row: tuple[Any, ...], collection: str) -> StoredDocument:
    uri, kind, language, title, metadata, source, count, characters, hash_, stamp, added_at, marks, beside = row
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


def _readable(row: ChunkOutline) -> ChunkOutline:
    """Return an outline whose texts had lone surrogates, as it was put."""
    return row._replace(uri=unpack(row.uri), document_kind=unpack(row.document_kind), symbol=unpack(row.symbol))


def _readable_chunks(rows: Iterable[tuple[Any, ...]]) -> list[StoredChunk]:
    """Return rows as chunks: one that is damaged, which `check` tells of, must not hide the others."""
    found = []
    for row in rows:
        try:
            found.append(_chunk(row))
        except StoreDamaged:
            continue
    return found


def _chunk(row: tuple[Any, ...]) -> StoredChunk:
    number, text_id, collection, metadata, length, order = row[:6]
    told = row[13:-1]
    if set(map(type, told)) != {str}:  # bytes only where a text has lone surrogates, and few have
        told = tuple(map(unpack, told))
    page_label, unit, uri, title, document_kind, language, kind, symbol = told
    header, own = split_header(unpack_body(row[-1]), length)
    start, end, byte_start, byte_end, line_start, line_end, page = row[6:13]
    if len(own) != end - start:
        raise StoreDamaged("the store is damaged: a text that does not fill its place", hint=READ_AGAIN)
    span = Span(start, end, byte_start, byte_end, line_start, line_end, page, page_label, unit)
    chunk = Chunk(own, span, order, kind, symbol, header)
    return StoredChunk(number, text_id, collection, uri, title, document_kind, language, load(metadata), chunk)
