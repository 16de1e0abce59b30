"""The store, documents and vectors that the contract tests of a store use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.protocols import DocumentStore, GraphStore, StateStore, VectorStore
from ragstone.text import query_terms
from ragstone.types import (
    Chunk,
    CollectionKey,
    Document,
    Filter,
    PreparedDocument,
    Scope,
    Space,
    Span,
    Stamp,
    StoredChunk,
)

PROJECT, OTHER, NOTES = "one", "two", "notes"
SPACE = Space("fake", "tiny", 4)
HERE = Scope(PROJECT)
KEY = CollectionKey(PROJECT, NOTES)
SECOND_KEY = CollectionKey(PROJECT, "second")
SESSION_KEY = CollectionKey(PROJECT, NOTES, "session")
OTHER_KEY = CollectionKey(OTHER, NOTES)
MISSING_KEY = CollectionKey(PROJECT, "missing")
MISSING_ID = 10**9


def prepare(
    uri: str,
    pieces: Sequence[str],
    *,
    joint: str = "\n\n",
    source: str = "",
    stamp: Stamp | None = None,
    header: str = "",
    symbol: str = "",
    **fields: object,
) -> PreparedDocument:
    """Return a document with one chunk for each piece, ready to be stored; `fields` are those of `Document`."""
    chunks = []
    before = ""
    for order, piece in enumerate(pieces):
        span = _span_after(before, piece)
        chunks.append(Chunk(piece, span, order, symbol=symbol, header=header))
        before += piece + joint
    document = replace(Document(uri, joint.join(pieces)), **fields)  # type: ignore[arg-type]  # fields by name
    return PreparedDocument(
        document,
        tuple(chunks),
        source=source,
        stamp=stamp,
        recipe="pieces",
        content_hash=document.hash,
    )


def put_text(store: DocumentStore, uri: str, *pieces: str, key: CollectionKey = KEY) -> None:
    """Store a document with one chunk for each piece."""
    store.put(key, [prepare(uri, pieces)])


def _span_after(before: str, piece: str) -> Span:
    """Return the span of a piece that follows the text before it."""
    start = len(before)
    byte_start = _byte_length(before)
    line_start = 1 + before.count("\n")
    return Span(
        start=start,
        end=start + len(piece),
        byte_start=byte_start,
        byte_end=byte_start + _byte_length(piece),
        line_start=line_start,
        line_end=line_start + piece.count("\n"),
    )


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class StoreCase:
    """Creates, fills and searches a store for the tests."""

    @abstractmethod
    def make_store(self, folder: Path) -> DocumentStore:
        """Return a new store; it may keep its files in the folder."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[DocumentStore]:
        """Return an empty store with one collection in each of two projects."""
        store = self.make_store(tmp_path)
        store.ensure_collection(KEY)
        store.ensure_collection(OTHER_KEY)
        yield store
        store.close()

    @pytest.fixture
    def vectors(self, store: DocumentStore) -> VectorStore:
        """Return the vectors of the store."""
        return store.vectors

    @pytest.fixture
    def graph(self, store: DocumentStore) -> GraphStore:
        """Return the code graph of the store."""
        return store.graph

    @pytest.fixture
    def state(self, store: DocumentStore) -> StateStore:
        """Return the state of the store."""
        return store.state

    def search_texts(
        self,
        store: DocumentStore,
        query: str,
        scope: Scope = HERE,
        filter: Filter | None = None,
    ) -> list[str]:
        """Return the texts that a search by words finds, best first."""
        terms = query_terms(query)
        rows = store.search_words(scope, terms, limit=50, filter=filter)
        ids = [row.id for row in rows]
        chunks = store.chunks(scope.project, ids)
        return [chunks[number].chunk.text for number in ids]

    def first_chunk(
        self,
        store: DocumentStore,
        uri: str,
        key: CollectionKey = KEY,
    ) -> StoredChunk:
        """Return the first chunk of a document."""
        return store.document_chunks(key, uri)[0]

    def embed(self, store: DocumentStore) -> int:
        """Store a vector for every pending text of the collection, and return the id of its space."""
        space = store.vectors.ensure_space(KEY, SPACE).id
        pending = store.vectors.pending(KEY.scope, space)
        rows = [(text.text_id, text.text_id.to_bytes(4, "big")) for text in pending]
        store.vectors.put(PROJECT, space, rows)
        return space
