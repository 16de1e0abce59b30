"""Encoded vectors in memory, for an index that has no store."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.types import VectorRow


class MemoryRows:
    """A writable `VectorRows` in a dictionary. Without a store a vector is its own text and its own chunk."""

    def __init__(self) -> None:
        """Create it empty."""
        self.epoch = "memory"
        self._rows: dict[int, bytes] = {}
        self._writes = 0

    def version(self) -> tuple[str, int]:
        """Return the epoch, and a number that changes with every write."""
        return self.epoch, self._writes

    def count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def put(self, ids: Sequence[int], rows: Sequence[bytes]) -> None:
        """Store rows; if an id comes twice, its last row counts."""
        self._rows.update(zip(ids, rows, strict=True))
        self._writes += 1

    def discard(self, ids: Sequence[int]) -> None:
        """Remove rows."""
        for row_id in ids:
            self._rows.pop(row_id, None)
        self._writes += 1

    def ids_after(self, row_id: int) -> list[int]:
        """Return all row ids larger than this one, ascending."""
        return sorted(held for held in self._rows if held > row_id)

    def after(self, row_id: int, limit: int) -> list[VectorRow]:
        """Return rows with a larger id, in order of id."""
        return self.by_id(self.ids_after(row_id)[:limit])

    def by_id(self, ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows with these ids; missing ones are left out."""
        return [VectorRow(row_id, row_id, data) for row_id, data in self.data(ids).items()]

    def data(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the rows with these ids; missing ones are left out."""
        return {row_id: self._rows[row_id] for row_id in ids if row_id in self._rows}

    def by_text(self, text_ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows of these texts."""
        return self.by_id(text_ids)

    def by_chunk(self, chunk_ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of these chunks."""
        return self.data(chunk_ids)
