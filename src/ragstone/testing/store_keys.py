# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of keys, plans and limits; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.errors import Conflict, QuotaError
from ragstone.protocols import DocumentStore
from ragstone.testing.store_case import (
    KEY,
    OTHER,
    PROJECT,
    SESSION_KEY,
    StoreCase,
    prepare,
    put_text,
)
from ragstone.types import CollectionKey, Limits, StoredKey

FIRST = StoredKey("a1", PROJECT, "laptop", ("read", "write"), b"\0digest", 1.5, expires_at=9.0)


class StoreKeysContract(StoreCase):
    """Tests of `protocols.KeyStore`, and of the limits of a plan."""

    # ── keys and plans ────────────────────────────────────────────────────────────────────────────

    def test_a_key_keeps_every_field(self, store: DocumentStore) -> None:
        assert not store.keys.any()
        store.keys.add(FIRST)
        assert store.keys.any()
        assert store.keys.get("a1") == FIRST
        assert store.keys.get("a2") is None

    def test_an_id_is_used_once(self, store: DocumentStore) -> None:
        store.keys.add(FIRST)
        with pytest.raises(Conflict):
            store.keys.add(replace(FIRST, digest=b"another"))
        assert store.keys.get("a1") == FIRST

    def test_keys_are_listed_by_project(self, store: DocumentStore) -> None:
        second = replace(FIRST, id="a0", created_at=2.0)
        for key in (second, FIRST, replace(FIRST, id="a3", project=OTHER)):
            store.keys.add(key)
        assert store.keys.list(PROJECT) == [FIRST, second]
        assert store.keys.list("unknown") == []

    def test_a_key_is_revoked_once_and_by_its_project_only(self, store: DocumentStore) -> None:
        store.keys.add(FIRST)
        assert not store.keys.revoke(OTHER, "a1", 5.0)
        assert store.keys.get("a1") == FIRST
        assert store.keys.revoke(PROJECT, "a1", 5.0)
        assert store.keys.revoke(PROJECT, "a1", 6.0)
        assert store.keys.get("a1") == replace(FIRST, revoked_at=5.0)

    def test_a_project_has_one_plan(self, store: DocumentStore) -> None:
        assert store.keys.plan(PROJECT) is None
        store.keys.set_plan(PROJECT, "pro")
        store.keys.set_plan("new", "free")
        store.keys.set_plan(PROJECT, "starter")
        assert (store.keys.plan(PROJECT), store.keys.plan("new")) == ("starter", "free")
        assert store.keys.plan(OTHER) is None

    # ── limits ────────────────────────────────────────────────────────────────────────────────────

    def test_a_put_beyond_the_limit_stores_nothing(self, store: DocumentStore) -> None:
        put_text(store, "a", "one", "two")
        documents = [prepare("b", ["three"]), prepare("c", ["four"])]
        with pytest.raises(QuotaError):
            store.put(KEY, documents, limits=Limits(chunks=3))
        assert store.document(KEY, "b") is None
        store.put(KEY, documents[:1], limits=Limits(chunks=3))
        assert store.document(KEY, "b") is not None

    def test_a_collection_beyond_its_limit_may_shrink(self, store: DocumentStore) -> None:
        put_text(store, "a", "one", "two", "three")
        store.put(KEY, [prepare("a", ["one", "two"])], limits=Limits(chunks=1))
        assert store.collections(PROJECT)[0].chunks == 2

    def test_turns_are_documents_of_a_session(self, store: DocumentStore) -> None:
        store.ensure_collection(SESSION_KEY)
        limits = Limits(chunks=0, turns=1)
        store.put(SESSION_KEY, [prepare("turn-0", ["one", "two"])], limits=limits)
        with pytest.raises(QuotaError):
            store.put(SESSION_KEY, [prepare("turn-1", ["three"])], limits=limits)

    def test_collections_are_limited_and_sessions_are_not(self, store: DocumentStore) -> None:
        limits = Limits(collections=1)
        store.ensure_collection(KEY, limits=limits)
        store.ensure_collection(CollectionKey(PROJECT, "talk", "session"), limits=limits)
        with pytest.raises(QuotaError):
            store.ensure_collection(CollectionKey(PROJECT, "second"), limits=limits)
        assert len(store.collections(PROJECT)) == 1
