"""Vectors in clusters, as embeddings are, and rows of them to ask an index for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragstone.vectors.codecs import codec
from ragstone.vectors.exact import ExactIndex
from ragstone.vectors.memory_rows import MemoryRows
from ragstone.vectors.turbo.index import TurboIndex

if TYPE_CHECKING:
    from ragstone.protocols import Codec, VectorIndex
    from ragstone.types import Matrix

DIMENSION = 64
COUNT = 20_000


def clustered(count: int, *, seed: int) -> Matrix:
    """Return vectors in clusters away from the origin, as embeddings are."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((count // 100 + 1, DIMENSION)) + 0.5
    vectors: Matrix = (
        centres[random.integers(0, len(centres), count)]
        + 0.7 * random.standard_normal((count, DIMENSION))
    ).astype(np.float32)
    return vectors


def fill_index(index: VectorIndex, rows: MemoryRows, codec: Codec) -> None:
    """Add the rows that an index lacks, in order of their ids."""
    ids = rows.ids()
    missing = [
        row_id for row_id, is_held in zip(ids, index.has(ids), strict=True) if not is_held
    ]
    for start in range(0, len(missing), 8192):
        data = rows.data(missing[start : start + 8192])
        index.upsert(list(data), codec.decode(list(data.values())))


class World:
    """Rows with gaps between their ids, an exact index of them, and queries near some of them."""

    def __init__(self) -> None:
        self.vectors = clustered(COUNT, seed=1)
        self.ids = [3 * place + 2 for place in range(COUNT)]
        self.codec = codec("int16", DIMENSION)
        self.rows = MemoryRows()
        self.encoded = self.codec.encode(self.vectors)
        self.rows.put(self.ids, self.encoded)
        self.exact = ExactIndex(DIMENSION)
        self.exact.upsert(self.ids, self.vectors)
        noise = np.random.default_rng(2).standard_normal((40, DIMENSION)).astype(np.float32)
        self.queries: Matrix = self.vectors[:: COUNT // 40][:40] + np.float32(0.5) * noise

    def recall(self, index: TurboIndex, k: int = 10, allowed: list[int] | None = None) -> float:
        found = 0
        for query in self.queries:
            expected = {hit.id for hit in self.exact.search(query, k, allowed=allowed)}
            found += len(expected & {hit.id for hit in index.search(query, k, allowed=allowed)})
        return found / (k * len(self.queries))


def copy_of(world: World) -> MemoryRows:
    """Return the world's rows for a test that takes some away."""
    rows = MemoryRows()
    rows.put(world.ids, world.encoded)
    return rows
