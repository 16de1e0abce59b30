"""An index that compares the query with every vector: the reference, and the fastest one for small sets."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.protocols import IndexSettings
from ragstone.types import Matrix, Scored
from ragstone.vectors.normalise import (
    Ids,
    check_k,
    check_pairs,
    id_array,
    products,
    unit_query,
    unit_rows,
)


@dataclass(frozen=True, slots=True)
class _Contents:
    """All ids and their unit vectors. A write replaces it, so a search sees one consistent state."""

    ids: Ids
    matrix: Matrix


class ExactIndex:
    """A `VectorIndex` in memory. Searches may run while one thread writes."""

    def __init__(self, dimension: int) -> None:
        """Create an empty index."""
        self.dimension = dimension
        self._writing = threading.Lock()
        self._contents = self._empty()

    def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
        """Add vectors; an id that the index holds gets the new vector."""
        new_ids = id_array(ids)
        unit = unit_rows(vectors, self.dimension)
        check_pairs(new_ids, unit)
        # If an id comes twice, its last vector counts.
        distinct_ids, first_places = np.unique(new_ids[::-1], return_index=True)
        last_places = len(new_ids) - 1 - first_places
        with self._writing:
            contents = self._contents
            stays = ~np.isin(contents.ids, distinct_ids)
            all_ids = np.concatenate([contents.ids[stays], distinct_ids])
            matrix = np.concatenate([contents.matrix[stays], unit[last_places]])
            self._contents = _Contents(all_ids, matrix)

    def search(
        self, vector: Matrix, k: int, *, allowed: Sequence[int] | Ids | None = None
    ) -> list[Scored]:
        """Return the k nearest by cosine, best first; only among `allowed` if that is given."""
        check_k(k)
        query = unit_query(vector, self.dimension)
        contents = self._contents
        ids, matrix = contents.ids, contents.matrix
        if allowed is not None:
            is_allowed = np.isin(ids, id_array(allowed))
            ids, matrix = ids[is_allowed], matrix[is_allowed]
        return best(ids, products(matrix, query), k)

    def delete(self, ids: Sequence[int]) -> int:
        """Remove vectors and return how many there were."""
        with self._writing:
            contents = self._contents
            is_gone = np.isin(contents.ids, id_array(ids))
            self._contents = _Contents(contents.ids[~is_gone], contents.matrix[~is_gone])
        return int(is_gone.sum())

    def has(self, ids: Sequence[int]) -> list[bool]:
        """Return for each id whether the index holds a vector for it."""
        held: list[bool] = np.isin(id_array(ids), self._contents.ids).tolist()
        return held

    def count(self) -> int:
        """Return the number of vectors."""
        return len(self._contents.ids)

    def contents(self) -> tuple[Ids, Matrix]:
        """Return all ids in ascending order, and their unit vectors."""
        contents = self._contents
        order = np.argsort(contents.ids)
        return contents.ids[order], contents.matrix[order]

    def flush(self) -> None:
        """Do nothing: the index has no files."""

    def drop(self) -> None:
        """Remove everything."""
        with self._writing:
            self._contents = self._empty()

    def close(self) -> None:
        """Release the memory."""
        self.drop()

    def _empty(self) -> _Contents:
        no_ids = np.empty(0, np.int64)
        no_vectors = np.empty((0, self.dimension), np.float32)
        return _Contents(no_ids, no_vectors)


def best(ids: Ids, scores: Matrix, k: int) -> list[Scored]:
    """Return the k highest scores, best first; of equal scores the smaller id comes first."""
    if len(ids) > 4 * k:
        # All scores equal to the k-th are kept for the final sort, so that ties do not depend on the order of rows.
        rank = len(scores) - k
        border = np.partition(scores, rank)[rank]
        top = np.flatnonzero(scores >= border)
        ids, scores = ids[top], scores[top]
    order = np.lexsort((ids, -scores))[:k]
    pairs = zip(ids[order].tolist(), scores[order].tolist(), strict=True)
    return [Scored(row_id, score) for row_id, score in pairs]


def open_index(settings: IndexSettings) -> ExactIndex:
    """Return an empty index in memory."""
    return ExactIndex(settings.codec.dimension)
