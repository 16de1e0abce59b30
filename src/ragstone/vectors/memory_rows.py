"""Encoded vectors held in memory, where no store is behind an index."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.types import VectorRow


class MemoryRows:
    """A `VectorRows` in a dictionary, that can also be written to."""

    def __init__(self) -> None:
        """Start empty."""
        self.epoch = "memory"
        self._rows: dict[int, bytes] = {}
        self._writes = 0

    def version(self) -> tuple[str, int]:
        """Return the epoch, and a number that changes with every write."""
        return self.epoch, self._writes

    def count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def ids_after(self, row_id: int) -> list[int]:
        """Return all row ids larger than this one, ascending."""
        return sorted(held for held in self._rows if held > row_id)

    def put(self, ids: Sequence[int], rows: Sequence[bytes]) -> None:
        """Keep rows, the newest where an id comes twice."""
        self._rows.update(zip(ids, rows, strict=True))
        self._writes += 1

    def discard(self, ids: Sequence[int]) -> None:
        """Forget rows."""
        for row_id in ids:
            self._rows.pop(row_id, None)
        self._writes += 1

    def after(self, row_id: int, limit: int) -> list[VectorRow]:
        """Return rows with a larger id, in order of id."""
        return self.by_id(self.ids_after(row_id)[:limit])

    def by_id(self, ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows with these ids, missing ones left out."""
        found = ((row_id, self._rows.get(row_id)) for row_id in ids)
        return [VectorRow(row_id, row_id, data) for row_id, data in found if data is not None]

    def data(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the rows with these ids, missing ones left out."""
        return {row_id: self._rows[row_id] for row_id in ids if row_id in self._rows}

    def by_text(self, text_ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows of these texts; without a store a vector is its own text."""
        return self.by_id(text_ids)

    def by_chunk(self, chunk_ids: Sequence[int]) -> dict[int, bytes]:
        """Return the rows of these chunks; without a store a vector is its own chunk."""
        return {row.id: row.data for row in self.by_id(chunk_ids)}
