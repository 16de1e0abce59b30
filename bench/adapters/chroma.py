"""Chroma, a persistent client at its defaults, cosine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.adapters import library

if TYPE_CHECKING:
    from bench.matrix import Floats


EF_SEARCH = 100


class Chroma:
    """A collection of bare vectors."""

    effort = EF_SEARCH
    _collection: Any

    def load_library(self) -> None:
        """Import it."""
        library("chromadb")

    def prepare(self, folder: Path, count: int) -> None:
        """Do nothing."""

    def build(self, folder: Path, vectors: Floats) -> None:
        """Add in batches as large as it takes."""
        client = self._client(folder)
        collection = client.create_collection(
            "bench", configuration={"hnsw": {"space": "cosine"}}
        )
        step = client.get_max_batch_size()
        for start in range(0, len(vectors), step):
            part = vectors[start : start + step]
            collection.add(
                ids=[str(start + number) for number in range(len(part))], embeddings=part
            )

    def open(self, folder: Path) -> None:
        """Open the collection, and have it look wider than by default where that is wanted."""
        self._collection = self._client(folder).get_collection("bench")
        if self.effort != EF_SEARCH:
            self._collection.modify(configuration={"hnsw": {"ef_search": self.effort}})

    def search(self, query: Floats, k: int) -> list[int]:
        """Return the nearest ids."""
        found = self._collection.query(
            query_embeddings=[query], n_results=k, include=["distances"]
        )
        return [int(one) for one in found["ids"][0]]

    def _client(self, folder: Path) -> Any:  # noqa: ANN401 - the peer's own class
        chromadb = library("chromadb")

        settings = chromadb.Settings(anonymized_telemetry=False)
        return chromadb.PersistentClient(path=str(folder), settings=settings)
