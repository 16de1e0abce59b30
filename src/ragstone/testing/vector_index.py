"""Contract tests for every `VectorIndex`. Subclass `VectorIndexContract`, return an index from `make`, and run pytest.

class TestMine(VectorIndexContract):
    def make(self) -> VectorIndex:
        return MyIndex(self.dimension)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from ragstone.errors import InputError
from ragstone.protocols import VectorIndex
from ragstone.types import Matrix


class VectorIndexContract:
    """One test for each promise of `protocols.VectorIndex`; `make` returns an empty index of `dimension`."""

    dimension = 24

    def make(self) -> VectorIndex:
        """Return a new, empty index."""
        raise NotImplementedError

    @pytest.fixture
    def index(self) -> Iterator[VectorIndex]:
        """Yield an empty index, closed afterwards."""
        index = self.make()
        yield index
        index.close()

    def vectors(self, count: int, *, seed: int = 3) -> Matrix:
        """Return random vectors of any length."""
        return (
            np.random.default_rng(seed).standard_normal((count, self.dimension)).astype(np.float32)
        )

    def cosines(self, query: Matrix, vectors: Matrix) -> Matrix:
        """Return the expected scores."""
        cosines: Matrix = (
            vectors @ query / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(query))
        )
        return cosines

    def test_a_new_index_is_empty(self, index: VectorIndex) -> None:
        """It holds nothing, finds nothing and does not fail."""
        assert (index.count(), index.has([1])) == (0, [False])
        assert index.search(self.vectors(1)[0], 5) == []
        assert index.search(self.vectors(1)[0], 5, allowed=[1, 2]) == []
        assert index.delete([1]) == 0
        index.flush()
        assert index.count() == 0

    def test_the_nearest_come_first_with_their_cosine(self, index: VectorIndex) -> None:
        """Ids, order and scores are those of a comparison with every vector."""
        vectors, query = self.vectors(120), self.vectors(1, seed=4)[0]
        ids = [7 * place + 5 for place in range(120)]
        index.upsert(ids, vectors)
        expected = self.cosines(query, vectors)
        for _ in range(2):
            hits = index.search(query, 10)
            assert [hit.id for hit in hits] == [ids[place] for place in np.argsort(-expected)[:10]]
            assert np.allclose([hit.score for hit in hits], np.sort(expected)[::-1][:10], atol=2e-3)
            index.flush()

    def test_only_the_direction_of_a_vector_counts(self, index: VectorIndex) -> None:
        """A vector and the same vector times 100 have the same score."""
        vector = self.vectors(1)[0]
        index.upsert([1, 2], np.stack([vector, vector * 100]))
        assert [round(hit.score, 3) for hit in index.search(vector * 0.01, 2)] == [1.0, 1.0]

    def test_a_k_above_the_count_returns_all(self, index: VectorIndex) -> None:
        """It is no error."""
        index.upsert([1, 2, 3], self.vectors(3))
        assert {hit.id for hit in index.search(self.vectors(1)[0], 1000)} == {1, 2, 3}

    def test_only_allowed_ids_are_found(self, index: VectorIndex) -> None:
        """Unknown ids in the list are ignored; an empty list finds nothing."""
        vectors = self.vectors(60)
        index.upsert(range(1, 61), vectors)
        for _ in range(2):
            allowed = [60, 3, 17, 4000, 3]
            hits = index.search(vectors[0], 10, allowed=allowed)
            expected = self.cosines(vectors[0], vectors[[59, 2, 16]])
            assert [hit.id for hit in hits] == [
                [60, 3, 17][place] for place in np.argsort(-expected)
            ]
            assert index.search(vectors[0], 10, allowed=[]) == []
            assert [hit.id for hit in index.search(vectors[0], 1, allowed=range(1, 61))] == [1]
            index.flush()

    def test_an_id_that_comes_again_gets_the_new_vector(self, index: VectorIndex) -> None:
        """Before and after a flush; within one call the last vector counts."""
        old, new, newest = np.eye(self.dimension, dtype=np.float32)[:3]
        index.upsert([1, 2], np.stack([old, newest]))
        for vector in (new, old):
            index.flush()
            index.upsert([1], vector[None])
            assert index.count() == 2
            best = index.search(vector, 1)[0]
            assert (best.id, round(best.score, 3)) == (1, 1.0)
        index.upsert([1, 1], np.stack([old, new]))
        assert index.count() == 2
        assert [(hit.id, round(hit.score, 3)) for hit in index.search(new, 2)] == [
            (1, 1.0),
            (2, 0.0),
        ]

    def test_deleted_vectors_are_gone(self, index: VectorIndex) -> None:
        """From the count, from `has` and from searches, before and after a flush."""
        vectors = self.vectors(20)
        index.upsert(range(1, 21), vectors)
        assert index.delete([3, 3, 999]) == 1
        index.flush()
        assert index.delete([3, 4]) == 1
        index.flush()
        assert (index.count(), index.has([3, 4, 5])) == (18, [False, False, True])
        assert not {3, 4} & {hit.id for hit in index.search(vectors[2], 20)}
        assert index.search(vectors[2], 20, allowed=[3, 4]) == []

    def test_a_deleted_id_can_be_added_again(self, index: VectorIndex) -> None:
        """It has its new vector."""
        vectors = self.vectors(2)
        index.upsert([1], vectors[:1])
        index.flush()
        index.delete([1])
        index.upsert([1], vectors[1:])
        index.flush()
        assert (index.count(), index.has([1, 2, 1])) == (1, [True, False, True])
        assert round(index.search(vectors[1], 1)[0].score, 3) == 1.0

    def test_drop_removes_everything(self, index: VectorIndex) -> None:
        """The index can be filled again."""
        index.upsert([1, 2], self.vectors(2))
        index.flush()
        index.drop()
        assert (index.count(), index.has([1])) == (0, [False])
        assert index.search(self.vectors(1)[0], 3) == []
        index.upsert([9], self.vectors(1))
        assert [hit.id for hit in index.search(self.vectors(1)[0], 3)] == [9]

    def test_a_zero_vector_has_a_score_of_zero(self, index: VectorIndex) -> None:
        """As a query all scores are zero; as a row its own score is zero."""
        vectors = self.vectors(3)
        vectors[1] = 0
        index.upsert([1, 2, 3], vectors)
        for _ in range(2):
            assert [hit.score for hit in index.search(np.zeros(self.dimension, np.float32), 3)] == [
                0.0,
                0.0,
                0.0,
            ]
            assert {hit.id: hit.score for hit in index.search(vectors[0], 3)}[2] == 0.0
            index.flush()

    def test_an_empty_upsert_changes_nothing(self, index: VectorIndex) -> None:
        """It is no error."""
        index.upsert([], np.empty((0, self.dimension), np.float32))
        assert (index.count(), index.has([])) == (0, [])

    def test_invalid_arguments_are_refused(self, index: VectorIndex) -> None:
        """Another dimension, NaN, infinity, ids that do not match, a k below one: `InputError`, nothing is added."""
        good = self.vectors(2)
        for ids, vectors in (
            ([1, 2], good[:, :-1]),
            ([1, 2], np.where(good == good[0, 0], np.nan, good)),
            ([1, 2], np.where(good == good[0, 0], np.inf, good)),
            ([1], good),
        ):
            with pytest.raises(InputError):
                index.upsert(ids, vectors.astype(np.float32))
        assert index.count() == 0
        index.upsert([1, 2], good)
        for query, k in (
            (good[0, :-1], 1),
            (good[0] * np.float32(np.nan), 1),
            (good[0], 0),
            (good, 1),
        ):
            with pytest.raises(InputError):
                index.search(query, k)
