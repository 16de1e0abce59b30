"""Stores and removes documents: unchanged chunks keep their ids, removed ones leave every search at once.

Each text is stored once in a project, compressed, under the first bytes of its hash. The key is only a hint: whether a
stored text is the one that is searched for is decided by comparing the texts. So a short key is enough, and two texts
with the same key do no harm: the second is stored under more bytes of its hash. A stored text that does not match its
key is damaged; it is repaired in place when the same text is stored again.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from ragstone.store import catalog
from ragstone.store.catalog import CollectionIds
from ragstone.store.codec import dump_gaps, dump_stamp, pack, pack_body, pack_row
from ragstone.store.fetch import Row, fetch_column, fetch_value
from ragstone.store.rows import (
    BESIDE,
    HASH,
    chunk_columns,
    document_columns,
    hash_of,
    identity,
    readable_text,
)
from ragstone.store.words import derived_index, fts5
from ragstone.store.words.terms import ChunkText, searchable_header
from ragstone.types import Chunk, Document, PreparedDocument, PutResult, Stamp, embedding_text

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
_TOUCH: Final = """
    UPDATE documents SET stamp = ? WHERE collection = ? AND uri = ? AND source = ? AND stamp IS NOT ?"""
_REMOVE_CHUNK: Final = "DELETE FROM chunks WHERE id = ?"
_CHUNK_ELSEWHERE: Final = "SELECT 1 FROM chunks WHERE collection != ? LIMIT 1"
_DOCUMENT_ID: Final = "SELECT id FROM documents WHERE collection = ? AND uri = ?"
_REMOVE_DOCUMENTS: Final = "DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?))"

_TextRow = tuple[int, int, bytes, str | bytes]
_KEY_BYTES: Final = (8, 16, 32)
# A key is a prefix of the hash, so all keys of a text are between its shortest key and the whole hash.
# Bodies are read as bytes: one that is not UTF-8 must not fail the statement.
_FIND: Final = (
    "SELECT id, hash, CAST(body AS BLOB) FROM texts WHERE project = ? AND hash BETWEEN ? AND ?"
)
_ADD: Final = "INSERT INTO texts (id, project, hash, body) VALUES (?, ?, ?, ?)"
_REPAIR: Final = "UPDATE texts SET body = ? WHERE id = ?"

# Rows are as the statements above take them. The id of a chunk is its last column.


class DocumentPut:
    """Stores documents in one transaction: plans the rows of each document, then writes all of them.

    `last_chunk` is the largest id that a chunk ever had.
    """

    def __init__(self, db: sqlite3.Connection, ids: CollectionIds, now: float) -> None:
        """Take the transaction, the collection and the time."""
        self._db = db
        self._collection = ids.collection
        self._now = now
        self._last_document = _last_id(db, "documents")
        self.last_chunk = _last_id(db, "chunks")
        self._texts = TextPlan(db, ids.project, last_id=_last_id(db, "texts"))
        self._documents: list[Row] = []
        self._changed_documents: list[Row] = []
        self._chunks: list[Row] = []
        self._changed_chunks: list[Row] = []
        self._removed_chunks: list[int] = []
        self._words: list[ChunkText] = []

    def run(self, prepared: Sequence[PreparedDocument]) -> list[PutResult]:
        """Store documents and return the changes of each; if two have the same uri, the later one is stored."""
        last_with_uri = {item.document.uri: item for item in prepared}
        results = []
        for item in prepared:
            uri = item.document.uri
            if last_with_uri[uri] is item:
                results.append(self._plan_document(item))
            else:
                results.append(PutResult(uri, 0, 0, 0))
        changes_before = self._db.total_changes
        self._write()
        if self._db.total_changes != changes_before:
            catalog.add_to_counts(
                self._db,
                self._collection,
                documents=len(self._documents),
                chunks=len(self._chunks) - len(self._removed_chunks),
                now=self._now,
            )
        return results

    def _plan_document(self, prepared: PreparedDocument) -> PutResult:
        document = prepared.document
        columns = _packed_document(prepared)
        uri = pack(document.uri)
        row = self._db.execute(_FIND_DOCUMENT, (self._collection, uri)).fetchone()
        if row is None:
            self._last_document += 1
            number = self._last_document
            self._documents.append((*columns, number, self._collection, uri, self._now))
            return self._plan_chunks(prepared, number, [])
        *before, number, added_at = row
        stored = self._db.execute(_FIND_CHUNKS, (number,)).fetchall()
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
            reusable[identity(row)].append(row)
        reused = 0
        for chunk in prepared.chunks:
            columns = pack_row(chunk_columns(chunk, self._texts.text_id(chunk)))
            same = reusable[identity(columns)]
            if same:
                reused += 1
                row = same.pop()
                if row[:-1] != columns:
                    self._changed_chunks.append((*columns, row[-1]))
            else:
                self._add_chunk(chunk, columns, document, prepared.document)
        unused = list(chain.from_iterable(reusable.values()))
        self._remove_chunks(unused)
        added = len(prepared.chunks) - reused
        return PutResult(prepared.document.uri, added, reused, len(unused))

    def _remove_chunks(self, stored: Sequence[Row]) -> None:
        self._removed_chunks += [row[-1] for row in stored]

    def _add_chunk(
        self, chunk: Chunk, columns: Row, document_id: int, document: Document
    ) -> None:
        self.last_chunk += 1
        number = self.last_chunk
        self._chunks.append((*columns, number, self._collection, document_id))
        header = searchable_header(chunk.header, document.beside)
        text = ChunkText(
            number, self._collection, chunk.symbol, header, document.uri, chunk.text
        )
        self._words.append(text)

    def _write(self) -> None:
        """Write all rows and keep the word index up to date."""
        db = self._db
        words_removed = fts5.remove(db, sorted(self._removed_chunks))
        db.executemany(_REMOVE_CHUNK, [(number,) for number in self._removed_chunks])
        self._texts.write()
        db.executemany(_ADD_DOCUMENT, self._documents)
        db.executemany(_CHANGE_DOCUMENT, self._changed_documents)
        db.executemany(_CHANGE_CHUNK, self._changed_chunks)
        db.executemany(_ADD_CHUNK, self._chunks)
        if self._texts.has_repairs:
            derived_index.new_epoch(db)
        # The terms of a damaged text are unknown, so its rows cannot be removed from the word index one by one.
        if self._texts.has_repairs or not words_removed:
            fts5.rebuild(db)
        else:
            fts5.add(db, self._words)


def touch(
    db: sqlite3.Connection, collection: int, source: str, stamps: Mapping[str, Stamp | None]
) -> None:
    """Store new stamps; equal ones change nothing."""
    for uri, stamp in stamps.items():
        packed = dump_stamp(stamp)
        db.execute(_TOUCH, (packed, collection, pack(uri), pack(source), packed))


def remove_documents(
    db: sqlite3.Connection, ids: CollectionIds, uris: Sequence[str], now: float
) -> int:
    """Remove documents and return how many existed; their texts and vectors are removed by `compact`."""
    numbers = []
    for uri in dict.fromkeys(uris):
        number = fetch_value(db, _DOCUMENT_ID, ids.collection, pack(uri))
        if number is not None:
            numbers.append(number)
    if numbers:
        chunks = _remove_rows(db, numbers)
        catalog.add_to_counts(
            db, ids.collection, documents=-len(numbers), chunks=-chunks, now=now
        )
    return len(numbers)


def drop_collection(db: sqlite3.Connection, ids: CollectionIds) -> int:
    """Remove a collection with all its documents and return how many it had."""
    collection = ids.collection
    numbers = fetch_column(db, "SELECT id FROM documents WHERE collection = ?", collection)
    if fetch_value(db, _CHUNK_ELSEWHERE, collection) is None:
        fts5.clear(db)  # much faster than making the terms of every chunk again
        db.execute("DELETE FROM chunks WHERE collection = ?", (collection,))
    else:
        _remove_rows(db, numbers)
    db.execute("DELETE FROM collections WHERE id = ?", (collection,))
    return len(numbers)


def _remove_rows(db: sqlite3.Connection, documents: Sequence[int]) -> int:
    """Remove documents with their chunks and words; return how many chunks they had."""
    listed = catalog.id_list(documents)
    chunks = fetch_column(db, _CHUNKS_OF, listed)
    words_removed = fts5.remove(db, chunks)
    db.execute(_REMOVE_DOCUMENTS, (listed,))
    if not words_removed:
        fts5.rebuild(db)
    return len(chunks)


def _packed_document(prepared: PreparedDocument) -> Row:
    """Return the columns of a document as SQLite stores them."""
    *columns, gaps, beside = document_columns(prepared)
    return (*pack_row(columns), dump_gaps(gaps), pack(beside))


def _last_id(db: sqlite3.Connection, table: str) -> int:
    """Return the largest id that a row of a table ever had."""
    return fetch_value(db, "SELECT seq FROM sqlite_sequence WHERE name = ?", table) or 0


class TextPlan:
    """Finds or plans the rows of texts in one project; `write` writes the planned ones."""

    def __init__(self, db: sqlite3.Connection, project: int, *, last_id: int) -> None:
        """Take the transaction and the project; new texts get ids after `last_id`."""
        self._db = db
        self._project = project
        self._next_id = last_id + 1
        self._ids: dict[bytes, int] = {}
        self._taken_keys: set[bytes] = set()
        self._added: list[_TextRow] = []
        self._repaired: list[tuple[str | bytes, int]] = []

    @property
    def has_repairs(self) -> bool:
        """Return whether a damaged text will be replaced."""
        return bool(self._repaired)

    def text_id(self, chunk: Chunk) -> int:
        """Return the id of a chunk's text; plan a row if the project does not have the text."""
        digest = chunk.hash
        if digest not in self._ids:
            text = embedding_text(chunk.header, chunk.text)
            self._ids[digest] = self._find_or_plan(digest, text)
        return self._ids[digest]

    def write(self) -> None:
        """Write new and repaired texts."""
        self._db.executemany(_REPAIR, self._repaired)
        self._db.executemany(_ADD, self._added)

    def _find_or_plan(self, digest: bytes, text: str) -> int:
        damaged = None
        for number, key, body in self._rows_like(digest):
            self._taken_keys.add(key)
            stored = readable_text(body)
            if stored == text:
                return number
            if stored is None or not hash_of(stored).startswith(key):
                damaged = number
        if damaged is not None:
            self._repaired.append((pack_body(text), damaged))
            return damaged
        return self._plan(digest, text)

    def _rows_like(self, digest: bytes) -> list[tuple[int, bytes, bytes]]:
        """Return the rows with a key that is a prefix of a hash."""
        rows = self._db.execute(_FIND, (self._project, digest[: _KEY_BYTES[0]], digest))
        return [row for row in rows if digest.startswith(row[1])]

    def _plan(self, digest: bytes, text: str) -> int:
        number = self._next_id
        self._next_id += 1
        key = self._free_key(digest)
        self._taken_keys.add(key)
        self._added.append((number, self._project, key, pack_body(text)))
        return number

    def _free_key(self, digest: bytes) -> bytes:
        """Return the shortest prefix of a hash that is not taken."""
        for size in _KEY_BYTES:
            if digest[:size] not in self._taken_keys:
                return digest[:size]
        return digest
