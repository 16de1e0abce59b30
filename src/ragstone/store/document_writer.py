"""Stores and removes documents: unchanged chunks keep their ids, removed ones leave every search at once."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from ragstone.errors import InputError
from ragstone.store import catalog
from ragstone.store.catalog import CollectionIds
from ragstone.store.codec import dump, dump_gaps, dump_marks, dump_stamp, gaps_of, pack
from ragstone.store.texts import TextPlan, plan_texts
from ragstone.store.words import derived, fts5
from ragstone.store.words.terms import ChunkText, searchable_header
from ragstone.types import Chunk, Document, PreparedDocument, PutResult

_FIND_DOCUMENT: Final = """
    SELECT kind, language, title, metadata, marks, source, hash, content_hash, recipe, stamp, characters, chunks, gaps,
           beside, id, added_at
    FROM documents WHERE collection = ? AND uri = ?"""
_ADD_DOCUMENT: Final = """
    INSERT INTO documents (kind, language, title, metadata, marks, source, hash, content_hash, recipe, stamp,
                           characters, chunks, gaps, beside, id, collection, uri, added_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_CHANGE_DOCUMENT: Final = """
    UPDATE documents SET kind = ?, language = ?, title = ?, metadata = ?, marks = ?, source = ?, hash = ?,
        content_hash = ?, recipe = ?, stamp = ?, characters = ?, chunks = ?, gaps = ?, beside = ?, added_at = ?
    WHERE id = ?"""
_FIND_CHUNKS: Final = """
    SELECT ord, text_id, header, start, "end", byte_start, byte_end, line_start, line_end, page, page_label,
           unit, kind, symbol, id
    FROM chunks WHERE document = ? ORDER BY ord"""
_ADD_CHUNK: Final = """
    INSERT INTO chunks (ord, text_id, header, start, "end", byte_start, byte_end, line_start, line_end, page,
                        page_label, unit, kind, symbol, id, collection, document)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_CHANGE_CHUNK: Final = """
    UPDATE chunks SET ord = ?, text_id = ?, header = ?, start = ?, "end" = ?, byte_start = ?, byte_end = ?,
        line_start = ?, line_end = ?, page = ?, page_label = ?, unit = ?, kind = ?, symbol = ? WHERE id = ?"""
_CHUNKS_OF: Final = (
    "SELECT id FROM chunks WHERE document IN (SELECT value FROM json_each(?)) ORDER BY id"
)
_REMOVE_DOCUMENTS: Final = "DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?))"

Columns = tuple[Any, ...]
"""A row as the statements above take it. The id of a chunk is its last column."""
_TEXT_ID, _HEADER, _SYMBOL = 1, 2, 13  # of a chunk
_HASH, _BESIDE = 6, 13  # of a document


@dataclass(slots=True)
class _Batch:
    """All rows that one transaction writes."""

    texts: TextPlan
    documents: list[Columns] = field(default_factory=list)
    changed_documents: list[Columns] = field(default_factory=list)
    chunks: list[Columns] = field(default_factory=list)
    changed_chunks: list[Columns] = field(default_factory=list)
    removed_chunks: list[int] = field(default_factory=list)
    words: list[ChunkText] = field(default_factory=list)

    def write(self, db: sqlite3.Connection) -> None:
        """Write all rows and keep the word index up to date."""
        # The terms of a damaged text are unknown, so its rows cannot be removed from the word index one by one.
        must_rebuild = bool(self.texts.repaired) or not fts5.remove(db, sorted(self.removed_chunks))
        db.executemany(
            "DELETE FROM chunks WHERE id = ?", [(number,) for number in self.removed_chunks]
        )
        self.texts.write(db)
        db.executemany(_ADD_DOCUMENT, self.documents)
        db.executemany(_CHANGE_DOCUMENT, self.changed_documents)
        db.executemany(_CHANGE_CHUNK, self.changed_chunks)
        db.executemany(_ADD_CHUNK, self.chunks)
        if must_rebuild:
            fts5.rebuild(db)
        else:
            fts5.add(db, self.words)
        if self.texts.repaired:
            derived.new_epoch(db)


class DocumentPut:
    """Stores documents in one transaction: plans the rows of each document, then writes all of them."""

    def __init__(self, db: sqlite3.Connection, ids: CollectionIds, now: float) -> None:
        """Take the transaction, the collection and the time."""
        self._db = db
        self._ids = ids
        self._now = now
        self._last_document = _last_id(db, "documents")
        self._last_chunk = _last_id(db, "chunks")
        self._batch = _Batch(TextPlan())
        self._text_ids: Iterator[int] = iter(())
        self._new_documents = 0
        self._new_chunks = 0

    def run(self, prepared: Sequence[PreparedDocument]) -> list[PutResult]:
        """Store documents and return the changes of each; if two have the same uri, the later one is stored."""
        by_uri = {document.document.uri: document for document in prepared}
        stored = [document for document in prepared if by_uri[document.document.uri] is document]
        chunks: list[Chunk] = []
        for document in stored:
            chunks += document.chunks
        texts = plan_texts(self._db, self._ids.project, chunks, last_id=_last_id(self._db, "texts"))
        self._batch = _Batch(texts)
        self._text_ids = iter(texts.ids)
        results = {document.document.uri: self._plan_document(document) for document in stored}
        changes_before = self._db.total_changes
        self._batch.write(self._db)
        if self._db.total_changes != changes_before:
            catalog.add_to_counts(
                self._db,
                self._ids.collection,
                documents=self._new_documents,
                chunks=self._new_chunks,
                now=self._now,
            )
        return [self._result_of(document, by_uri, results) for document in prepared]

    def _result_of(
        self,
        prepared: PreparedDocument,
        by_uri: Mapping[str, PreparedDocument],
        results: Mapping[str, PutResult],
    ) -> PutResult:
        uri = prepared.document.uri
        return results[uri] if by_uri[uri] is prepared else PutResult(uri, 0, 0, 0)

    def _plan_document(self, prepared: PreparedDocument) -> PutResult:
        document = prepared.document
        if not document.uri:
            raise InputError("a document needs a uri", hint="give it a name")
        columns = _document_columns(prepared)
        uri = pack(document.uri)
        row = self._db.execute(_FIND_DOCUMENT, (self._ids.collection, uri)).fetchone()
        if row is None:
            self._last_document += 1
            self._new_documents += 1
            self._batch.documents.append(
                (*columns, self._last_document, self._ids.collection, uri, self._now)
            )
            return self._plan_chunks(prepared, self._last_document, [])
        *before, number, added_at = row
        stored = self._db.execute(_FIND_CHUNKS, (number,)).fetchall()
        if before[_BESIDE] != columns[_BESIDE]:
            # Other words find every chunk of the document now.
            self._remove_chunks(stored)
            stored = []
        result = self._plan_chunks(prepared, number, stored)
        if tuple(before) != columns:
            is_same_text = before[_HASH] == columns[_HASH]
            self._batch.changed_documents.append(
                (*columns, added_at if is_same_text else self._now, number)
            )
        return result

    def _plan_chunks(
        self, prepared: PreparedDocument, document: int, stored: Sequence[Columns]
    ) -> PutResult:
        """Plan the chunks of a document: one with the same text and symbol as a stored chunk keeps its id."""
        reusable: defaultdict[Columns, list[Columns]] = defaultdict(list)
        for row in reversed(stored):
            reusable[row[_TEXT_ID], row[_HEADER], row[_SYMBOL]].append(row)
        reused = 0
        for chunk in prepared.chunks:
            columns = _chunk_columns(chunk, next(self._text_ids))
            same = reusable[columns[_TEXT_ID], columns[_HEADER], columns[_SYMBOL]]
            if same:
                reused += 1
                row = same.pop()
                if row[:-1] != columns:
                    self._batch.changed_chunks.append((*columns, row[-1]))
            else:
                self._add_chunk(chunk, columns, document, prepared.document)
        unused = list(chain.from_iterable(reusable.values()))
        self._remove_chunks(unused)
        added = len(prepared.chunks) - reused
        self._new_chunks += added
        return PutResult(prepared.document.uri, added, reused, len(unused))

    def _remove_chunks(self, stored: Sequence[Columns]) -> None:
        self._batch.removed_chunks += [row[-1] for row in stored]
        self._new_chunks -= len(stored)

    def _add_chunk(
        self, chunk: Chunk, columns: Columns, document_id: int, document: Document
    ) -> None:
        self._last_chunk += 1
        collection = self._ids.collection
        self._batch.chunks.append((*columns, self._last_chunk, collection, document_id))
        header = searchable_header(chunk.header, document.beside)
        text = ChunkText(
            self._last_chunk, collection, chunk.symbol, header, document.uri, chunk.text
        )
        self._batch.words.append(text)


def remove_documents(
    db: sqlite3.Connection, ids: CollectionIds, uris: Sequence[str], now: float
) -> int:
    """Remove documents and return how many existed; their texts and vectors are removed by `compact`."""
    numbers = []
    for uri in dict.fromkeys(uris):
        row = db.execute(
            "SELECT id FROM documents WHERE collection = ? AND uri = ?", (ids.collection, pack(uri))
        ).fetchone()
        if row:
            numbers.append(int(row[0]))
    if numbers:
        chunks = _remove_rows(db, numbers)
        catalog.add_to_counts(db, ids.collection, documents=-len(numbers), chunks=-chunks, now=now)
    return len(numbers)


def drop_collection(db: sqlite3.Connection, ids: CollectionIds) -> int:
    """Remove a collection with all its documents and return how many it had."""
    numbers = [
        row[0]
        for row in db.execute("SELECT id FROM documents WHERE collection = ?", (ids.collection,))
    ]
    others = db.execute(
        "SELECT 1 FROM chunks WHERE collection != ? LIMIT 1", (ids.collection,)
    ).fetchone()
    if others is None:
        fts5.clear(db)  # much faster than making the terms of every chunk again
        db.execute("DELETE FROM chunks WHERE collection = ?", (ids.collection,))
    else:
        _remove_rows(db, numbers)
    db.execute("DELETE FROM collections WHERE id = ?", (ids.collection,))
    return len(numbers)


def _remove_rows(db: sqlite3.Connection, documents: Sequence[int]) -> int:
    """Remove documents with their chunks and words; return how many chunks they had."""
    listed = catalog.id_list(documents)
    chunks = [number for (number,) in db.execute(_CHUNKS_OF, (listed,))]
    words_removed = fts5.remove(db, chunks)
    db.execute(_REMOVE_DOCUMENTS, (listed,))
    if not words_removed:
        fts5.rebuild(db)
    return len(chunks)


def _document_columns(prepared: PreparedDocument) -> Columns:
    document = prepared.document
    for chunk in prepared.chunks:
        _check_slice(document, chunk)
    spans = sorted((chunk.span.start, chunk.span.end) for chunk in prepared.chunks)
    return (
        pack(document.kind),
        pack(document.language),
        pack(document.title),
        dump(document.metadata, f"the metadata of {document.uri}"),
        dump_marks(document.marks),
        pack(prepared.source),
        document.hash,
        pack(prepared.content_hash),
        pack(prepared.recipe),
        dump_stamp(prepared.stamp),
        len(document.text),
        len(prepared.chunks),
        dump_gaps(gaps_of(document.text, spans)),
        pack(document.beside),
    )


def _check_slice(document: Document, chunk: Chunk) -> None:
    """Raise `InputError` if a chunk is not an exact slice of its document."""
    start, end = chunk.span.start, chunk.span.end
    if start < 0 or end - start != len(chunk.text) or document.text[start:end] != chunk.text:
        raise InputError(
            f"chunk {chunk.order} of {document.uri} is not a slice of its text",
            hint="the chunker must give exact slices",
        )


def _chunk_columns(chunk: Chunk, text_id: int) -> Columns:
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
        pack(span.page_label),
        pack(span.unit),
        pack(chunk.kind),
        pack(chunk.symbol),
    )


def _last_id(db: sqlite3.Connection, table: str) -> int:
    """Return the largest id that a row of a table ever had."""
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return int(row[0]) if row else 0
