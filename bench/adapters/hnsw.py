"""hnswlib: a graph index in one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.adapters import library
from bench.measure import usable_cores

if TYPE_CHECKING:
    from bench.matrix import Floats

M, EF_BUILD, EF_SEARCH = 16, 200, 64
WIDTH_FILE = "width"


class Hnsw:
    """A graph of neighbours, cosine."""

    effort = EF_SEARCH
    _index: Any

    def load_library(self) -> None:
        """Import it."""
        library("hnswlib")

    def prepare(self, folder: Path, count: int) -> None:
        """Do nothing."""

    def build(self, folder: Path, vectors: Floats) -> None:
        """Add all rows by every core it may use and write the file."""
        hnswlib = library("hnswlib")

        index = hnswlib.Index(space="cosine", dim=vectors.shape[1])
        index.init_index(max_elements=len(vectors), M=M, ef_construction=EF_BUILD)
        index.add_items(vectors, num_threads=usable_cores())
        index.save_index(str(folder / "bench.hnsw"))
        (folder / WIDTH_FILE).write_text(str(vectors.shape[1]), encoding="utf-8")

    def open(self, folder: Path) -> None:
        """Read the file."""
        hnswlib = library("hnswlib")

        self._index = hnswlib.Index(
            space="cosine", dim=int((folder / WIDTH_FILE).read_text(encoding="utf-8"))
        )
        self._index.load_index(str(folder / "bench.hnsw"))
        self._index.set_ef(self.effort)

    def search(self, query: Floats, k: int) -> list[int]:
        """Return the nearest ids."""
        return [int(one) for one in self._index.knn_query(query, k=k, num_threads=1)[0][0]]
