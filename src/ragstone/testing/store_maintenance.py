# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of check, compact and backup; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.errors import RagstoneError
from ragstone.protocols import DocumentStore, VectorStore
from ragstone.testing.store_case import HERE, KEY, PROJECT, StoreCase, put_text


class StoreMaintenanceContract(StoreCase):
    """Tests of `protocols.DocumentStore` about check, compact and backup."""

    @pytest.mark.parametrize("secure", [False, True])
    def test_compact_removes_only_unused_rows(
        self, store: DocumentStore, vectors: VectorStore, secure: bool
    ) -> None:
        put_text(store, "a.md", "apple")
        put_text(store, "b.md", "banana")
        rows = vectors.rows(PROJECT, self.embed(store))
        epoch = rows.epoch
        store.remove(KEY, ["b.md"])
        assert store.compact(secure=secure) >= 0
        assert self.search_texts(store, "apple") == ["apple"]
        assert rows.count() == 1
        assert rows.epoch != epoch
        assert all(finding.ok for finding in store.check())

    @pytest.mark.parametrize("secure", [False, True])
    def test_compact_forgets_the_vectors_of_removed_texts(
        self,
        store: DocumentStore,
        vectors: VectorStore,
        secure: bool,
    ) -> None:
        put_text(store, "a.md", "apple")
        put_text(store, "b.md", "banana")
        space = self.embed(store)
        store.remove(KEY, ["b.md"])
        store.compact(secure=secure)
        put_text(store, "b.md", "banana")
        (pending,) = vectors.pending(HERE, space)
        assert pending.text == "banana"

    def test_a_backup_never_overwrites(self, store: DocumentStore, tmp_path: Path) -> None:
        put_text(store, "a.md", "apple")
        target = store.backup(tmp_path / "copy")
        assert target.exists()
        with pytest.raises(RagstoneError):
            store.backup(tmp_path / "copy")
