"""Documents in and out: what is new is added, what is unchanged keeps its number, what is gone leaves every search."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from ragstone.errors import InputError
from ragstone.store import catalog, texts
from ragstone.store.catalog import CollectionIds
from ragstone.store.codec import dump, dump_gaps, dump_marks, dump_stamp, gaps_of, pack
from ragstone.store.words import derived as words_derived
from ragstone.store.words import fts5_index as words_index
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
_ADD_CHUNKS: Final = """
    INSERT INTO chunks (ord, text_id, header, start, "end", byte_start, byte_end, line_start, line_end, page,
                        page_label, unit, kind, symbol, id, collection, document)
    VALUES {}"""
_CHUNK_VALUES: Final = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_AT_ONCE: Final = 64  # rows to a statement: three quarters of the time of one to a statement
_ADD_CHUNK: Final = _ADD_CHUNKS.format(_CHUNK_VALUES)
_ADD_MANY_CHUNKS: Final = _ADD_CHUNKS.format(", ".join([_CHUNK_VALUES] * _AT_ONCE))
_CHANGE_CHUNK: Final = """
    UPDATE chunks SET ord = ?, text_id = ?, header = ?, start = ?, "end" = ?, byte_start = ?, byte_end = ?,
        line_start = ?, line_end = ?, page = ?, page_label = ?, unit = ?, kind = ?, symbol = ? WHERE id = ?"""

# Rows as the statements take them; a chunk's fields end before its id.
Fields = tuple[Any, ...]
_TEXT_ID, _HEADER, _SYMBOL = 1, 2, 13
_HASH, _BESIDE = 6, 13


@dataclass(slots=True)
class Batch:
    """Everything one transaction will write, gathered so that each table is written in one go."""

    texts: list[texts.Row] = field(default_factory=list)
    mended: list[tuple[str | bytes, int]] = field(default_factory=list)
    documents: list[Fields] = field(default_factory=list)
    changed_documents: list[Fields] = field(default_factory=list)
    chunks: list[Fields] = field(default_factory=list)
    changed_chunks: list[Fields] = field(default_factory=list)
    removed_chunks: list[int] = field(default_factory=list)
    words: list[words_index.Entry] = field(default_factory=list)

    def write(self, db: sqlite3.Connection) -> list[words_index.Row]:
        """Write it all and return what the word index was given."""
        # What the index was given of a text that was damaged meanwhile nobody knows: then all of it is made anew.
        anew = bool(self.mended) or not words_index.take_out(db, sorted(self.removed_chunks))
        db.executemany(texts.MEND, self.mended)
        db.executemany("DELETE FROM chunks WHERE id = ?", [(number,) for number in self.removed_chunks])
        db.executemany(texts.ADD, self.texts)
        db.executemany(_ADD_DOCUMENT, self.documents)
        db.executemany(_CHANGE_DOCUMENT, self.changed_documents)
        db.executemany(_CHANGE_CHUNK, self.changed_chunks)
        whole = len(self.chunks) - len(self.chunks) % _AT_ONCE
        many = (chain.from_iterable(self.chunks[at : at + _AT_ONCE]) for at in range(0, whole, _AT_ONCE))
        db.executemany(_ADD_MANY_CHUNKS, map(tuple, many))
        db.executemany(_ADD_CHUNK, self.chunks[whole:])
        if not anew:
            return words_index.add(db, self.words)
        words_index.rebuild(db)
        if self.mended:
            words_derived.new_epoch(db)
        return list(words_index.rows(self.words))


class Put:
    """One `put`: planned document by document, then written."""

    def __init__(self, db: sqlite3.Connection, place: CollectionIds, now: float) -> None:
        """Take the transaction, where to put, and the time."""
        self._db = db
        self._place = place
        self._now = now
        self._next = {table: _last_id(db, table) for table in ("documents", "chunks")}
        self._batch = Batch()
        self._text_ids: Iterator[int] = iter(())
        self._delta = [0, 0]
        self.findable: list[words_index.Row] = []

    def run(self, prepared: Sequence[PreparedDocument]) -> list[PutResult]:
        """Return what each document changed; of two with the same uri the later one counts."""
        last = {one.document.uri: number for number, one in enumerate(prepared)}
        counts = [last[one.document.uri] == number for number, one in enumerate(prepared)]
        chunks = [chunk for one, does in zip(prepared, counts, strict=True) if does for chunk in one.chunks]
        found = texts.placed(self._db, self._place.project, chunks, last=_last_id(self._db, "texts"))
        self._batch.texts, self._batch.mended = found.added, found.mended
        self._text_ids = iter(found.numbers)
        results = [
            self._document(one) if does else PutResult(one.document.uri, 0, 0, 0)
            for one, does in zip(prepared, counts, strict=True)
        ]
        before = self._db.total_changes
        self.findable = self._batch.write(self._db)
        if self._db.total_changes != before:
            documents, added = self._delta
            catalog.add_to_counts(self._db, self._place.collection, documents=documents, chunks=added, now=self._now)
        return results

    def _document(self, prepared: PreparedDocument) -> PutResult:
        document = prepared.document
        if not document.uri:
            raise InputError("a document needs a uri", hint="give it a name")
        columns = _document_fields(prepared)
        uri = pack(document.uri)
        row = self._db.execute(_FIND_DOCUMENT, (self._place.collection, uri)).fetchone()
        if row is None:
            number = self._number("documents")
            self._batch.documents.append((*columns, number, self._place.collection, uri, self._now))
            self._delta[0] += 1
            return self._chunks(prepared, number, [])
        *before, number, added_at = row
        stored = self._db.execute(_FIND_CHUNKS, (number,)).fetchall()
        if before[_BESIDE] != columns[_BESIDE]:
            # Other words find every chunk now: none of them is the same to a search.
            self._forget(stored)
            stored = []
        result = self._chunks(prepared, number, stored)
        if tuple(before) != columns:
            same = before[_HASH] == columns[_HASH]
            self._batch.changed_documents.append((*columns, added_at if same else self._now, number))
        return result

    def _chunks(self, prepared: PreparedDocument, document: int, stored: list[Fields]) -> PutResult:
        """Return what became of a document's chunks: those with the same text and symbol keep their number."""
        spare: defaultdict[Fields, list[Fields]] = defaultdict(list)
        for row in reversed(stored):
            spare[row[_TEXT_ID], row[_HEADER], row[_SYMBOL]].append(row)
        kept = 0
        for chunk in prepared.chunks:
            columns = _chunk_fields(chunk, next(self._text_ids))
            same = spare.get((columns[_TEXT_ID], columns[_HEADER], columns[_SYMBOL]))
            if same:
                kept += 1
                row = same.pop()
                if row[:-1] != columns:
                    self._batch.changed_chunks.append((*columns, row[-1]))
            else:
                self._new_chunk(chunk, columns, document, prepared.document)
        gone = self._forget([row for rows in spare.values() for row in rows])
        added = len(prepared.chunks) - kept
        self._delta[1] += added
        return PutResult(prepared.document.uri, added, kept, gone)

    def _forget(self, stored: Sequence[Fields]) -> int:
        """Return how many chunks will be gone: all that are given."""
        self._batch.removed_chunks += [row[-1] for row in stored]
        self._delta[1] -= len(stored)
        return len(stored)

    def _new_chunk(self, chunk: Chunk, columns: Fields, home: int, document: Document) -> None:
        number = self._number("chunks")
        self._batch.chunks.append((*columns, number, self._place.collection, home))
        head = words_index.with_beside(chunk.header, document.beside)
        self._batch.words.append(words_index.Entry(number, chunk.symbol, head, document.uri, chunk.text))

    def _number(self, table: str) -> int:
        self._next[table] += 1
        return self._next[table]


