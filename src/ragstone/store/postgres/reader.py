"""Reads documents, chunks and words from PostgreSQL or from a snapshot of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.store.fetch import Row, row_limit
from ragstone.store.filters import check as check_filter
from ragstone.store.postgres import catalog, document_text, filters, words
from ragstone.store.postgres.connection import Transaction, TransactionSource
from ragstone.store.postgres.filters import FilterCache
from ragstone.store.postgres.graph_reader import PostgresGraphReader
from ragstone.store.postgres.text_type import escape_always
from ragstone.store.postgres.vectors import PostgresVectorReader
from ragstone.store.rows import (
    document_from,
    known_file_from,
    outline_from,
    readable_chunks,
)
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
    FROM documents d WHERE d.collection = %(collection)s"""
_DOCUMENT_BY_URI: Final = _DOCUMENT + " AND d.uri = %(uri)s"
_PASSING: Final = " AND d.id = ANY(%(ids)s)"
_DOCUMENTS_AFTER: Final = (
    _DOCUMENT
    + " AND d.uri > %(after)s {passing} ORDER BY {order} LIMIT %(limit)s OFFSET %(skip)s"
)
_COUNT_AFTER: Final = """
    SELECT count(*) FROM documents d
    WHERE d.collection = %(collection)s AND d.uri > %(after)s {passing}"""
_DIRECTIONS: Final = {False: "ASC", True: "DESC"}
_ORDERS: Final[Mapping[DocumentColumn, str]] = {
    "uri": "d.uri {0}",
    "kind": 'd.kind COLLATE "C" {0}, d.uri {0}',
    "chunks": "d.chunks {0}, d.uri {0}",
    "characters": "d.characters {0}, d.uri {0}",
    "added_at": "d.added_at {0}, d.uri {0}",
}
_CHUNK: Final = """
    SELECT c.id, c.text_id, col.name, d.metadata, c.header, c.ord,
           c.span_start, c.span_end, c.byte_start, c.byte_end, c.line_start, c.line_end, c.page,
           d.added_at, c.page_label, c.unit, d.uri, d.title, d.kind, d.language, c.kind, c.symbol, d.content_hash,
           t.hash, t.body
    FROM chunks c JOIN documents d ON d.id = c.document JOIN collections col ON col.id = c.collection
    JOIN texts t ON t.id = c.text_id"""
_CHUNKS_OF_DOCUMENT: Final = (
    _CHUNK + " WHERE d.collection = %s AND d.uri = %s ORDER BY c.ord, c.id"
)
_CHUNKS_BY_ID: Final = _CHUNK + " WHERE c.id = ANY(%s) AND c.project = %s"
_OUTLINES: Final = """
    SELECT c.id, c.text_id, col.name, d.uri, d.kind, c.ord, c.symbol, c.span_start, c.span_end,
           c.line_start, c.line_end, c.page, c.page_label, c.unit
    FROM chunks c JOIN documents d ON d.id = c.document JOIN collections col ON col.id = c.collection
    WHERE c.id = ANY(%s) AND c.project = %s"""
_COPIES: Final = """
    SELECT text_id, id FROM chunks WHERE text_id = ANY(%s) AND collection = ANY(%s) ORDER BY text_id, id"""
_SOURCES: Final = """
    SELECT source, count(*) FROM documents WHERE collection = ANY(%s) GROUP BY source ORDER BY source"""
_KNOWN: Final = """
    SELECT uri, content_hash, stamp, recipe FROM documents WHERE collection = %s AND source = %s"""
_KNOWN_BY_URI: Final = _KNOWN + " AND uri = ANY(%s::text[])"
_KNOWN_BELOW: Final = _KNOWN + " AND uri >= %s AND uri < %s"
_KNOWN_BELOW_ESCAPED: Final = (
    _KNOWN + " AND uri >= convert_from(%s, 'UTF8') AND uri < convert_from(%s, 'UTF8')"
)
_AFTER_SLASH: Final = chr(ord("/") + 1)


