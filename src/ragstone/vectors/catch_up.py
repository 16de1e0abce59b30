"""How a derived index takes in what the store has and it has not."""

from __future__ import annotations

from ragstone.protocols import Codec, VectorIndex, VectorRows

BATCH = 8192


def catch_up(index: VectorIndex, rows: VectorRows, codec: Codec, damaged: list[int] | None = None) -> int:
    """Take in every row above the index's high water; return how many there were.

    Rows that are no vectors are left out; their ids are added to `damaged` where that is given.
    """
    taken = 0
    while batch := rows.after(index.high_water, BATCH):
        sound = codec.sound([row.data for row in batch])
        good = [row for row, fit in zip(batch, sound, strict=True) if fit]
        if good:
            index.upsert([row.id for row in good], codec.decode([row.data for row in good]))
        if damaged is not None:
            damaged += [row.id for row, fit in zip(batch, sound, strict=True) if not fit]
        taken += len(good)
        index.high_water = max(index.high_water, batch[-1].id)
    return taken
