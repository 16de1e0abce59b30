from __future__ import annotations

from pathlib import Path

from ragstone.protocols import DocumentStore
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store import StoreContract


class TestFile(StoreContract):
    def make_store(self, folder: Path) -> DocumentStore:
        return SqliteStore(folder / "home" / "ragstone.db")


class TestMemory(StoreContract):
    def make_store(self, folder: Path) -> DocumentStore:
        return SqliteStore(":memory:")
