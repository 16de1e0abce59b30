"""A vector index inside the PostgreSQL database of the store, which all processes share.

A small space is compared exactly; a large one has an HNSW index of pgvector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragstone.errors import ConfigError
from ragstone.protocols import ComparedVectors, IndexSettings, ServerVectors
from ragstone.types import Matrix, Scored
from ragstone.vectors.normalise import (
    check_k,
    check_pairs,
    id_array,
    unit_query,
    unit_rows,
)


class PgvectorIndex:
    """A `VectorIndex` on the vectors that the database compares."""

    def __init__(self, vectors: ComparedVectors, dimension: int) -> None:
        """Take the vectors of one space."""
        self.dimension = dimension
        self._vectors = vectors
        # Other processes only add vectors. So the last count is at most too small, and then it is counted again.
        self._count: int | None = None

    def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
        """Add vectors; an id that the index holds gets the new vector."""
        numbers = id_array(ids)
        unit = unit_rows(vectors, self.dimension)
        check_pairs(numbers, unit)
        rows = dict(zip(numbers.tolist(), unit.astype(np.float64).tolist(), strict=True))
        if rows:
            self._vectors.put(list(rows.items()))
            self._count = None

    def search(
        self, vector: Matrix, k: int, *, allowed: Sequence[int] | None = None
    ) -> list[Scored]:
        """Return the k nearest by cosine, best first; only among `allowed` if that is given."""
        check_k(k)
        query = unit_query(vector, self.dimension)
        if allowed is not None and len(allowed) == 0:
            return []
        numbers = query.astype(np.float64).tolist()
        return self._vectors.nearest(numbers, k, allowed=allowed, count=self.count())

    def delete(self, ids: Sequence[int]) -> int:
        """Remove vectors and return how many there were."""
        self._count = None
        return self._vectors.remove(ids)

    def has(self, ids: Sequence[int]) -> list[bool]:
        """Return for each id whether the index holds a vector for it."""
        self._count = None
        held = self._vectors.held(ids)
        return [row_id in held for row_id in ids]

    def count(self) -> int:
        """Return the number of vectors."""
        if self._count is None:
            self._count = self._vectors.count()
        return self._count

    def flush(self) -> None:
        """Build the index of the database if there are many vectors; they are stored already."""
        self._vectors.ensure_index()

    def drop(self) -> None:
        """Remove all vectors."""
        self._vectors.clear()
        self._count = None

    def close(self) -> None:
        """Do nothing: the store has the connections."""


def open_index(settings: IndexSettings) -> PgvectorIndex:
    """Return the index of a space in the database of the store."""
    if not isinstance(settings.rows, ServerVectors):
        raise ConfigError(
            "The vector index 'pgvector' is part of a store in PostgreSQL.",
            hint="set store.url or RAGSTONE_STORE_URL, or choose another rag.vector_store.provider",
        )
    dimension = settings.codec.dimension
    return PgvectorIndex(settings.rows.embeddings(dimension), dimension)
