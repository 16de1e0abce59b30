"""One small class for each peer: build an index of vectors, open it again, ask it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from bench.matrix import Floats

ADAPTERS = {
    "ours": "bench.adapters.ours:Turbo",
    "chroma": "bench.adapters.chroma:Chroma",
    "lancedb": "bench.adapters.lance:Lance",
    "sqlite-vec": "bench.adapters.sqlite_vec:SqliteVec",
    "faiss": "bench.adapters.faiss_hnsw:FaissHnsw",
    "faiss-flat": "bench.adapters.faiss_hnsw:FaissFlat",
    "hnswlib": "bench.adapters.hnsw:Hnsw",
    "qdrant-edge": "bench.adapters.qdrant:Qdrant",
}
PACKAGES = {
    "ours": "ragstone",
    "chroma": "chromadb",
    "lancedb": "lancedb",
    "sqlite-vec": "sqlite-vec",
    "faiss": "faiss-cpu",
    "faiss-flat": "faiss-cpu",
    "hnswlib": "hnswlib",
    "qdrant-edge": "qdrant-edge-py",
}


class Adapter(Protocol):
    """What the nearest-neighbour measurement asks of a library; ids are the rows' numbers from 0."""

    effort: int
    """How many candidates a query looks at in a graph from `open` on; 0 where there is no graph."""

    def load_library(self) -> None:
        """Import what is needed, so that opening is timed apart from importing."""

    def prepare(self, folder: Path, count: int) -> None:
        """Do what is no part of building an index of vectors."""

    def build(self, folder: Path, vectors: Floats) -> None:
        """Take all vectors in, durably."""

    def open(self, folder: Path) -> None:
        """Open what was built."""

    def search(self, query: Floats, k: int) -> list[int]:
        """Return the ids of the nearest rows, best first."""


def library(name: str) -> Any:  # noqa: ANN401 - a peer's module: nothing is known of its types here
    """Return a peer's module, imported now."""
    return import_module(name)


def adapter(name: str) -> Adapter:
    """Return a peer's adapter, its module imported now."""
    module, _, attribute = ADAPTERS[name].partition(":")
    found: Any = getattr(import_module(module), attribute)
    made: Adapter = found()
    return made
