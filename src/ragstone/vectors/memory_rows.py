"""Encoded vectors in memory, for an index that has no store."""

from __future__ import annotations

from collections.abc import Sequence


class MemoryRows:
    """Rows of bytes by id."""

    def __init__(self) -> None:
        """Create it empty."""
        self._rows: dict[int, bytes] = {}

    def put(self, ids: Sequence[int], rows: Sequence[bytes]) -> None:
        """Store rows; if an id comes twice, its last row counts."""
        self._rows.update(zip(ids, rows, strict=True))

    def discard(self, ids: Sequence[int]) -> None:
        """Remove rows."""
        for row_id in ids:
            self._rows.pop(row_id, None)

    def ids(self) -> list[int]:
        """Return all ids, ascending."""
        return sorted(self._rows)

    def data(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the rows with these ids; missing ones are left out."""
        return {row_id: self._rows[row_id] for row_id in ids if row_id in self._rows}
