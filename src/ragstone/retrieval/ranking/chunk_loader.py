"""Loads chunks with their texts for one search, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ragstone.retrieval.ranking.order import choose_compared
from ragstone.retrieval.ranking.ranked_chunk import RankedChunk
from ragstone.types import StoredChunk

LoadChunks = Callable[[Sequence[int]], dict[int, StoredChunk]]
"""Returns chunks by id; ids that the store does not have are missing."""


class ChunkLoader:
    """The chunks that were loaded, and those that the store does not have: damaged, or removed since."""

    def __init__(self, load: LoadChunks) -> None:
        """Store the function that loads chunks by id."""
        self._load = load
        self.rows: dict[int, StoredChunk] = {}
        self.missing: set[int] = set()

    def load(self, chunks: Iterable[int]) -> None:
        """Load the chunks that are not loaded yet."""
        unloaded = [chunk for chunk in chunks if chunk not in self.rows]
        if unloaded:
            loaded = self._load(unloaded)
            self.rows.update(loaded)
            self.missing.update(set(unloaded) - set(loaded))

    def compared_texts(self, ranked: Sequence[RankedChunk], *, top_k: int) -> dict[int, str]:
        """Return the texts that are compared with each other to find copies."""
        compared = choose_compared(ranked, top_k)
        self.load(compared)
        texts = {}
        for chunk in compared:
            if chunk in self.rows:
                texts[chunk] = self.rows[chunk].chunk.text
        return texts
