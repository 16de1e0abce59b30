# ruff: noqa: D102 (a test's name is its sentence)
"""Tests that no call returns rows from outside its scope; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

import pytest

from ragstone.errors import NotFound
from ragstone.protocols import DocumentStore, VectorStore
from ragstone.testing.store_case import (
    HERE,
    OTHER,
    OTHER_KEY,
    PROJECT,
    SECOND_KEY,
    StoreCase,
    put_text,
)
from ragstone.types import Scope

THERE = Scope(OTHER)


class StoreScopesContract(StoreCase):
    """Tests of the borders between projects and between collections."""

    def put_same_text(self, store: DocumentStore) -> None:
        """Store one document with the same text in each of the two projects."""
        put_text(store, "a.md", "shared words")
        put_text(store, "a.md", "shared words", key=OTHER_KEY)

    def test_words_and_chunks_of_another_project_are_not_returned(
        self,
        store: DocumentStore,
    ) -> None:
        self.put_same_text(store)
        mine = self.first_chunk(store, "a.md")
        theirs = self.first_chunk(store, "a.md", OTHER_KEY)
        both = [mine.id, theirs.id]
        rows = store.search_words(THERE, ["share"], limit=9)
        assert [row.id for row in rows] == [theirs.id]
        assert list(store.chunks(OTHER, both)) == [theirs.id]
        assert list(store.outlines(OTHER, both)) == [theirs.id]
        assert store.copies(THERE, [mine.text_id]) == {}

    def test_projects_do_not_share_texts(self, store: DocumentStore) -> None:
        self.put_same_text(store)
        mine = self.first_chunk(store, "a.md")
        theirs = self.first_chunk(store, "a.md", OTHER_KEY)
        assert mine.text_id != theirs.text_id
        store.remove(OTHER_KEY, ["a.md"])
        assert self.search_texts(store, "shared") == ["shared words"]

    def test_vectors_of_another_project_are_not_returned(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        self.put_same_text(store)
        space = self.embed(store)
        rows = vectors.ids_in(HERE, space)
        # A store may remember the texts of rows that were read.
        vectors.rows(PROJECT, space).data(rows)
        assert vectors.pending(THERE, space) == []
        assert vectors.ids_in(THERE, space) == []
        assert vectors.locate(THERE, space, rows) == {}
        assert vectors.spaces(THERE) == []

    def test_a_space_of_another_project_cannot_be_used(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        self.put_same_text(store)
        space = self.embed(store)
        with pytest.raises(NotFound):
            vectors.rows(OTHER, space)
        with pytest.raises(NotFound):
            vectors.put(OTHER, space, [])

    def test_vectors_for_texts_of_another_project_are_not_stored(
        self,
        store: DocumentStore,
        vectors: VectorStore,
    ) -> None:
        self.put_same_text(store)
        space = self.embed(store)
        theirs = self.first_chunk(store, "a.md", OTHER_KEY)
        generation = store.generation(THERE)
        assert vectors.put(PROJECT, space, [(theirs.text_id, b"1234")]) == 0
        assert store.generation(THERE) == generation

    def test_a_scope_sees_only_its_collections(self, store: DocumentStore) -> None:
        store.ensure_collection(SECOND_KEY)
        put_text(store, "a.md", "apple")
        put_text(store, "b.md", "apple", key=SECOND_KEY)
        first = self.first_chunk(store, "a.md")
        second = self.first_chunk(store, "b.md", SECOND_KEY)
        all_rows = store.search_words(HERE, ["appl"], limit=9)
        rows = store.search_words(SECOND_KEY.scope, ["appl"], limit=9)
        text_id = second.text_id
        assert {row.id for row in all_rows} == {first.id, second.id}
        assert [row.id for row in rows] == [second.id]
        assert store.copies(HERE, [text_id]) == {text_id: [first.id, second.id]}
        assert store.copies(SECOND_KEY.scope, [text_id]) == {text_id: [second.id]}

    @pytest.mark.parametrize("names", [(), ("missing",)])
    def test_a_scope_without_collections_is_empty(
        self,
        store: DocumentStore,
        names: tuple[str, ...],
    ) -> None:
        put_text(store, "a.md", "apple")
        scope = Scope(PROJECT, names)
        assert store.search_words(scope, ["appl"], limit=9) == []
