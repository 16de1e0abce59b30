# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of vectors; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.errors import InputError, NotFound
from ragstone.protocols import DocumentStore, VectorStore
from ragstone.testing.store_case import (
    HERE,
    KEY,
    MISSING_ID,
    OTHER,
    PROJECT,
    SPACE,
    StoreCase,
    prepare,
    put_text,
)
from ragstone.types import Condition, Filter

BUILDING_SPACE = replace(SPACE, model="big")
FIVE_TEXTS = prepare("a.md", [f"text {n}" for n in range(5)])


class StoreVectorsContract(StoreCase):
    """Tests of `protocols.VectorStore` about vectors."""

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    def test_texts_without_a_vector_are_pending(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        store.put(KEY, [prepare("a.md", ["x", "y", "x"], header="H")])
        space = vectors.ensure_space(KEY, SPACE).id
        first, second = vectors.pending(HERE, space)
        assert first.text == "H\nx"
        assert second.text == "H\ny"
        assert vectors.pending(HERE, space, limit=1) == [first]
        assert vectors.pending(HERE, space, after=first.text_id) == [second]

    def test_a_stored_vector_is_never_replaced(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "x", "y")
        space = vectors.ensure_space(KEY, SPACE).id
        first, second = (text.text_id for text in vectors.pending(HERE, space))
        assert vectors.put(PROJECT, space, [(first, b"abcd")]) == 1
        assert vectors.put(PROJECT, space, iter([(first, b"zzzz"), (second, b"efgh")])) == 1
        rows = vectors.rows(PROJECT, space).after(0, 10)
        assert [row.data for row in rows] == [b"abcd", b"efgh"]
        assert vectors.pending(HERE, space) == []

    def test_vectors_of_another_length_are_refused(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "x", "y")
        space = vectors.ensure_space(KEY, SPACE).id
        first, second = (text.text_id for text in vectors.pending(HERE, space))
        with pytest.raises(InputError):
            vectors.put(PROJECT, space, [(first, b"abcd"), (second, b"abc")])
        with pytest.raises(InputError, match="at least a byte"):
            vectors.put(PROJECT, space, [(first, b"")])
        assert len(vectors.pending(HERE, space)) == 2

    def test_an_unchanged_text_is_never_pending_again(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "same text")
        space = self.embed(store)
        put_text(store, "copy.md", "same text")
        store.remove(KEY, ["a.md", "copy.md"])
        put_text(store, "back.md", "same text")
        assert vectors.pending(HERE, space) == []

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────

    def test_vector_rows_are_read_in_order(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        store.put(KEY, [FIVE_TEXTS])
        rows = vectors.rows(PROJECT, self.embed(store))
        stored = rows.after(0, 100)
        ids = [row.id for row in stored]
        assert len(ids) == 5
        assert ids == sorted(ids)
        assert rows.count() == 5
        assert rows.after(ids[1], 2) == stored[2:4]
        assert rows.ids_after(0) == ids
        assert rows.ids_after(ids[1]) == ids[2:]

    def test_vector_rows_are_read_by_id(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        store.put(KEY, [FIVE_TEXTS])
        rows = vectors.rows(PROJECT, self.embed(store))
        first, *_, last = rows.after(0, 100)
        ids = [last.id, first.id, MISSING_ID]
        by_id = sorted(rows.by_id(ids), key=lambda row: row.id)
        assert by_id == [first, last]
        assert rows.data(ids) == {first.id: first.data, last.id: last.data}
        assert rows.by_id([]) == []

    def test_vector_rows_are_read_by_text(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        store.put(KEY, [FIVE_TEXTS])
        rows = vectors.rows(PROJECT, self.embed(store))
        first, second, *_ = rows.after(0, 100)
        twice = [first.text_id, second.text_id] * 2
        assert rows.by_text([second.text_id, MISSING_ID]) == [second]
        assert rows.by_text(twice)[:2] == [first, second]
        assert rows.by_text([]) == []

    def test_the_vector_of_a_chunk_is_the_vector_of_its_text(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "same")
        put_text(store, "b.md", "same")
        rows = vectors.rows(PROJECT, self.embed(store))
        put_text(store, "c.md", "no vector yet")
        (row,) = rows.after(0, 9)
        first = self.first_chunk(store, "a.md").id
        copy = self.first_chunk(store, "b.md").id
        bare = self.first_chunk(store, "c.md").id
        by_chunk = rows.by_chunk([first, copy, bare, MISSING_ID])
        assert by_chunk == {first: row.data, copy: row.data}
        assert rows.by_chunk([]) == {}

    def test_the_version_changes_if_rows_are_added(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        store.put(KEY, [FIVE_TEXTS])
        rows = vectors.rows(PROJECT, vectors.ensure_space(KEY, SPACE).id)
        epoch, generation = rows.version()
        self.embed(store)
        new_epoch, new_generation = rows.version()
        assert epoch == rows.epoch == new_epoch
        assert new_generation != generation

    def test_rows_of_another_space_are_not_returned(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        store.put(KEY, [FIVE_TEXTS])
        ids = vectors.ids_in(HERE, self.embed(store))
        building = vectors.ensure_space(KEY, BUILDING_SPACE, state="building")
        rows = vectors.rows(PROJECT, building.id)
        assert rows.count() == 0
        assert rows.ids_after(0) == []
        assert rows.data(ids) == {}

    # ── removing ──────────────────────────────────────────────────────────────────────────────────

    def test_texts_of_removed_vectors_are_pending_again(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "x", "y", "z")
        space = self.embed(store)
        rows = vectors.rows(PROJECT, space)
        first, second, third = rows.after(0, 9)
        epoch = rows.epoch
        assert vectors.remove(PROJECT, space, [second.id, second.id, MISSING_ID]) == 1
        assert rows.epoch != epoch
        assert rows.after(0, 9) == [first, third]
        (pending,) = vectors.pending(HERE, space)
        assert pending.text_id == second.text_id

    def test_a_vector_that_is_stored_again_gets_a_new_row(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "x")
        space = self.embed(store)
        rows = vectors.rows(PROJECT, space)
        (removed,) = rows.after(0, 9)
        assert vectors.remove(PROJECT, space) == 1
        vectors.put(PROJECT, space, [(removed.text_id, b"anew")])
        (added,) = rows.after(removed.id, 9)
        assert added.text_id == removed.text_id
        assert added.data == b"anew"

    def test_removing_no_vectors_changes_nothing(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "x")
        space = self.embed(store)
        building = vectors.ensure_space(KEY, BUILDING_SPACE, state="building").id
        ids = vectors.ids_in(HERE, space)
        epoch = vectors.rows(PROJECT, space).epoch
        generation = store.generation(HERE)
        assert vectors.remove(PROJECT, space, []) == 0
        assert vectors.remove(PROJECT, space, [MISSING_ID, -1]) == 0
        assert vectors.remove(PROJECT, building, ids) == 0
        assert vectors.remove(PROJECT, building) == 0
        assert vectors.ids_in(HERE, space) == ids
        assert vectors.rows(PROJECT, space).epoch == epoch
        assert store.generation(HERE) == generation

    def test_vectors_of_a_missing_space_cannot_be_removed(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "x")
        space = self.embed(store)
        with pytest.raises(NotFound):
            vectors.remove(OTHER, space)
        with pytest.raises(NotFound):
            vectors.remove(PROJECT, MISSING_ID)

    # ── locating ──────────────────────────────────────────────────────────────────────────────────

    def test_a_removed_text_is_not_found(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "gone soon")
        put_text(store, "b.md", "stays here")
        space = self.embed(store)
        ids_before = vectors.ids_in(HERE, space)
        store.remove(KEY, ["a.md"])
        ids = vectors.ids_in(HERE, space)
        located = vectors.locate(HERE, space, ids_before)
        assert self.search_texts(store, "gone") == []
        assert len(ids) == 1
        assert list(located) == ids

    def test_a_vector_is_located_at_the_first_chunk_with_its_text(
        self,
        store: DocumentStore,
        vectors: VectorStore,
    ) -> None:
        put_text(store, "a.md", "same")
        put_text(store, "b.md", "same")
        space = self.embed(store)
        (row_id,) = vectors.ids_in(HERE, space)
        only_b = Filter((Condition("path", "eq", "b.md"),))
        located = vectors.locate(HERE, space, [row_id, MISSING_ID])
        located_in_b = vectors.locate(HERE, space, [row_id], filter=only_b)
        assert located == {row_id: self.first_chunk(store, "a.md").id}
        assert located_in_b == {row_id: self.first_chunk(store, "b.md").id}
