"""LanceDB as its quick-start has it: a table without an index, cosine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.adapters import library

if TYPE_CHECKING:
    from bench.matrix import Floats

BATCH = 10_000


class Lance:
    """A table of ids and vectors."""

    effort = 0
    _table: Any

    def load_library(self) -> None:
        """Import it."""
        library("lancedb")

    def prepare(self, folder: Path, count: int) -> None:
        """Do nothing."""

    def build(self, folder: Path, vectors: Floats) -> None:
        """Write the table in batches."""
        lancedb = library("lancedb")
        pyarrow = library("pyarrow")

        width = vectors.shape[1]
        schema = pyarrow.schema(
            [("id", pyarrow.int64()), ("vector", pyarrow.list_(pyarrow.float32(), width))]
        )
        table = lancedb.connect(str(folder)).create_table("bench", schema=schema)
        for start in range(0, len(vectors), BATCH):
            part = vectors[start : start + BATCH]
            rows = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(part.ravel()), width)
            ids = pyarrow.array(range(start, start + len(part)), type=pyarrow.int64())
            table.add(pyarrow.Table.from_arrays([ids, rows], schema=schema))

    def open(self, folder: Path) -> None:
        """Open the table."""
        lancedb = library("lancedb")

        self._table = lancedb.connect(str(folder)).open_table("bench")

    def search(self, query: Floats, k: int) -> list[int]:
        """Return the nearest ids."""
        found = (
            self._table.search(query).distance_type("cosine").select(["id"]).limit(k).to_arrow()
        )
        return [int(one) for one in found["id"].to_pylist()]
