# ruff: noqa: D102 (a test's name is its sentence)
"""Tests that every vector index must pass. Subclass `VectorIndexContract` in your tests, with a constructor:

class TestMyIndex(VectorIndexContract):
    def make(self) -> VectorIndex:
        return MyIndex(self.dimension)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from ragstone.errors import InputError
from ragstone.protocols import VectorIndex
from ragstone.types import Matrix, Scored

_TOLERANCE = 2e-3
"""How far a score may be from the cosine: an index may store rounded vectors."""


def ids_of(hits: Sequence[Scored]) -> list[int]:
    """Return the ids of hits."""
    return [hit.id for hit in hits]


def rounded_scores(hits: Sequence[Scored]) -> dict[int, float]:
    """Return the scores of hits by id, with three digits."""
    return {hit.id: round(hit.score, 3) for hit in hits}


class VectorSearchContract:
    """Tests of the searches of a `protocols.VectorIndex`."""

    dimension = 24
    is_exact = True
    """Whether the index finds all nearest vectors. An approximate index must find 95 % of them."""

    @abstractmethod
    def make(self) -> VectorIndex:
        """Return a new, empty index for vectors of `dimension`."""

    @pytest.fixture
    def index(self) -> Iterator[VectorIndex]:
        """Return an empty index that is closed after the test."""
        index = self.make()
        yield index
        index.close()

    def vectors(self, count: int, *, seed: int = 3) -> Matrix:
        """Return random vectors of any length."""
        generator = np.random.default_rng(seed)
        vectors = generator.standard_normal((count, self.dimension))
        return vectors.astype(np.float32)

    def clustered_vectors(self, count: int, *, seed: int = 3) -> Matrix:
        """Return random vectors around a few directions, as the texts of one subject have them."""
        directions = np.random.default_rng(1).standard_normal((40, self.dimension))
        chosen = np.random.default_rng(seed).integers(0, 40, count)
        vectors: Matrix = directions[chosen] + 0.5 * self.vectors(count, seed=seed)
        return vectors.astype(np.float32)

    def cosines(self, query: Matrix, vectors: Matrix) -> Matrix:
        """Return the expected scores."""
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
        cosines: Matrix = vectors @ query / lengths
        return cosines

    def test_a_new_index_is_empty(self, index: VectorIndex) -> None:
        query = self.vectors(1)[0]
        assert index.count() == 0
        assert index.has([1]) == [False]
        assert index.search(query, 5) == []
        assert index.search(query, 5, allowed=[1, 2]) == []
        assert index.delete([1]) == 0
        index.flush()
        assert index.count() == 0

    @pytest.mark.parametrize("flushed", [False, True])
    def test_the_nearest_come_first_with_their_cosine(
        self,
        index: VectorIndex,
        flushed: bool,
    ) -> None:
        vectors = self.vectors(120)
        query = self.vectors(1, seed=4)[0]
        ids = np.arange(5, 5 + 7 * 120, 7)
        index.upsert(ids.tolist(), vectors)
        if flushed:
            index.flush()
        expected = self.cosines(query, vectors)
        nearest = np.argsort(-expected)[:10]
        hits = index.search(query, 10)
        scores = [hit.score for hit in hits]
        assert ids_of(hits) == ids[nearest].tolist()
        assert np.allclose(scores, expected[nearest], atol=_TOLERANCE)

    def test_only_the_direction_of_a_vector_counts(self, index: VectorIndex) -> None:
        vector = self.vectors(1)[0]
        index.upsert([1, 2], np.stack([vector, vector * 100]))
        hits = index.search(vector * 0.01, 2)
        assert rounded_scores(hits) == {1: 1.0, 2: 1.0}

    def test_a_k_above_the_count_returns_all(self, index: VectorIndex) -> None:
        vectors = self.vectors(3)
        index.upsert([1, 2, 3], vectors)
        hits = index.search(vectors[0], 1000)
        assert sorted(ids_of(hits)) == [1, 2, 3]

    @pytest.mark.parametrize("flushed", [False, True])
    def test_only_allowed_ids_are_found(self, index: VectorIndex, flushed: bool) -> None:
        vectors = self.vectors(60)
        query = vectors[0]
        index.upsert(range(1, 61), vectors)
        if flushed:
            index.flush()
        allowed = np.array([60, 3, 17])
        order = np.argsort(-self.cosines(query, vectors[allowed - 1]))
        unknown_and_repeated = [*allowed.tolist(), 4000, 3]
        hits = index.search(query, 10, allowed=unknown_and_repeated)
        best = index.search(query, 1, allowed=range(1, 61))
        assert ids_of(hits) == allowed[order].tolist()
        assert ids_of(best) == [1]
        assert index.search(query, 10, allowed=[]) == []

    @pytest.mark.parametrize("flushed", [False, True])
    def test_a_zero_vector_has_a_score_of_zero(self, index: VectorIndex, flushed: bool) -> None:
        vectors = self.vectors(3)
        vectors[1] = 0
        index.upsert([1, 2, 3], vectors)
        if flushed:
            index.flush()
        zero_query = index.search(vectors[1], 3)
        hits = index.search(vectors[0], 3)
        assert [hit.score for hit in zero_query] == [0.0, 0.0, 0.0]
        assert rounded_scores(hits)[2] == 0.0

    @pytest.mark.parametrize("flushed", [False, True])
    def test_200_queries_with_filters_find_the_nearest(
        self,
        index: VectorIndex,
        flushed: bool,
    ) -> None:
        vectors = self.clustered_vectors(2400)
        index.upsert(range(1, 2401), vectors)
        if flushed:
            index.flush()
        filters = [None, range(1, 2401, 2), range(1, 2401, 17), [5, 9, 2000]]
        hit_count = 0
        expected_count = 0
        for number, query in enumerate(self.clustered_vectors(200, seed=8)):
            allowed = filters[number % len(filters)]
            candidates = np.array(allowed or range(1, 2401))
            expected = self.cosines(query, vectors[candidates - 1])
            tenth = np.sort(expected)[-10:][0]
            near = set(candidates[expected >= tenth - _TOLERANCE].tolist())
            hits = index.search(query, 10, allowed=allowed)
            hit_count += len(near.intersection(ids_of(hits)))
            expected_count += min(10, len(candidates))
            assert set(ids_of(hits)) <= set(candidates.tolist())
        assert hit_count <= expected_count
        assert hit_count >= expected_count * (1.0 if self.is_exact else 0.95)


class VectorIndexContract(VectorSearchContract):
    """Tests of `protocols.VectorIndex`."""

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    @pytest.mark.parametrize("flushed", [False, True])
    def test_an_id_that_comes_again_gets_the_new_vector(
        self,
        index: VectorIndex,
        flushed: bool,
    ) -> None:
        old, new, other = np.eye(self.dimension, dtype=np.float32)[:3]
        index.upsert([1, 2], np.stack([old, other]))
        if flushed:
            index.flush()
        index.upsert([1], new[None])
        assert index.count() == 2
        assert rounded_scores(index.search(new, 1)) == {1: 1.0}
        index.upsert([1], old[None])
        assert rounded_scores(index.search(old, 1)) == {1: 1.0}

    def test_within_one_call_the_last_vector_of_an_id_counts(self, index: VectorIndex) -> None:
        old, new, other = np.eye(self.dimension, dtype=np.float32)[:3]
        index.upsert([2, 1, 1], np.stack([other, old, new]))
        assert index.count() == 2
        assert rounded_scores(index.search(new, 2)) == {1: 1.0, 2: 0.0}

    @pytest.mark.parametrize("flushed", [False, True])
    def test_deleted_vectors_are_gone(self, index: VectorIndex, flushed: bool) -> None:
        vectors = self.vectors(20)
        index.upsert(range(1, 21), vectors)
        assert index.delete([3, 3, 999]) == 1
        if flushed:
            index.flush()
        assert index.delete([3, 4]) == 1
        if flushed:
            index.flush()
        hits = index.search(vectors[2], 20)
        assert index.count() == 18
        assert index.has([3, 4, 5]) == [False, False, True]
        assert {3, 4}.isdisjoint(ids_of(hits))
        assert index.search(vectors[2], 20, allowed=[3, 4]) == []

    def test_a_deleted_id_can_be_added_again(self, index: VectorIndex) -> None:
        old, new = self.vectors(2)
        index.upsert([1], old[None])
        index.flush()
        index.delete([1])
        index.upsert([1], new[None])
        index.flush()
        assert index.count() == 1
        assert index.has([1, 2, 1]) == [True, False, True]
        assert rounded_scores(index.search(new, 1)) == {1: 1.0}

    def test_drop_removes_everything(self, index: VectorIndex) -> None:
        vectors = self.vectors(2)
        index.upsert([1, 2], vectors)
        index.flush()
        index.drop()
        assert index.count() == 0
        assert index.has([1]) == [False]
        assert index.search(vectors[0], 3) == []

    def test_a_dropped_index_can_be_filled_again(self, index: VectorIndex) -> None:
        vectors = self.vectors(1)
        index.upsert([1], vectors)
        index.drop()
        index.upsert([9], vectors)
        assert ids_of(index.search(vectors[0], 3)) == [9]

    def test_an_empty_upsert_changes_nothing(self, index: VectorIndex) -> None:
        index.upsert([], np.empty((0, self.dimension), np.float32))
        assert index.count() == 0
        assert index.has([]) == []

    # ── arguments ─────────────────────────────────────────────────────────────────────────────────

    def test_vectors_of_another_dimension_are_refused(self, index: VectorIndex) -> None:
        vectors = self.vectors(2)
        with pytest.raises(InputError):
            index.upsert([1, 2], vectors[:, :-1])
        with pytest.raises(InputError):
            index.upsert([1], vectors)
        assert index.count() == 0

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_vectors_with_values_that_are_not_finite_are_refused(
        self,
        index: VectorIndex,
        value: float,
    ) -> None:
        vectors = self.vectors(2)
        vectors[0, 0] = value
        with pytest.raises(InputError):
            index.upsert([1, 2], vectors)
        assert index.count() == 0

    def test_invalid_queries_are_refused(self, index: VectorIndex) -> None:
        vectors = self.vectors(2)
        query = vectors[0]
        index.upsert([1, 2], vectors)
        with pytest.raises(InputError):
            index.search(query[:-1], 1)
        with pytest.raises(InputError):
            index.search(query * np.float32(np.nan), 1)
        with pytest.raises(InputError):
            index.search(vectors, 1)
        with pytest.raises(InputError):
            index.search(query, 0)
