"""How a derived index takes in what the store has and it has not."""

from __future__ import annotations

from ragstone.protocols import Codec, VectorIndex, VectorRows
from ragstone.vectors.rows import read_rows

BATCH = 8192


def catch_up(index: VectorIndex, rows: VectorRows, codec: Codec, damaged: list[int] | None = None) -> int:
    """Take in every row above the index's high water; return how many there were.

    Rows that are no vectors are left out; their ids are added to `damaged` where that is given.
    """
    taken = 0
    while batch := rows.data_after(index.high_water, BATCH):
        ids = list(batch)
        last = ids[-1]
        sound, vectors = read_rows(codec, list(batch.values()))
        if len(vectors) < len(ids):
            if damaged is not None:
                damaged += [row_id for row_id, fit in zip(ids, sound, strict=True) if not fit]
            ids = [row_id for row_id, fit in zip(ids, sound, strict=True) if fit]
        vectors.flags.writeable = False  # so that an index may go on with them when it has returned
        if ids:
            index.upsert(ids, vectors)
        taken += len(ids)
        index.high_water = max(index.high_water, last)
    return taken
