"""How a derived index takes in what the store has and it has not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ragstone.protocols import Codec, VectorIndex, VectorRows
from ragstone.vectors.rows import read_rows

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

BATCH = 8192


@dataclass(frozen=True, slots=True)
class _Batch:
    """Rows behind one id: those that are vectors, those that are not, and the last of all."""

    after: int
    ids: list[int]
    vectors: Matrix
    damaged: list[int]
    last: int

    @property
    def full(self) -> bool:
        """Return whether there may be more behind it."""
        return len(self.ids) + len(self.damaged) == BATCH


def catch_up(index: VectorIndex, rows: VectorRows, codec: Codec, damaged: list[int] | None = None) -> int:
    """Take in every row above the index's high water; return how many there were.

    Rows that are no vectors are left out; their ids are added to `damaged` where that is given.
    """
    batch = _read(rows, codec, index.high_water)
    if batch is None or not batch.full:
        return 0 if batch is None else _take(index, batch, damaged)
    from concurrent.futures import ThreadPoolExecutor

    taken = 0
    # While one batch is taken in the next is read and decoded.
    with ThreadPoolExecutor(1, thread_name_prefix="ragstone-rows") as beside:
        while batch is not None:
            following: Callable[[], _Batch | None] = partial(_read, rows, codec, batch.last)
            with suppress(RuntimeError):  # no more threads to be had: it is read when its turn comes
                following = beside.submit(following).result
            taken += _take(index, batch, damaged)
            batch = following()
            if batch is not None and index.high_water > batch.after:
                batch = _read(rows, codec, index.high_water)  # another process has laid in some of these
    return taken


def _read(rows: VectorRows, codec: Codec, after: int) -> _Batch | None:
    """Return the next rows behind an id, None where there are none."""
    found = rows.data_after(after, BATCH)
    if not found:
        return None
    ids, last = list(found), next(reversed(found))
    sound, vectors = read_rows(codec, list(found.values()))
    damaged: list[int] = []
    if len(vectors) < len(ids):
        damaged = [row_id for row_id, fit in zip(ids, sound, strict=True) if not fit]
        ids = [row_id for row_id, fit in zip(ids, sound, strict=True) if fit]
    vectors.flags.writeable = False  # so that an index may go on with them when it has returned
    return _Batch(after, ids, vectors, damaged, last)


def _take(index: VectorIndex, batch: _Batch, damaged: list[int] | None) -> int:
    """Take a batch in and return how many vectors it had."""
    if damaged is not None:
        damaged += batch.damaged
    if batch.ids:
        index.upsert(batch.ids, batch.vectors)
    index.high_water = max(index.high_water, batch.last)
    return len(batch.ids)
