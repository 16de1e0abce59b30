"""How a derived index takes in what the store has and it has not."""

from __future__ import annotations

from ragstone.protocols import Codec, VectorIndex, VectorRows

BATCH = 8192


def catch_up(index: VectorIndex, rows: VectorRows, codec: Codec) -> int:
    """Take in every row above the index's high water; return how many there were."""
    taken = 0
    while batch := rows.after(index.high_water, BATCH):
        index.upsert([row.id for row in batch], codec.decode([row.data for row in batch]))
        taken += len(batch)
    return taken
