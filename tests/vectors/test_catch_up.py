"""An index takes in what the store has and it has not, however much that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ragstone.errors import StoreError
from ragstone.vectors import catch_up as module
from ragstone.vectors.catch_up import catch_up
from ragstone.vectors.exact import ExactIndex
from ragstone.vectors.memory_rows import MemoryRows
from ragstone.vectors.rows import codec

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

CODEC = codec("int10", 8)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 10)


def stored(count: int) -> MemoryRows:
    rows = MemoryRows()
    vectors = np.random.default_rng(count).standard_normal((count, 8)).astype(np.float32)
    rows.put(range(1, count + 1), CODEC.encode(vectors))
    return rows


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 20, 37])
def test_every_row_is_taken_in_once_and_in_order(count: int) -> None:
    taken: list[int] = []

    class Index(ExactIndex):
        def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
            taken.extend(ids)
            super().upsert(ids, vectors)

    index = Index(8)
    rows = stored(count)
    assert catch_up(index, rows, CODEC) == count
    assert taken == list(range(1, count + 1))
    assert index.high_water == count
    assert catch_up(index, rows, CODEC) == 0


def test_rows_that_are_no_vectors_are_told_whichever_batch_they_are_in() -> None:
    rows = stored(35)
    rows.put([3, 20, 21, 35], [b"short", b"", bytes(CODEC.row_bytes), b"x"])
    index, damaged = ExactIndex(8), list[int]()
    assert catch_up(index, rows, CODEC, damaged) == 31
    assert damaged == [3, 20, 21, 35]
    assert index.high_water == 35
    assert not index.has(20)
    assert index.has(34)


def test_what_another_process_took_in_meanwhile_is_not_taken_in_again() -> None:
    taken: list[int] = []

    class Index(ExactIndex):
        def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
            taken.extend(ids)
            super().upsert(ids, vectors)
            self.high_water = max(self.high_water, 25)

    assert catch_up(Index(8), stored(40), CODEC) == 25
    assert taken == [*range(1, 11), *range(26, 41)]


def test_a_store_that_fails_on_the_way_is_an_error() -> None:
    class Failing(MemoryRows):
        def data_after(self, row_id: int, limit: int) -> dict[int, bytes]:
            if row_id >= 20:
                raise StoreError("the disk failed")
            return super().data_after(row_id, limit)

    rows = Failing()
    rows.put(range(1, 41), CODEC.encode(np.ones((40, 8), np.float32)))
    index = ExactIndex(8)
    with pytest.raises(StoreError, match="disk"):
        catch_up(index, rows, CODEC)
    assert index.high_water == 20