def remove(db: sqlite3.Connection, place: CollectionIds, uris: Sequence[str], now: float) -> int:
    """Remove documents and return how many were there; their texts and vectors wait for `compact`."""
    numbers = []
    for uri in dict.fromkeys(uris):
        row = db.execute(
            "SELECT id FROM documents WHERE collection = ? AND uri = ?", (place.collection, pack(uri))
        ).fetchone()
        if row:
            numbers.append(int(row[0]))
    if numbers:
        chunks = _remove_documents(db, numbers)
        catalog.add_to_counts(db, place.collection, documents=-len(numbers), chunks=-chunks, now=now)
    return len(numbers)


def drop_collection(db: sqlite3.Connection, place: CollectionIds) -> int:
    """Remove a collection with all its documents and return how many there were."""
    numbers = [row[0] for row in db.execute("SELECT id FROM documents WHERE collection = ?", (place.collection,))]
    others = db.execute("SELECT 1 FROM chunks WHERE collection != ? LIMIT 1", (place.collection,)).fetchone()
    if others is None:
        words_index.clear(db)  # far quicker than to make the terms of everything again
        db.execute("DELETE FROM chunks WHERE collection = ?", (place.collection,))
    else:
        _remove_documents(db, numbers)
    db.execute("DELETE FROM collections WHERE id = ?", (place.collection,))
    return len(numbers)


def _remove_documents(db: sqlite3.Connection, numbers: Sequence[int]) -> int:
    wanted = catalog.id_list(numbers)
    found = db.execute(
        "SELECT id FROM chunks WHERE document IN (SELECT value FROM json_each(?)) ORDER BY id", (wanted,)
    )
    chunks = [row[0] for row in found]
    done = words_index.take_out(db, chunks)
    db.execute("DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?))", (wanted,))
    if not done:
        words_index.rebuild(db)
    return len(chunks)


def _document_fields(prepared: PreparedDocument) -> Fields:
    document = prepared.document
    spans = sorted((chunk.span.start, chunk.span.end) for chunk in prepared.chunks)
    for chunk in prepared.chunks:
        start, end = chunk.span.start, chunk.span.end
        if start < 0 or end - start != len(chunk.text) or document.text[start:end] != chunk.text:
            raise InputError(
                f"chunk {chunk.order} of {document.uri} is not a slice of its text",
                hint="the chunker must give exact slices",
            )
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


def _chunk_fields(chunk: Chunk, text_id: int) -> Fields:
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
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return int(row[0]) if row else 0
