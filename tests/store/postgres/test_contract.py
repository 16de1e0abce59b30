from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.protocols import DocumentStore
from ragstone.store.postgres.store import PostgresStore
from ragstone.testing.store import StoreContract


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def take_database(self, database_url: str) -> None:
        self.url = database_url

    def make_store(self, folder: Path) -> DocumentStore:
        return PostgresStore(self.url)