class PostgresReader:
    """Implements `DocumentReader` on a source of transactions: the database, or a snapshot of it."""

    def __init__(
        self,
        source: TransactionSource,
        vectors: PostgresVectorReader,
        graph: PostgresGraphReader,
        passing: FilterCache,
    ) -> None:
        """Take the source, the readers of vectors and graph, and the cache of filtered documents."""
        self._source = source
        self._vector_reader = vectors
        self._graph_reader = graph
        self._passing = passing

    def reader_of(self, source: TransactionSource) -> PostgresReader:
        """Return a reader of another source that shares the caches of this one."""
        reader = self._vector_reader
        vectors = PostgresVectorReader(source, self._passing, reader.cache, reader.database)
        return PostgresReader(source, vectors, PostgresGraphReader(source), self._passing)

    @property
    def vectors(self) -> PostgresVectorReader:
        """Return the reader of vectors."""
        return self._vector_reader

    @property
    def graph(self) -> PostgresGraphReader:
        """Return the reader of the code graph."""
        return self._graph_reader

    def generation(self, scope: Scope) -> int:
        """Return a number that changes with every committed write to a collection in scope."""
        with self._source.reading(scope.project) as db:
            return catalog.generation(db, scope)

    def projects(self) -> list[str]:
        """Return the names of the projects that have collections, by name."""
        with self._source.reading(None) as db:
            return catalog.list_projects(db)

    def collections(self, project: str, kind: CollectionKind = "documents") -> list[Collection]:
        """Return the collections of one kind in a project, by name, with their counts."""
        with self._source.reading(project) as db:
            return catalog.list_collections(db, project, kind)

    def document(self, key: CollectionKey, uri: str) -> StoredDocument | None:
        """Return a document without its text, or None."""
        with self._source.reading(key.project) as db:
            parameters = {"collection": catalog.collection_id(db, key), "uri": uri}
            row = db.execute(_DOCUMENT_BY_URI, parameters).fetchone()
            if row:
                return document_from(row, key.name)
            return None

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
        first_collection, first_uri = after or ("", "")
        page: list[StoredDocument] = []
        with self._source.reading(scope.project) as db:
            ids = filters.passing_in_scope(db, scope, filter, self._passing)
            passing = "" if ids is None else _PASSING
            columns = _ORDERS[order.column].format(_DIRECTIONS[order.descending])
            statement = _DOCUMENTS_AFTER.format(passing=passing, order=columns)
            count = _COUNT_AFTER.format(passing=passing)
            for name, number in catalog.in_scope(db, scope).items():
                if name < first_collection:
                    continue
                parameters = {
                    "collection": number,
                    "after": first_uri if name == first_collection else "",
                    "limit": row_limit(limit) - len(page),
                    "skip": row_limit(skip),
                    "ids": ids,
                }
                rows = db.execute(statement, parameters).fetchall()
                page += [document_from(row, name) for row in rows]
                if rows:
                    skip = 0
                elif skip > 0:
                    skip -= db.execute(count, parameters).fetchall()[0][0]
        return page

    def count_sources(self, scope: Scope) -> dict[str, int]:
        """Return how many documents came from each source."""
        with self._source.reading(scope.project) as db:
            return dict(db.execute(_SOURCES, (catalog.scope_ids(db, scope),)).fetchall())

    def text(self, key: CollectionKey, uri: str) -> str | None:
        """Return the full text of a document, or None."""
        with self._source.reading(key.project) as db:
            return document_text.read(db, catalog.collection_id(db, key), uri, None)

    def slice(self, key: CollectionKey, uri: str, span: tuple[int, int]) -> str:
        """Return the characters from start to end of a document's text; empty if there is no such document."""
        with self._source.reading(key.project) as db:
            return document_text.read(db, catalog.collection_id(db, key), uri, span) or ""

    def known_files(
        self,
        key: CollectionKey,
        source: str,
        *,
        uris: Sequence[str] | None = None,
        below: bool = False,
    ) -> dict[str, KnownFile]:
        """Return hash, stamp and recipe of the documents that came from a source, by uri."""
        with self._source.reading(key.project) as db:
            owner = (catalog.collection_id(db, key), source)
            if uris is None:
                return dict(map(known_file_from, db.execute(_KNOWN, owner)))
            rows: list[Row] = db.execute(_KNOWN_BY_URI, (*owner, list(uris))).fetchall()
            if below:
                rows += _rows_below(db, owner, uris)
            return dict(map(known_file_from, rows))

    def document_chunks(self, key: CollectionKey, uri: str) -> list[StoredChunk]:
        """Return the chunks of a document in order; damaged ones are left out."""
        with self._source.reading(key.project) as db:
            collection = catalog.collection_id(db, key)
            return readable_chunks(db.execute(_CHUNKS_OF_DOCUMENT, (collection, uri)))

    def chunks(self, project: str, ids: Sequence[int]) -> dict[int, StoredChunk]:
        """Return chunks of a project by id; damaged ones and ids of other projects are left out."""
        with self._source.reading(project) as db:
            number = catalog.project_id(db, project)
            rows = db.execute(_CHUNKS_BY_ID, (catalog.id_list(ids), number)).fetchall()
        by_id = {chunk.id: chunk for chunk in readable_chunks(rows)}
        return {number: by_id[number] for number in ids if number in by_id}

    def outlines(self, project: str, ids: Sequence[int]) -> dict[int, ChunkOutline]:
        """Return outlines of chunks of a project by id; ids of other projects are left out."""
        with self._source.reading(project) as db:
            number = catalog.project_id(db, project)
            rows = db.execute(_OUTLINES, (catalog.id_list(ids), number)).fetchall()
        by_id = {row[0]: outline_from(row) for row in rows}
        return {number: by_id[number] for number in ids if number in by_id}

    def copies(self, scope: Scope, text_ids: Sequence[int]) -> dict[int, list[int]]:
        """Return the ids of all chunks in scope that have each text."""
        chunks_by_text: dict[int, list[int]] = {}
        with self._source.reading(scope.project) as db:
            collections = catalog.scope_ids(db, scope)
            rows = db.execute(_COPIES, (catalog.id_list(text_ids), collections))
            for text_id, chunk_id in rows:
                chunks_by_text.setdefault(text_id, []).append(chunk_id)
        return chunks_by_text

    def search_words(
        self, scope: Scope, terms: Sequence[str], *, limit: int, filter: Filter | None = None
    ) -> list[Scored]:
        """Return chunks with any of the terms, best first."""
        if filter is not None:
            check_filter(filter)
        if limit <= 0 or not terms:
            return []
        with self._source.reading(scope.project) as db:
            project = catalog.project_id(db, scope.project)
            if project is None:
                return []
            return words.search(
                db,
                project,
                catalog.scope_ids(db, scope),
                terms,
                limit=row_limit(limit),
                documents=filters.passing_in_scope(db, scope, filter, self._passing),
            )

    def known_terms(self, scope: Scope, terms: Sequence[str]) -> set[str]:
        """Return those of the terms that a chunk in scope has."""
        with self._source.reading(scope.project) as db:
            return words.known_terms(db, catalog.scope_ids(db, scope), terms)

    def term_rarities(self, scope: Scope, terms: Sequence[str]) -> Mapping[str, float]:
        """Return how rare each term is among the chunks in scope."""
        with self._source.reading(scope.project) as db:
            project = catalog.project_id(db, scope.project)
            if project is None:
                return {}
            return words.term_rarities(db, project, catalog.scope_ids(db, scope), terms)


def _rows_below(db: Transaction, owner: tuple[int, str], uris: Sequence[str]) -> list[Row]:
    """Return the rows of documents in folders; names that are stored in another form have a range of their own."""
    ranges = [(f"{uri}/", f"{uri}{_AFTER_SLASH}") for uri in uris]
    plain = [(*owner, first, last) for first, last in ranges]
    escaped = [(*owner, escape_always(first), escape_always(last)) for first, last in ranges]
    return db.fetch_each(_KNOWN_BELOW, plain) + db.fetch_each(_KNOWN_BELOW_ESCAPED, escaped)
