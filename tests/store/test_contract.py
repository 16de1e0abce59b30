from __future__ import annotations

from pathlib import Path

from ragstone.protocols import DocumentStore
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store import StoreContract
from ragstone.testing.store_graph import StoreGraphContract
from ragstone.testing.store_state import StoreStateContract
from ragstone.testing.store_vectors import StoreVectorsContract
from ragstone.testing.store_words import StoreWordsContract


class TestFile(
    StoreContract, StoreWordsContract, StoreVectorsContract, StoreGraphContract, StoreStateContract
):
    def make_store(self, folder: Path) -> DocumentStore:
        return SqliteStore(folder / "home" / "ragstone.db")


class TestMemory(
    StoreContract, StoreWordsContract, StoreVectorsContract, StoreGraphContract, StoreStateContract
):
    def make_store(self, folder: Path) -> DocumentStore:
        return SqliteStore(":memory:")
