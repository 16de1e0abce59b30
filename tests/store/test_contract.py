from __future__ import annotations

from pathlib import Path

from ragstone.protocols import Store
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store import StoreContract
from ragstone.testing.store_graph import StoreGraphContract
from ragstone.testing.store_vectors import StoreVectorsContract


class TestFile(StoreContract):
    def make_store(self, folder: Path) -> Store:
        return SqliteStore(folder / "home" / "ragstone.db")


class TestFileVectors(StoreVectorsContract):
    def make_store(self, folder: Path) -> Store:
        return SqliteStore(folder / "home" / "ragstone.db")


class TestFileGraph(StoreGraphContract):
    def make_store(self, folder: Path) -> Store:
        return SqliteStore(folder / "home" / "ragstone.db")


class TestMemory(StoreContract):
    def make_store(self, folder: Path) -> Store:
        return SqliteStore(":memory:")


class TestMemoryVectors(StoreVectorsContract):
    def make_store(self, folder: Path) -> Store:
        return SqliteStore(":memory:")


class TestMemoryGraph(StoreGraphContract):
    def make_store(self, folder: Path) -> Store:
        return SqliteStore(":memory:")
