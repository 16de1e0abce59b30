"""Reads documents, chunks and words from the database or from a snapshot of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.errors import StoreDamaged
from ragstone.store import catalog, filters
from ragstone.store.codec import layout, load_gaps, pack, unpack
from ragstone.store.connection import ReadSource
from ragstone.store.failures import READ_AGAIN
from ragstone.store.fetch import Row, fetch_value, row_limit
from ragstone.store.filters import Where
from ragstone.store.graph.reader import SqliteGraphReader
from ragstone.store.rows import (
    document_from,
    known_file_from,
    outline_from,
    readable_chunks,
    require_sound,
    split_header,
)
from ragstone.store.vectors import SqliteVectorReader
from ragstone.store.words import WordIndex, fts5
from ragstone.store.words.scope import WordScope
from ragstone.types import (
    BY_URI,
    ChunkOutline,
    Collection,
    CollectionKey,
    CollectionKind,
    DocumentColumn,
    DocumentOrder,
    Filter,
    KnownFile,
    Scope,
    Scored,
    StoredChunk,
    StoredDocument,
)

_DOCUMENT: Final = """
    SELECT d.uri, d.kind, d.language, d.title, d.metadata, d.source, d.chunks, d.characters, d.hash, d.stamp,
           d.added_at, d.marks, d.beside
    FROM documents d WHERE d.collection = ?"""
_DOCUMENT_BY_URI: Final = _DOCUMENT + " AND d.uri = ?"
_DOCUMENTS_AFTER: Final = (
    _DOCUMENT + " AND d.uri > ? AND {where} ORDER BY {order} LIMIT ? OFFSET ?"
)
_COUNT_AFTER: Final = """
    SELECT count(*) FROM documents d WHERE d.collection = ? AND d.uri > ? AND {where}"""
_DIRECTIONS: Final = {False: "ASC", True: "DESC"}
_ORDERS: Final[Mapping[DocumentColumn, str]] = {
    "uri": "d.uri {0}",
    "kind": "d.kind {0}, d.uri {0}",
    "chunks": "d.chunks {0}, d.uri {0}",
    "characters": "d.characters {0}, d.uri {0}",
    "added_at": "d.added_at {0}, d.uri {0}",
}
_CHUNK: Final = """
    SELECT c.id, c.text_id, col.name, d.metadata, c.header, c.ord,
           c.start, c."end", c.byte_start, c.byte_end, c.line_start, c.line_end, c.page,
           d.added_at, c.page_label, c.unit, d.uri, d.title, d.kind, d.language, c.kind, c.symbol, d.content_hash,
           t.hash, CAST(t.body AS BLOB)"""
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
    SELECT c.id, c.text_id, col.name, d.uri, d.kind, c.ord, c.symbol, c.start, c."end",
           c.line_start, c.line_end, c.page, c.page_label, c.unit
    FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value
    JOIN collections col ON col.id = c.collection
    JOIN documents d ON d.id = c.document WHERE col.project = ?"""
_COPIES: Final = """
    SELECT c.text_id, c.id FROM json_each(?) wanted CROSS JOIN chunks c ON c.text_id = wanted.value
    WHERE c.collection IN (SELECT value FROM json_each(?)) ORDER BY c.text_id, c.id"""
_TEXT: Final = "SELECT id, gaps, characters FROM documents WHERE collection = ? AND uri = ?"
_SOURCES: Final = """
    SELECT source, count(*) FROM documents WHERE collection IN (SELECT value FROM json_each(?))
    GROUP BY source ORDER BY source"""
_KNOWN: Final = (
    "SELECT uri, content_hash, stamp, recipe FROM documents WHERE collection = ? AND source = ?"
)
_KNOWN_BY_URI: Final = _KNOWN + " AND uri = ?"
_KNOWN_BETWEEN: Final = _KNOWN + " AND uri >= ? AND uri < ?"
_SPANS: Final = (
    """SELECT start, "end", id FROM chunks WHERE document = ? ORDER BY start, "end", id"""
)
_BODIES: Final = """
    SELECT c.id, c.header, t.hash, CAST(t.body AS BLOB) FROM json_each(?) wanted
    CROSS JOIN chunks c ON c.id = wanted.value JOIN texts t ON t.id = c.text_id"""
