# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of the state of collections and sessions; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

import pytest

from ragstone.errors import NotFound
from ragstone.protocols import DocumentStore, StateStore
from ragstone.testing.store_case import (
    KEY,
    MISSING_KEY,
    NOTES,
    OTHER,
    OTHER_KEY,
    PROJECT,
    SESSION_KEY,
    StoreCase,
)
from ragstone.types import CollectionState, SessionState, Stamp, UnreadFile, UnreadFiles

UNREAD = UnreadFiles(
    "recipe",
    {
        "a.bin": UnreadFile(Stamp(1, 2, 3, 2**64 - 1), "binary"),
        "b.pdf": UnreadFile(Stamp(1, 1, 1, 1), "bad", failed=True),
    },
)


class StoreStateContract(StoreCase):
    """Tests of `protocols.StateStore`."""

    # ── collections ───────────────────────────────────────────────────────────────────────────────

    def test_the_state_of_a_collection_has_defaults(self, state: StateStore) -> None:
        assert state.collection_state(KEY) == CollectionState()

    def test_the_state_of_a_collection_keeps_every_field(self, state: StateStore) -> None:
        update = state.update_collection_state
        update(KEY, synced_at=1.5, follows_folder=True, fingerprint="f")
        update(KEY, root="/a\udcff", relative_root="..", graph_remarks=("one", "two"))
        update(KEY, needs_vectors=True, graph_seconds=0.5)
        expected = CollectionState(
            synced_at=1.5,
            follows_folder=True,
            fingerprint="f",
            root="/a\udcff",
            relative_root="..",
            needs_vectors=True,
            graph_seconds=0.5,
            graph_remarks=("one", "two"),
        )
        assert state.collection_state(KEY) == expected
        assert state.collection_state(OTHER_KEY) == CollectionState()

    def test_a_field_can_be_reset(self, state: StateStore) -> None:
        state.update_collection_state(KEY, needs_vectors=True, fingerprint="f")
        state.update_collection_state(KEY, needs_vectors=False, fingerprint=None)
        assert state.collection_state(KEY) == CollectionState()

    def test_a_missing_collection_has_no_state(self, state: StateStore) -> None:
        with pytest.raises(NotFound):
            state.update_collection_state(MISSING_KEY, synced_at=1.0)

    def test_unread_files_are_replaced_together(self, state: StateStore) -> None:
        assert state.unread_files(KEY) == UnreadFiles()
        state.set_unread_files(KEY, UNREAD)
        assert state.unread_files(KEY) == UNREAD
        nothing = UnreadFiles("other", {})
        state.set_unread_files(KEY, nothing)
        assert state.unread_files(KEY) == nothing

    def test_state_is_removed_with_its_collection(
        self, store: DocumentStore, state: StateStore
    ) -> None:
        state.update_collection_state(KEY, synced_at=1.0)
        state.set_unread_files(KEY, UNREAD)
        store.drop_collection(KEY)
        store.ensure_collection(KEY)
        assert state.collection_state(KEY) == CollectionState()
        assert state.unread_files(KEY) == UnreadFiles()

    # ── sessions ──────────────────────────────────────────────────────────────────────────────────

    def test_the_state_of_a_session_keeps_every_field(
        self, store: DocumentStore, state: StateStore
    ) -> None:
        assert state.session_state(SESSION_KEY) == SessionState()
        store.ensure_collection(SESSION_KEY)
        state.update_session_state(SESSION_KEY, next_turn=3)
        state.update_session_state(SESSION_KEY, version="v")
        assert state.session_state(SESSION_KEY) == SessionState(3, "v")

    def test_only_the_newest_shown_passages_are_kept(self, state: StateStore) -> None:
        state.add_shown_passages(PROJECT, "s", ["a", "b", "a"], keep=10)
        state.add_shown_passages(PROJECT, "s", ["b", "c"], keep=2)
        assert state.shown_passages(PROJECT, "s") == ["b", "c"]

    def test_shown_passages_belong_to_a_project_and_a_session(self, state: StateStore) -> None:
        state.add_shown_passages(PROJECT, "s", ["a"], keep=10)
        assert state.shown_passages(PROJECT, "other") == []
        assert state.shown_passages(OTHER, "s") == []

    def test_shown_passages_are_removed_with_their_session_only(
        self, store: DocumentStore, state: StateStore
    ) -> None:
        store.ensure_collection(SESSION_KEY)
        state.add_shown_passages(PROJECT, NOTES, ["a"], keep=10)
        store.drop_collection(KEY)
        assert state.shown_passages(PROJECT, NOTES) == ["a"]
        store.drop_collection(SESSION_KEY)
        assert state.shown_passages(PROJECT, NOTES) == []
