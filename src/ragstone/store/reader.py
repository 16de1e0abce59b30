"""Reads documents, chunks and words from the database or from a snapshot of it."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.store import catalog, documents, filters
from ragstone.store.connection import ReadSource
from ragstone.store.documents import row_limit
from ragstone.store.fetch import fetch_value
from ragstone.store.graph.reader import SqliteGraphReader
from ragstone.store.vectors import SqliteVectorReader
from ragstone.store.words import WordIndex
from ragstone.store.words.scope import WordScope
from ragstone.types import (
    ChunkOutline,
    Collection,
    CollectionKey,
    CollectionKind,
    Filter,
    KnownFile,
    Scope,
    Scored,
    StoredChunk,
    StoredDocument,
)


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

    def collections(self, project: str, kind: CollectionKind = "documents") -> list[Collection]:
        """Return the collections of one kind in a project, by name, with their counts."""
        with self._source.reading() as db:
            return catalog.list_collections(db, project, kind)

    def document(self, key: CollectionKey, uri: str) -> StoredDocument | None:
        """Return a document without its text, or None."""
        with self._source.reading() as db:
            collection = catalog.collection_id(db, key)
            return documents.document(db, collection, key.name, uri)

    def documents(
        self,
        scope: Scope,
        *,
        filter: Filter | None = None,
        after: tuple[str, str] | None = None,
        limit: int = 50,
    ) -> list[StoredDocument]:
        """Return documents by (collection, uri), starting after the pair `after`."""
        with self._source.reading() as db:
            return documents.documents(db, scope, filter=filter, after=after, limit=limit)

    def text(self, key: CollectionKey, uri: str) -> str | None:
        """Return the full text of a document, or None."""
        with self._source.reading() as db:
            return documents.text(db, catalog.collection_id(db, key), uri)

    def slice(self, key: CollectionKey, uri: str, span: tuple[int, int]) -> str:
        """Return the characters from start to end of a document's text; empty if there is no such document."""
        with self._source.reading() as db:
            text = documents.text(db, catalog.collection_id(db, key), uri, span)
            return text or ""

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
            collection = catalog.collection_id(db, key)
            return documents.known_files(db, collection, source, uris=uris, below=below)

    def document_chunks(self, key: CollectionKey, uri: str) -> list[StoredChunk]:
        """Return the chunks of a document in order."""
        with self._source.reading() as db:
            return documents.document_chunks(db, catalog.collection_id(db, key), uri)

    def chunks(self, project: str, ids: Sequence[int]) -> dict[int, StoredChunk]:
        """Return chunks of a project by id; ids of other projects are left out."""
        with self._source.reading() as db:
            return documents.chunks(db, project, ids)

    def outlines(self, project: str, ids: Sequence[int]) -> dict[int, ChunkOutline]:
        """Return outlines of chunks of a project by id; ids of other projects are left out."""
        with self._source.reading() as db:
            return documents.outlines(db, project, ids)

    def copies(self, scope: Scope, text_ids: Sequence[int]) -> dict[int, list[int]]:
        """Return the ids of all chunks in scope that have each text."""
        with self._source.reading() as db:
            return documents.copies(db, scope, text_ids)

    def search_words(
        self, scope: Scope, terms: Sequence[str], *, limit: int, filter: Filter | None = None
    ) -> list[Scored]:
        """Return chunks with any of the terms, best first."""
        has_filter = filter is not None and bool(filter.conditions)
        condition = filters.where(filter) if has_filter else None
        if limit <= 0 or not terms:
            return []
        with self._source.reading() as db:
            collections = list(catalog.in_scope(db, scope).values())
            count = fetch_value(db, "SELECT count(*) FROM collections")
            if condition is None and len(collections) == count:
                word_scope = WordScope(None, None)  # the whole index is searched faster
            else:
                word_scope = WordScope(collections, condition)
            return self._words.search(db, word_scope, terms, row_limit(limit))
