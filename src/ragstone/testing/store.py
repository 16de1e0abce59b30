"""Tests that every store must pass. Subclass `StoreContract` in your tests, with a constructor:

    class TestMyStore(StoreContract):
        def make_store(self, folder: Path) -> DocumentStore:
            return MyStore(folder / "mine.db")

If your store implements only some of the protocols, subclass the contracts of these protocols.
"""

from __future__ import annotations

from ragstone.testing.store_collections import StoreCollectionsContract
from ragstone.testing.store_documents import StoreDocumentsContract
from ragstone.testing.store_generations import StoreGenerationsContract
from ragstone.testing.store_graph import StoreGraphContract
from ragstone.testing.store_graph_owners import StoreGraphOwnersContract
from ragstone.testing.store_keys import StoreKeysContract
from ragstone.testing.store_maintenance import StoreMaintenanceContract
from ragstone.testing.store_paths import StorePathsContract
from ragstone.testing.store_scopes import StoreScopesContract
from ragstone.testing.store_spaces import StoreSpacesContract
from ragstone.testing.store_state import StoreStateContract
from ragstone.testing.store_vectors import StoreVectorsContract
from ragstone.testing.store_words import StoreWordsContract


class StoreContract(
    StoreCollectionsContract,
    StoreDocumentsContract,
    StoreGenerationsContract,
    StoreGraphContract,
    StoreGraphOwnersContract,
    StoreKeysContract,
    StoreMaintenanceContract,
    StorePathsContract,
    StoreScopesContract,
    StoreSpacesContract,
    StoreStateContract,
    StoreVectorsContract,
    StoreWordsContract,
):
    """All tests of `protocols.DocumentStore`."""
