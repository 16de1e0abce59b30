"""Stores and removes documents: unchanged chunks keep their ids, removed ones leave every search at once.

A batch is read with one statement per table and written with one per table, because each costs a round trip.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from ragstone.store.catalog import CollectionIds
from ragstone.store.codec import dump_stamp
from ragstone.store.fetch import Row, fetch_column, fetch_value
from ragstone.store.postgres import catalog, words
from ragstone.store.postgres.connection import Transaction
from ragstone.store.postgres.texts import TextBatch
from ragstone.store.rows import BESIDE, HASH, chunk_columns, document_columns, identity
from ragstone.store.words.terms import ChunkText, searchable_header
from ragstone.types import Chunk, Document, PreparedDocument, PutResult, Stamp

_FIND_DOCUMENTS: Final = """
    SELECT uri, id, added_at, kind, language, title, metadata, marks, source, hash, content_hash, recipe, stamp,
           characters, chunks, gaps, beside
    FROM documents WHERE collection = %s AND uri = ANY(%s::text[])"""
_ADD_DOCUMENT: Final = """
    INSERT INTO documents (kind, language, title, metadata, marks, source, hash, content_hash, recipe, stamp,
                           characters, chunks, gaps, beside, id, project, collection, uri, added_at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
_CHANGE_DOCUMENT: Final = """
    UPDATE documents SET kind = %s, language = %s, title = %s, metadata = %s, marks = %s, source = %s, hash = %s,
        content_hash = %s, recipe = %s, stamp = %s, characters = %s, chunks = %s, gaps = %s, beside = %s, added_at = %s
    WHERE id = %s"""
_FIND_CHUNKS: Final = """
    SELECT document, terms, ord, text_id, header, span_start, span_end, byte_start, byte_end, line_start, line_end,
           page, page_label, unit, kind, symbol, id
    FROM chunks WHERE document = ANY(%s) ORDER BY document, ord"""
_ADD_CHUNK: Final = """
    INSERT INTO chunks (ord, text_id, header, span_start, span_end, byte_start, byte_end, line_start, line_end, page,
                        page_label, unit, kind, symbol, terms, id, project, collection, document)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
_CHANGE_CHUNK: Final = """
    UPDATE chunks SET ord = %s, text_id = %s, header = %s, span_start = %s, span_end = %s, byte_start = %s,
        byte_end = %s, line_start = %s, line_end = %s, page = %s, page_label = %s, unit = %s, kind = %s, symbol = %s
    WHERE id = %s"""
_NEW_IDS: Final = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
_TOUCH: Final = """
    UPDATE documents SET stamp = %s
    WHERE collection = %s AND uri = %s AND source = %s AND stamp IS DISTINCT FROM %s"""
_REMOVE_CHUNKS: Final = "DELETE FROM chunks WHERE id = ANY(%s)"
_DOCUMENT_IDS: Final = (
    "SELECT id FROM documents WHERE collection = %s AND uri = ANY(%s::text[])"
)
_CHUNKS_OF: Final = "SELECT id, terms FROM chunks WHERE document = ANY(%s)"
_REMOVE_DOCUMENTS: Final = "DELETE FROM documents WHERE id = ANY(%s)"


class DocumentBatch:
    """Stores documents in one transaction: plans the rows of each document, then writes all of them."""

    def __init__(self, db: Transaction, ids: CollectionIds, now: float) -> None:
        """Take the transaction, the collection and the time."""
        self._db = db
        self._ids = ids
        self._now = now
        self._texts = TextBatch(db, ids.project)
        self._stored: dict[str, Row] = {}
        self._stored_chunks: dict[int, list[Row]] = {}
        self._documents: list[Row] = []
        self._changed_documents: list[Row] = []
        self._chunks: list[Row] = []
        self._changed_chunks: list[Row] = []
        self._removed_chunks: list[int] = []
        self._words: list[words.ChunkWords] = []
        self._terms = 0

    def run(self, prepared: Sequence[PreparedDocument]) -> list[PutResult]:
        """Store documents and return the changes of each; if two have the same uri, the later one is stored."""
        by_uri = {item.document.uri: item for item in prepared}
        columns = {uri: document_columns(item) for uri, item in by_uri.items()}
        self._read(list(by_uri.values()))
        results = {uri: self._plan_document(item, columns[uri]) for uri, item in by_uri.items()}
        changes_before = self._db.total_changes
        self._write()
        if self._db.total_changes != changes_before:
            catalog.add_to_counts(
                self._db,
                self._ids.collection,
                documents=len(self._documents),
                chunks=len(self._chunks) - len(self._removed_chunks),
                terms=self._terms,
                now=self._now,
            )
        return [
            results[item.document.uri]
            if by_uri[item.document.uri] is item
            else PutResult(item.document.uri, 0, 0, 0)
            for item in prepared
        ]

    def _read(self, prepared: Sequence[PreparedDocument]) -> None:
        """Read the stored rows of the documents, and find or plan the rows of all texts."""
        uris = [item.document.uri for item in prepared]
        rows = self._db.execute(_FIND_DOCUMENTS, (self._ids.collection, uris))
        self._stored = {uri: tuple(columns) for uri, *columns in rows}
        numbers = [columns[0] for columns in self._stored.values()]
        for document, *columns in self._db.execute(_FIND_CHUNKS, (numbers,)) if numbers else ():
            self._stored_chunks.setdefault(document, []).append(tuple(columns))
        self._texts.find_or_plan(list(chain.from_iterable(item.chunks for item in prepared)))
        new_documents = sum(uri not in self._stored for uri in uris)
        self._document_ids = iter(_new_ids(self._db, "documents", new_documents))
        new_chunks = sum(len(item.chunks) for item in prepared)
        self._chunk_ids = iter(_new_ids(self._db, "chunks", new_chunks))

    def _plan_document(self, prepared: PreparedDocument, columns: Row) -> PutResult:
        uri = prepared.document.uri
        if uri not in self._stored:
            number = next(self._document_ids)
            ids = (number, self._ids.project, self._ids.collection)
            self._documents.append((*columns, *ids, uri, self._now))
            return self._plan_chunks(prepared, number, [])
        number, added_at, *before = self._stored[uri]
        stored = self._stored_chunks.get(number, [])
        if before[BESIDE] != columns[BESIDE]:
            # Other words find every chunk of the document now.
            self._remove_chunks(stored)
            stored = []
        if tuple(before) != columns:
            is_same_text = before[HASH] == columns[HASH]
            changed_at = added_at if is_same_text else self._now
            self._changed_documents.append((*columns, changed_at, number))
        return self._plan_chunks(prepared, number, stored)

    def _plan_chunks(
        self, prepared: PreparedDocument, document: int, stored: Sequence[Row]
    ) -> PutResult:
        """Plan the chunks of a document: one with the same text and symbol as a stored chunk keeps its id."""
        reusable: defaultdict[Row, list[Row]] = defaultdict(list)
        for row in reversed(stored):
            reusable[identity(row[1:])].append(row)
        reused = 0
        for chunk in prepared.chunks:
            columns = chunk_columns(chunk, self._texts.text_id(chunk))
            same = reusable[identity(columns)]
            if same:
                reused += 1
                row = same.pop()
                if row[1:-1] != columns:
                    self._changed_chunks.append((*columns, row[-1]))
            else:
                self._add_chunk(chunk, columns, document, prepared.document)
        unused = list(chain.from_iterable(reusable.values()))
        self._remove_chunks(unused)
        added = len(prepared.chunks) - reused
        return PutResult(prepared.document.uri, added, reused, len(unused))

    def _remove_chunks(self, stored: Sequence[Row]) -> None:
        self._removed_chunks += [row[-1] for row in stored]
        self._terms -= sum(row[0] for row in stored)

    def _add_chunk(
        self, chunk: Chunk, columns: Row, document_id: int, document: Document
    ) -> None:
        number = next(self._chunk_ids)
        header = searchable_header(chunk.header, document.beside)
        text = ChunkText(
            number, self._ids.collection, chunk.symbol, header, document.uri, chunk.text
        )
        counted = words.count_words(text)
        self._terms += counted.length
        ids = (number, self._ids.project, self._ids.collection, document_id)
        self._chunks.append((*columns, counted.length, *ids))
        self._words.append(counted)

    def _write(self) -> None:
        """Write all rows and keep the word index up to date."""
        db = self._db
        if self._removed_chunks:
            words.remove(db, self._removed_chunks)
            db.execute(_REMOVE_CHUNKS, (self._removed_chunks,))
        self._texts.write()
        db.executemany(_ADD_DOCUMENT, self._documents)
        db.executemany(_CHANGE_DOCUMENT, self._changed_documents)
        db.executemany(_CHANGE_CHUNK, self._changed_chunks)
        db.executemany(_ADD_CHUNK, self._chunks)
        words.add(db, self._ids.project, self._ids.collection, self._words)


def touch(
    db: Transaction, collection: int, source: str, stamps: Mapping[str, Stamp | None]
) -> None:
    """Store new stamps; equal ones change nothing."""
    rows = []
    for uri, stamp in stamps.items():
        packed = dump_stamp(stamp)
        rows.append((packed, collection, uri, source, packed))
    db.executemany(_TOUCH, rows)


def remove_documents(
    db: Transaction, ids: CollectionIds, uris: Sequence[str], now: float
) -> int:
    """Remove documents and return how many existed; their texts and vectors are removed by `compact`."""
    numbers = fetch_column(db, _DOCUMENT_IDS, ids.collection, list(uris))
    if numbers:
        chunks = db.execute(_CHUNKS_OF, (numbers,)).fetchall()
        words.remove(db, [number for number, _ in chunks])
        db.execute(_REMOVE_DOCUMENTS, (numbers,))
        terms = sum(count for _, count in chunks)
        catalog.add_to_counts(
            db,
            ids.collection,
            documents=-len(numbers),
            chunks=-len(chunks),
            terms=-terms,
            now=now,
        )
    return len(numbers)


def drop_collection(db: Transaction, ids: CollectionIds) -> int:
    """Remove a collection with all its documents and return how many it had."""
    collection = ids.collection
    count = fetch_value(db, "SELECT count(*) FROM documents WHERE collection = %s", collection)
    db.execute("DELETE FROM chunk_terms WHERE collection = %s", (collection,))
    db.execute("DELETE FROM collections WHERE id = %s", (collection,))
    return int(count)


def _new_ids(db: Transaction, table: str, count: int) -> list[int]:
    """Return ids that no row of a table has had."""
    if count:
        return fetch_column(db, _NEW_IDS, table, count)
    return []