_AFTER_SLASH: Final = chr(ord("/") + 1)


class SqliteReader:
    """Implements `DocumentReader` on a source of connections: the database, or a snapshot of it."""

    def __init__(
        self,
        source: ReadSource,
        vectors: SqliteVectorReader,
        graph: SqliteGraphReader,
        words: WordIndex,
    ) -> None:
        """Take the source and the readers of vectors, graph and words."""
        self._source = source
        self._vector_reader = vectors
        self._graph_reader = graph
        self._words = words

    def reader_of(self, source: ReadSource) -> SqliteReader:
        """Return a reader of another source that shares the caches of this one."""
        vectors = SqliteVectorReader(source, self._vector_reader.cache)
        return SqliteReader(source, vectors, SqliteGraphReader(source), self._words)

    @property
    def vectors(self) -> SqliteVectorReader:
        """Return the reader of vectors."""
        return self._vector_reader

    @property
    def graph(self) -> SqliteGraphReader:
        """Return the reader of the code graph."""
        return self._graph_reader

    def generation(self, scope: Scope) -> int:
        """Return a number that changes with every committed write to a collection in scope."""
        with self._source.reading() as db:
            return catalog.generation(db, scope)

    def projects(self) -> list[str]:
        """Return the names of the projects that have collections, by name."""
        with self._source.reading() as db:
            return catalog.list_projects(db)

    def collections(self, project: str, kind: CollectionKind = "documents") -> list[Collection]:
        """Return the collections of one kind in a project, by name, with their counts."""
        with self._source.reading() as db:
            return catalog.list_collections(db, project, kind)

    def document(self, key: CollectionKey, uri: str) -> StoredDocument | None:
        """Return a document without its text, or None."""
        with self._source.reading() as db:
            collection = catalog.collection_id(db, key)
            row = db.execute(_DOCUMENT_BY_URI, (collection, pack(uri))).fetchone()
            return document_from(row, key.name) if row else None

    def documents(
        self,
        scope: Scope,
        *,
        filter: Filter | None = None,
        after: tuple[str, str] | None = None,
        order: DocumentOrder = BY_URI,
        skip: int = 0,
        limit: int = 50,
    ) -> list[StoredDocument]:
        """Return documents by collection and then in an order, without the first `skip`."""
        condition = filters.where(filter)
        columns = _ORDERS[order.column].format(_DIRECTIONS[order.descending])
        statement = _DOCUMENTS_AFTER.format(where=condition.sql, order=columns)
        count = _COUNT_AFTER.format(where=condition.sql)
        first_collection, first_uri = after or ("", "")
        page: list[StoredDocument] = []
        with self._source.reading() as db:
            for name, number in catalog.in_scope(db, scope).items():
                if name < first_collection:
                    continue
                start = pack(first_uri) if name == first_collection else ""
                parameters = (number, start, *condition.parameters)
                limits = (row_limit(limit) - len(page), row_limit(skip))
                rows = db.execute(statement, (*parameters, *limits)).fetchall()
                page += [document_from(row, name) for row in rows]
                if rows:
                    skip = 0
                elif skip > 0:
                    skip -= fetch_value(db, count, *parameters)
        return page

    def count_sources(self, scope: Scope) -> dict[str, int]:
        """Return how many documents came from each source."""
        with self._source.reading() as db:
            rows = db.execute(_SOURCES, (catalog.scope_ids(db, scope),))
            return {unpack(source): count for source, count in rows}

    def text(self, key: CollectionKey, uri: str) -> str | None:
        """Return the full text of a document, or None."""
        with self._source.reading() as db:
            return _read_text(db, key, uri, None)

    def slice(self, key: CollectionKey, uri: str, span: tuple[int, int]) -> str:
        """Return the characters from start to end of a document's text; empty if there is no such document."""
        with self._source.reading() as db:
            return _read_text(db, key, uri, span) or ""

    def known_files(
        self,
        key: CollectionKey,
        source: str,
        *,
        uris: Sequence[str] | None = None,
        below: bool = False,
    ) -> dict[str, KnownFile]:
        """Return hash, stamp and recipe of the documents that came from a source, by uri."""
        with self._source.reading() as db:
            owner = (catalog.collection_id(db, key), pack(source))
            if uris is None:
                return dict(map(known_file_from, db.execute(_KNOWN, owner)))
            rows: list[Row] = []
            for uri in uris:
                rows += db.execute(_KNOWN_BY_URI, (*owner, pack(uri)))
                if below:
                    folder = (pack(f"{uri}/"), pack(f"{uri}{_AFTER_SLASH}"))
                    rows += db.execute(_KNOWN_BETWEEN, (*owner, *folder))
            return dict(map(known_file_from, rows))

    def document_chunks(self, key: CollectionKey, uri: str) -> list[StoredChunk]:
        """Return the chunks of a document in order; damaged ones are left out."""
        with self._source.reading() as db:
            collection = catalog.collection_id(db, key)
            return readable_chunks(db.execute(_CHUNKS_OF_DOCUMENT, (collection, pack(uri))))

    def chunks(self, project: str, ids: Sequence[int]) -> dict[int, StoredChunk]:
        """Return chunks of a project by id; damaged ones and ids of other projects are left out."""
        with self._source.reading() as db:
            project_id = catalog.project_id(db, project)
            rows = db.execute(_CHUNKS_BY_ID, (catalog.id_list(ids), project_id))
            return {chunk.id: chunk for chunk in readable_chunks(rows)}

    def outlines(self, project: str, ids: Sequence[int]) -> dict[int, ChunkOutline]:
        """Return outlines of chunks of a project by id; ids of other projects are left out."""
        with self._source.reading() as db:
            project_id = catalog.project_id(db, project)
            rows = db.execute(_OUTLINES, (catalog.id_list(ids), project_id))
            return {row[0]: outline_from(row) for row in rows}

    def copies(self, scope: Scope, text_ids: Sequence[int]) -> dict[int, list[int]]:
        """Return the ids of all chunks in scope that have each text."""
        chunks_by_text: dict[int, list[int]] = {}
        texts = catalog.id_list(dict.fromkeys(text_ids))
        with self._source.reading() as db:
            rows = db.execute(_COPIES, (texts, catalog.scope_ids(db, scope)))
            for text_id, chunk_id in rows:
                chunks_by_text.setdefault(text_id, []).append(chunk_id)
        return chunks_by_text

    def search_words(
        self, scope: Scope, terms: Sequence[str], *, limit: int, filter: Filter | None = None
    ) -> list[Scored]:
        """Return chunks with any of the terms, best first."""
        has_filter = filter is not None and bool(filter.conditions)
        condition = filters.where(filter) if has_filter else None
        if limit <= 0 or not terms:
            return []
        with self._source.reading() as db:
            word_scope = _word_scope(db, scope, condition)
            return self._words.search(db, word_scope, terms, row_limit(limit))

    def known_terms(self, scope: Scope, terms: Sequence[str]) -> set[str]:
        """Return those of the terms that a chunk in scope has."""
        with self._source.reading() as db:
            return fts5.known_terms(db, _word_scope(db, scope, None), terms)

    def term_rarities(self, scope: Scope, terms: Sequence[str]) -> Mapping[str, float]:
        """Return how rare each term is among the chunks in scope."""
        with self._source.reading() as db:
            return self._words.rarities(db, _word_scope(db, scope, None), terms)


def _word_scope(db: sqlite3.Connection, scope: Scope, condition: Where | None) -> WordScope:
    """Return the collections to search by words, and the condition on documents."""
    collections = list(catalog.in_scope(db, scope).values())
    count = fetch_value(db, "SELECT count(*) FROM collections")
    if condition is None and len(collections) == count:
        return WordScope(None, None)  # the whole index is searched faster
    return WordScope(collections, condition)


def _read_text(
    db: sqlite3.Connection, key: CollectionKey, uri: str, span: tuple[int, int] | None
) -> str | None:
    """Return a part of a document's text, all of it without a span; None if there is no such document."""
    collection = catalog.collection_id(db, key)
    row = db.execute(_TEXT, (collection, pack(uri))).fetchone()
    if row is None:
        return None
    number, gaps, length = row
    return join_text(db, number, load_gaps(gaps), length, span or (0, length))


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
        _, own = split_header(require_sound(key, body), header_length)
        bodies[number] = own
    return bodies
