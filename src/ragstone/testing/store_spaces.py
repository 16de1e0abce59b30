# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of embedding spaces; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.errors import NotFound, StaleSpace
from ragstone.protocols import DocumentStore, VectorStore
from ragstone.testing.store_case import (
    HERE,
    KEY,
    MISSING_ID,
    PROJECT,
    SECOND_KEY,
    SPACE,
    StoreCase,
    put_text,
)
from ragstone.types import DEFAULT_STORAGE, Scope, Space

NEW_SPACE = replace(SPACE, model="big")


class StoreSpacesContract(StoreCase):
    """Tests of `protocols.VectorStore` about embedding spaces."""

    def coverage(self, store: DocumentStore, scope: Scope = HERE) -> tuple[int, int]:
        """Return how many texts the only space in scope has, and how many of them have a vector."""
        (info,) = store.vectors.spaces(scope)
        return info.texts, info.embedded

    def states(self, store: DocumentStore) -> dict[int, str]:
        """Return the state of each space by id."""
        return {info.id: info.state for info in store.vectors.spaces(HERE)}

    def test_a_new_space_is_active_and_has_no_vectors(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "x", "y", "x")
        info = vectors.ensure_space(KEY, SPACE)
        assert info.space == SPACE
        assert info.state == "active"
        assert (info.texts, info.embedded) == (2, 0)

    def test_the_coverage_follows_texts_and_vectors(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "x", "y")
        put_text(store, "b.md", "z")
        space = self.embed(store)
        assert self.coverage(store) == (3, 3)
        store.remove(KEY, ["b.md"])
        assert self.coverage(store) == (2, 2)
        first, _ = vectors.ids_in(HERE, space)
        vectors.remove(PROJECT, space, [first])
        assert self.coverage(store) == (2, 1)

    @pytest.mark.parametrize(
        "other",
        [
            replace(SPACE, dimension=8),
            NEW_SPACE,
            replace(SPACE, query_prefix="q: "),
            replace(SPACE, normalised=False),
            replace(SPACE, version="2"),
        ],
    )
    def test_another_space_is_refused_and_the_old_one_stays_active(
        self,
        store: DocumentStore,
        vectors: VectorStore,
        other: Space,
    ) -> None:
        put_text(store, "a.md", "x")
        space = self.embed(store)
        with pytest.raises(StaleSpace):
            vectors.ensure_space(KEY, other)
        assert self.states(store) == {space: "active"}
        assert self.coverage(store) == (1, 1)
        assert vectors.ensure_space(KEY, SPACE).id == space

    def test_a_new_space_is_built_first_and_then_activated(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "x")
        old = self.embed(store)
        new = vectors.ensure_space(KEY, NEW_SPACE, state="building")
        assert (new.state, new.embedded) == ("building", 0)
        assert self.states(store) == {old: "active", new.id: "building"}
        vectors.activate_space(KEY, new.id)
        assert self.states(store) == {new.id: "active"}

    def test_a_change_of_space_keeps_the_old_vectors(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        put_text(store, "a.md", "x")
        old = self.embed(store)
        new = vectors.ensure_space(KEY, NEW_SPACE, state="building")
        vectors.activate_space(KEY, new.id)
        assert vectors.rows(PROJECT, old).count() == 1

    def test_a_missing_space_cannot_be_activated(self, vectors: VectorStore) -> None:
        with pytest.raises(NotFound):
            vectors.activate_space(KEY, MISSING_ID)

    def test_a_space_is_shared_by_the_collections_of_a_project(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        store.ensure_collection(SECOND_KEY)
        put_text(store, "a.md", "same")
        put_text(store, "b.md", "same", "more", key=SECOND_KEY)
        space = self.embed(store)
        second = vectors.ensure_space(SECOND_KEY, SPACE)
        assert second.id == space
        assert (second.texts, second.embedded) == (2, 1)
        assert self.coverage(store) == (2, 1)
        assert self.coverage(store, KEY.scope) == (1, 1)

    def test_a_space_has_the_storage_that_is_named_or_the_default(
        self,
        vectors: VectorStore,
    ) -> None:
        assert vectors.ensure_space(KEY, SPACE).storage == DEFAULT_STORAGE
        named = vectors.ensure_space(KEY, SPACE, storage="int8", state="building")
        assert (named.storage, named.state) == ("int8", "building")
        assert vectors.ensure_space(KEY, SPACE).storage == DEFAULT_STORAGE
        with pytest.raises(StaleSpace):
            vectors.ensure_space(KEY, SPACE, storage="int8")
