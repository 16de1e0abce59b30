# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of generations and snapshots; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ragstone.errors import StoreError
from ragstone.protocols import DocumentReader, DocumentStore, StateStore, VectorStore
from ragstone.testing.store_case import (
    HERE,
    KEY,
    NOTES,
    OTHER_KEY,
    PROJECT,
    SECOND_KEY,
    SESSION_KEY,
    SPACE,
    StoreCase,
    put_text,
)
from ragstone.types import Scope


class StoreGenerationsContract(StoreCase):
    """Tests of `protocols.DocumentStore` about generations and snapshots."""

    def test_every_write_changes_the_generation(
        self, store: DocumentStore, state: StateStore
    ) -> None:
        generations = {store.generation(HERE)}
        put_text(store, "a.md", "x")
        generations.add(store.generation(HERE))
        put_text(store, "a.md", "y")
        generations.add(store.generation(HERE))
        state.update_collection_state(KEY, synced_at=1.0)
        generations.add(store.generation(HERE))
        store.remove(KEY, ["a.md"])
        generations.add(store.generation(HERE))
        assert len(generations) == 5

    def test_a_read_or_an_equal_value_does_not_change_it(
        self, store: DocumentStore, state: StateStore
    ) -> None:
        state.update_collection_state(KEY, synced_at=1.0)
        generation = store.generation(HERE)
        self.search_texts(store, "x")
        state.update_collection_state(KEY, synced_at=1.0)
        assert store.generation(HERE) == generation

    def test_a_write_changes_only_scopes_with_its_collection(
        self, store: DocumentStore
    ) -> None:
        store.ensure_collection(SECOND_KEY)
        store.ensure_collection(SESSION_KEY)
        both = Scope(PROJECT, (NOTES, SECOND_KEY.name))
        scopes = {HERE, KEY.scope, both, SECOND_KEY.scope, SESSION_KEY.scope, OTHER_KEY.scope}
        before = {scope: store.generation(scope) for scope in scopes}
        put_text(store, "a.md", "x")
        changed = {scope for scope in scopes if store.generation(scope) != before[scope]}
        assert changed == {HERE, KEY.scope, both}

    def test_vectors_change_only_collections_with_their_texts(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        store.ensure_collection(SESSION_KEY)
        put_text(store, "a.md", "x")
        put_text(store, "turn", "y", key=SESSION_KEY)
        space = vectors.ensure_space(KEY, SPACE).id
        vectors.ensure_space(SESSION_KEY, SPACE)
        (text,) = vectors.pending(HERE, space)
        documents_before = store.generation(HERE)
        session_before = store.generation(SESSION_KEY.scope)
        vectors.put(PROJECT, space, [(text.text_id, b"abcd")])
        assert store.generation(HERE) != documents_before
        assert store.generation(SESSION_KEY.scope) == session_before

    def test_a_collection_that_was_dropped_and_made_again_has_a_new_one(
        self,
        store: DocumentStore,
    ) -> None:
        first = store.generation(KEY.scope)
        store.drop_collection(KEY)
        dropped = store.generation(KEY.scope)
        store.ensure_collection(KEY)
        second = store.generation(KEY.scope)
        assert len({first, dropped, second}) == 3

    # ── snapshots ─────────────────────────────────────────────────────────────────────────────────

    def test_a_snapshot_can_be_read_by_any_thread(self, store: DocumentStore) -> None:
        def list_uris(view: DocumentReader) -> list[str]:
            return [document.uri for document in view.documents(HERE)]

        put_text(store, "a.md", "apple")
        with ThreadPoolExecutor(2) as pool, store.snapshot() as view:
            results = list(pool.map(list_uris, [view] * 8))
        assert results == [["a.md"]] * 8

    def test_a_snapshot_reads_vectors_graph_and_generation(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "apple")
        space = self.embed(store)
        with store.snapshot() as view:
            assert view.vectors.ids_in(HERE, space) == vectors.ids_in(HERE, space)
            assert view.generation(HERE) == store.generation(HERE)
            assert view.graph.nodes(HERE) == []

    def test_a_snapshot_that_has_ended_cannot_be_read(self, store: DocumentStore) -> None:
        with store.snapshot() as view:
            pass
        with pytest.raises(StoreError):
            view.documents(HERE)
