# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of collections and their kinds; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

import pytest

from ragstone.errors import InputError, NotFound
from ragstone.protocols import DocumentStore, VectorStore
from ragstone.testing.store_case import (
    HERE,
    KEY,
    NOTES,
    OTHER,
    PROJECT,
    SECOND_KEY,
    SESSION_KEY,
    StoreCase,
    put_text,
)
from ragstone.types import CollectionKey


class StoreCollectionsContract(StoreCase):
    """Tests of `protocols.DocumentStore` about collections."""

    def test_a_new_collection_has_its_description_and_settings(
        self, store: DocumentStore
    ) -> None:
        settings = {"size": 3, "on": True, "x": None}
        collection = store.ensure_collection(SECOND_KEY, description="d", settings=settings)
        assert collection.key == SECOND_KEY
        assert collection.description == "d"
        assert collection.settings == settings

    def test_projects_with_collections_are_listed_by_name(self, store: DocumentStore) -> None:
        store.ensure_collection(CollectionKey(PROJECT, "notes"))
        store.ensure_collection(CollectionKey("another", "notes"))
        assert {PROJECT, "another"} <= set(store.projects())
        assert store.projects() == sorted(store.projects())

    def test_an_existing_collection_is_returned_unchanged(self, store: DocumentStore) -> None:
        first = store.ensure_collection(SECOND_KEY, description="d", settings={"size": 3})
        again = store.ensure_collection(SECOND_KEY, description="other", settings={"size": 4})
        assert again == first

    def test_collections_are_listed_by_name(self, store: DocumentStore) -> None:
        store.ensure_collection(CollectionKey(PROJECT, "a"))
        names = [collection.name for collection in store.collections(PROJECT)]
        assert names == ["a", NOTES]

    def test_projects_do_not_share_collections(self, store: DocumentStore) -> None:
        put_text(store, "a.md", "apple")
        (mine,) = store.collections(PROJECT)
        (theirs,) = store.collections(OTHER)
        assert mine.uuid != theirs.uuid
        assert theirs.documents == 0
        assert store.collections("missing") == []

    def test_counts_follow_every_change(self, store: DocumentStore) -> None:
        def counts() -> tuple[int, int]:
            (collection,) = store.collections(PROJECT)
            return collection.documents, collection.chunks

        put_text(store, "a.md", "x", "y", "z")
        put_text(store, "b.md", "x")
        assert counts() == (2, 4)
        put_text(store, "a.md", "x")
        assert counts() == (2, 2)
        store.remove(KEY, ["b.md"])
        assert counts() == (1, 1)

    def test_a_write_sets_the_time_of_the_collection(self, store: DocumentStore) -> None:
        put_text(store, "a.md", "x")
        (collection,) = store.collections(PROJECT)
        assert collection.updated_at is not None

    def test_dropping_a_collection_removes_only_its_documents(
        self, store: DocumentStore
    ) -> None:
        store.ensure_collection(SECOND_KEY)
        put_text(store, "a.md", "apple pie")
        put_text(store, "b.md", "apple tart")
        put_text(store, "a.md", "apple juice", key=SECOND_KEY)
        assert store.drop_collection(KEY) == 2
        assert self.search_texts(store, "apple") == ["apple juice"]
        assert store.drop_collection(SECOND_KEY) == 1
        assert self.search_texts(store, "apple") == []
        assert store.collections(PROJECT) == []

    def test_a_missing_collection_cannot_be_dropped(self, store: DocumentStore) -> None:
        with pytest.raises(NotFound):
            store.drop_collection(SECOND_KEY)

    @pytest.mark.parametrize("name", ["a\x1fmemory", "a\nb", "\0", "\x7f", ""])
    def test_names_with_control_characters_are_refused(
        self,
        store: DocumentStore,
        name: str,
    ) -> None:
        for key in (CollectionKey(name, "a"), CollectionKey(PROJECT, name)):
            with pytest.raises(InputError):
                store.ensure_collection(key)
            assert store.text(key, "a") is None

    # ── kinds ─────────────────────────────────────────────────────────────────────────────────────

    def test_collections_of_two_kinds_may_have_one_name(self, store: DocumentStore) -> None:
        store.ensure_collection(SESSION_KEY)
        put_text(store, "turn", "apple juice", key=SESSION_KEY)
        documents = [collection.key for collection in store.collections(PROJECT)]
        sessions = [collection.key for collection in store.collections(PROJECT, "session")]
        assert documents == [KEY]
        assert sessions == [SESSION_KEY]
        assert store.document(KEY, "turn") is None
        assert store.drop_collection(SESSION_KEY) == 1

    def test_a_search_finds_collections_of_its_own_kind_only(
        self, store: DocumentStore
    ) -> None:
        store.ensure_collection(SESSION_KEY)
        put_text(store, "a.md", "apple pie")
        put_text(store, "turn", "apple juice", key=SESSION_KEY)
        agent = CollectionKey(PROJECT, NOTES, "agent")
        assert self.search_texts(store, "apple") == ["apple pie"]
        assert self.search_texts(store, "apple", SESSION_KEY.scope) == ["apple juice"]
        assert self.search_texts(store, "apple", agent.scope) == []

    def test_a_vector_is_located_in_its_own_kind_only(
        self, store: DocumentStore, vectors: VectorStore
    ) -> None:
        store.ensure_collection(SESSION_KEY)
        put_text(store, "a.md", "the same text")
        put_text(store, "turn", "the same text", key=SESSION_KEY)
        space = self.embed(store)
        rows = vectors.ids_in(HERE, space)
        (chunk,) = vectors.locate(SESSION_KEY.scope, space, rows).values()
        assert store.chunks(PROJECT, [chunk])[chunk].uri == "turn"
