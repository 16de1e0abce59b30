"""FAISS: a graph index and a flat one, inner product over unit vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.adapters import library

if TYPE_CHECKING:
    from bench.matrix import Floats

M, EF_BUILD, EF_SEARCH = 16, 200, 64


class FaissFlat:
    """Every row compared."""

    effort = 0
    _index: Any

    def load_library(self) -> None:
        """Import it."""
        library("faiss")

    def prepare(self, folder: Path, count: int) -> None:
        """Do nothing."""

    def build(self, folder: Path, vectors: Floats) -> None:
        """Add all rows and write the file."""
        faiss = library("faiss")

        index = self._new(vectors.shape[1])
        index.add(vectors)
        faiss.write_index(index, str(folder / "bench.faiss"))

    def open(self, folder: Path) -> None:
        """Read the file."""
        faiss = library("faiss")

        self._index = faiss.read_index(str(folder / "bench.faiss"))

    def search(self, query: Floats, k: int) -> list[int]:
        """Return the nearest ids."""
        return [int(one) for one in self._index.search(query[None, :], k)[1][0]]

    def _new(self, width: int) -> Any:  # noqa: ANN401 - the peer's own class
        faiss = library("faiss")

        return faiss.IndexFlatIP(width)


class FaissHnsw(FaissFlat):
    """A graph of neighbours."""

    effort = EF_SEARCH

    def open(self, folder: Path) -> None:
        """Read the file and set how wide to look."""
        super().open(folder)
        self._index.hnsw.efSearch = self.effort

    def _new(self, width: int) -> Any:  # noqa: ANN401 - the peer's own class
        faiss = library("faiss")

        index = faiss.IndexHNSWFlat(width, M, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = EF_BUILD
        return index
