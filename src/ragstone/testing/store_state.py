# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of snapshots, generations, kinds of collections and state; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ragstone.errors import InputError, NotFound, StoreError
from ragstone.protocols import DocumentStore
from ragstone.testing.store import (
    HERE,
    KEY,
    NOTES,
    OTHER,
    OTHER_KEY,
    PROJECT,
    SPACE,
    StoreCase,
    prepare,
)
from ragstone.types import (
    CollectionKey,
    CollectionState,
    Scope,
    SessionState,
    Stamp,
    UnreadFile,
    UnreadFiles,
)

SESSION = CollectionKey(PROJECT, NOTES, "session")
AGENT = CollectionKey(PROJECT, NOTES, "agent")


class StoreStateContract(StoreCase):
    """Tests of `protocols.DocumentStore` about snapshots, generations, kinds and state."""

    # ── kinds of collections ──────────────────────────────────────────────────────────────────────

    def test_collections_of_two_kinds_may_have_one_name(self, store: DocumentStore) -> None:
        store.ensure_collection(SESSION)
        store.put(KEY, [prepare("a.md", ["apple pie"])])
        store.put(SESSION, [prepare("turn", ["apple juice"])])
        assert [
            (collection.name, collection.kind) for collection in store.collections(PROJECT)
        ] == [(NOTES, "documents")]
        assert [collection.key for collection in store.collections(PROJECT, "session")] == [SESSION]
        assert self.search_texts(store, "apple") == ["apple pie"]
        assert self.search_texts(store, "apple", SESSION.scope) == ["apple juice"]
        assert self.search_texts(store, "apple", AGENT.scope) == []
        assert store.document(KEY, "turn") is None
        assert store.drop_collection(SESSION) == 1
        assert self.search_texts(store, "apple") == ["apple pie"]

    def test_a_vector_is_located_in_its_own_kind_only(self, store: DocumentStore) -> None:
        store.ensure_collection(SESSION)
        store.put(KEY, [prepare("a.md", ["the same text"])])
        store.put(SESSION, [prepare("turn", ["the same text"])])
        space = self.embed(store)
        (row,) = store.vectors.ids_in(HERE, space)
        (chunk,) = store.vectors.locate(SESSION.scope, space, [row]).values()
        assert store.chunks(PROJECT, [chunk])[chunk].uri == "turn"

    @pytest.mark.parametrize("name", ["a\x1fmemory", "a\nb", "\0", "\x7f", ""])
    def test_names_with_control_characters_are_refused(
        self, store: DocumentStore, name: str
    ) -> None:
        for key in (CollectionKey(name, "a"), CollectionKey(PROJECT, name)):
            with pytest.raises(InputError):
                store.ensure_collection(key)
            assert store.text(key, "a") is None

    # ── generations ───────────────────────────────────────────────────────────────────────────────

    def test_a_write_changes_the_generation_of_its_own_collection_only(
        self, store: DocumentStore
    ) -> None:
        second = CollectionKey(PROJECT, "second")
        store.ensure_collection(second)
        store.ensure_collection(SESSION)
        scopes = (
            HERE,
            KEY.scope,
            second.scope,
            Scope(PROJECT, (NOTES, "second")),
            SESSION.scope,
            OTHER_KEY.scope,
        )
        before = [store.generation(scope) for scope in scopes]
        store.put(KEY, [prepare("a.md", ["x"])])
        after = [store.generation(scope) for scope in scopes]
        changed = [new != old for new, old in zip(after, before, strict=True)]
        assert changed == [True, True, False, True, False, False]

    def test_vectors_change_the_generation_of_collections_with_their_texts(
        self, store: DocumentStore
    ) -> None:
        store.ensure_collection(SESSION)
        store.put(KEY, [prepare("a.md", ["x"])])
        store.put(SESSION, [prepare("turn", ["y"])])
        space = store.vectors.ensure_space(KEY, SPACE).id
        store.vectors.ensure_space(SESSION, SPACE)
        (text,) = store.vectors.pending(HERE, space)
        before, session_before = store.generation(HERE), store.generation(SESSION.scope)
        store.vectors.put(PROJECT, space, [(text.text_id, b"abcd")])
        assert store.generation(HERE) != before
        assert store.generation(SESSION.scope) == session_before

    def test_a_collection_that_was_dropped_and_made_again_has_a_new_generation(
        self, store: DocumentStore
    ) -> None:
        seen = [store.generation(KEY.scope)]
        store.drop_collection(KEY)
        seen.append(store.generation(KEY.scope))
        store.ensure_collection(KEY)
        seen.append(store.generation(KEY.scope))
        assert len(set(seen)) == 3

    # ── snapshots ─────────────────────────────────────────────────────────────────────────────────

    def test_a_snapshot_can_be_read_by_any_thread_while_it_is_open(
        self, store: DocumentStore
    ) -> None:
        store.put(KEY, [prepare("a.md", ["apple"])])
        space = self.embed(store)
        with ThreadPoolExecutor(2) as pool, store.snapshot() as view:
            uris = pool.map(lambda _: [document.uri for document in view.documents(HERE)], range(8))
            assert list(uris) == [["a.md"]] * 8
            assert pool.submit(view.vectors.ids_in, HERE, space).result() == store.vectors.ids_in(
                HERE, space
            )
            assert view.generation(HERE) == store.generation(HERE)
            assert view.graph.nodes(HERE) == []
        with pytest.raises(StoreError):
            view.documents(HERE)

    # ── state ─────────────────────────────────────────────────────────────────────────────────────

    def test_the_state_of_a_collection_keeps_every_field(self, store: DocumentStore) -> None:
        assert store.state.collection_state(KEY) == CollectionState()
        store.state.update_collection_state(
            KEY, synced_at=1.5, follows_folder=True, fingerprint="f"
        )
        store.state.update_collection_state(
            KEY, root="/a\udcff", relative_root="..", graph_remarks=("one", "two")
        )
        store.state.update_collection_state(KEY, needs_vectors=True, graph_seconds=0.5)
        assert store.state.collection_state(KEY) == CollectionState(
            1.5, True, "f", "/a\udcff", "..", True, 0.5, ("one", "two")
        )
        store.state.update_collection_state(KEY, needs_vectors=False, fingerprint=None)
        assert store.state.collection_state(KEY).needs_vectors is False
        assert store.state.collection_state(OTHER_KEY) == CollectionState()
        with pytest.raises(NotFound):
            store.state.update_collection_state(CollectionKey(PROJECT, "nowhere"), synced_at=1.0)

    def test_unread_files_are_replaced_together(self, store: DocumentStore) -> None:
        assert store.state.unread_files(KEY) == UnreadFiles()
        first = UnreadFiles(
            "recipe",
            {"a.bin": UnreadFile(Stamp(1, 2, 3, 2**64 - 1), "binary"), "b": _failed("bad")},
        )
        store.state.set_unread_files(KEY, first)
        assert store.state.unread_files(KEY) == first
        store.state.set_unread_files(KEY, UnreadFiles("other", {}))
        assert store.state.unread_files(KEY) == UnreadFiles("other", {})

    def test_the_state_of_a_session_keeps_every_field(self, store: DocumentStore) -> None:
        assert store.state.session_state(SESSION) == SessionState()
        store.ensure_collection(SESSION)
        store.state.update_session_state(SESSION, next_turn=3)
        store.state.update_session_state(SESSION, version="v")
        assert store.state.session_state(SESSION) == SessionState(3, "v")

    def test_state_is_removed_with_its_collection(self, store: DocumentStore) -> None:
        store.state.update_collection_state(KEY, synced_at=1.0)
        store.state.set_unread_files(KEY, UnreadFiles("recipe", {"b": _failed("bad")}))
        store.drop_collection(KEY)
        store.ensure_collection(KEY)
        assert store.state.collection_state(KEY) == CollectionState()
        assert store.state.unread_files(KEY) == UnreadFiles()

    def test_shown_passages_are_kept_by_session_and_the_oldest_are_forgotten(
        self, store: DocumentStore
    ) -> None:
        store.state.add_shown_passages(PROJECT, "s", ["a", "b", "a"], keep=10)
        store.state.add_shown_passages(PROJECT, "s", ["b", "c"], keep=2)
        assert store.state.shown_passages(PROJECT, "s") == ["b", "c"]
        assert store.state.shown_passages(PROJECT, "other") == []
        assert store.state.shown_passages(OTHER, "s") == []

    def test_shown_passages_are_removed_with_their_session_only(self, store: DocumentStore) -> None:
        store.ensure_collection(SESSION)
        store.state.add_shown_passages(PROJECT, NOTES, ["a"], keep=10)
        store.drop_collection(KEY)
        assert store.state.shown_passages(PROJECT, NOTES) == ["a"]
        store.drop_collection(SESSION)
        assert store.state.shown_passages(PROJECT, NOTES) == []


def _failed(reason: str) -> UnreadFile:
    return UnreadFile(Stamp(1, 1, 1, 1), reason, failed=True)
