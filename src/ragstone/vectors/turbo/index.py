"""The turbo index finds the nearest of a million vectors in milliseconds.

New vectors go to a tail in memory that is searched exactly. A full tail is encoded as bit planes and written to
segments. A search scans the bit planes, fetches the rows of the best candidates from the store and compares these
exactly, so scores are true cosines.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from ragstone.protocols import Codec, IndexSettings
from ragstone.types import Matrix, Scored
from ragstone.vectors.base64_export import from_text, to_text
from ragstone.vectors.codecs.rows import Int10Codec
from ragstone.vectors.exact import ExactIndex, best
from ragstone.vectors.memory_rows import MemoryRows
from ragstone.vectors.normalise import (
    Ids,
    check_k,
    check_pairs,
    id_array,
    unit_query,
    unit_rows,
)
from ragstone.vectors.turbo.bit_planes import BitPlanes
from ragstone.vectors.turbo.compaction import append, needs_rebuild, rebuild
from ragstone.vectors.turbo.id_filter import IdFilter, IdFilters
from ragstone.vectors.turbo.segment_files import SegmentFiles
from ragstone.vectors.turbo.segments import CAPACITY
from ragstone.vectors.turbo.shortlist import SearchWidth, choose_width, find_candidates
from ragstone.vectors.turbo.snapshot import IndexSnapshot

TAIL = 8192
"""Vectors in memory before they are written to segments. Comparing all of them takes 0.2 ms."""


class RowSource(Protocol):
    """The rows of the store, as far as the index reads them."""

    def data(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the rows with these ids; missing ones are left out."""


@dataclass(frozen=True, slots=True)
class _State:
    """A search reads it once: the segments and the tail that belongs to them."""

    snapshot: IndexSnapshot
    tail: ExactIndex


class TurboIndex:
    """A `VectorIndex` over the rows of a store. Searches may run while one thread writes, in many processes."""

    def __init__(
        self,
        folder: Path | None,
        dimension: int,
        *,
        rows: RowSource | None = None,
        codec: Codec | None = None,
        stamp: str = "",
    ) -> None:
        """Open the index in a folder; without a folder it is in memory.

        Vectors are fetched from `rows`; without rows the index keeps them in memory. Files of another stamp are
        replaced.
        """
        self.dimension = dimension
        self.codec = codec or Int10Codec(dimension)
        self._own_rows: MemoryRows | None = None
        if rows is None:
            rows = self._own_rows = MemoryRows()
        self._rows: RowSource = rows
        self._planes = BitPlanes(dimension)
        self._files = SegmentFiles(folder, self._planes, dimension=dimension, stamp=stamp)
        self._writing = threading.RLock()
        self._filters = IdFilters()
        self._unwritten_deletes: set[int] = set()
        self._state = _State(self._files.load(), ExactIndex(dimension))

    def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
        """Add vectors; an id that the index holds gets the new vector."""
        new_ids = id_array(ids)
        unit = unit_rows(vectors, self.dimension)
        check_pairs(new_ids, unit)
        with self._writing:
            for start in range(0, len(new_ids), CAPACITY):
                end = start + CAPACITY
                self._add(new_ids[start:end], unit[start:end])

    def search(
        self, vector: Matrix, k: int, *, allowed: Sequence[int] | None = None
    ) -> list[Scored]:
        """Return the k nearest by cosine, best first; only among `allowed` if that is given."""
        check_k(k)
        query = unit_query(vector, self.dimension)
        id_filter: IdFilter | None = None
        allowed_ids: Ids | None = None
        if allowed is not None:
            id_filter = self._filters.get(allowed)
            allowed_ids = id_filter.ids
        state = self._state
        segment_hits = self._search_segments(state.snapshot, query, k, id_filter)
        if not state.tail.count():
            return segment_hits
        tail_hits = state.tail.search(query, k, allowed=allowed_ids)
        # During a write an id may be in both; the vector in the tail is the newer one.
        tail_ids = {hit.id for hit in tail_hits}
        hits = tail_hits + [hit for hit in segment_hits if hit.id not in tail_ids]
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        return hits[:k]

    def delete(self, ids: Sequence[int]) -> int:
        """Remove vectors and return how many there were."""
        with self._writing:
            deleted = self._state.tail.delete(ids)
            deleted += self._delete_slots(id_array(ids))
            if self._own_rows is not None:
                self._own_rows.discard(ids)
            if self._unwritten_deletes:
                self._write_segments()
        return deleted

    def has(self, ids: Sequence[int]) -> list[bool]:
        """Return for each id whether the index holds a vector for it."""
        state = self._state
        is_written = np.isin(id_array(ids), state.snapshot.live_ids)
        is_in_tail = np.array(state.tail.has(ids), np.bool_)
        held: list[bool] = (is_written | is_in_tail).tolist()
        return held

    def count(self) -> int:
        """Return the number of vectors."""
        state = self._state
        return len(state.snapshot.live_slots) + state.tail.count()

    def flush(self) -> None:
        """Write the tail to the files, so that the next process only has to map them."""
        with self._writing:
            if self._state.tail.count() or self._unwritten_deletes:
                self._write_segments()

    def drop(self) -> None:
        """Remove everything, the files too."""
        with self._writing:
            self.close()
            self._files.clear()  # after closing: some systems do not remove a file that is mapped

    def close(self) -> None:
        """Release files and memory. Vectors that were not flushed are read from the store again next time."""
        with self._writing:
            self._filters = IdFilters()
            self._unwritten_deletes.clear()
            self._state = _State(IndexSnapshot(), ExactIndex(self.dimension))

    def to_base64(self) -> str:
        """Return all vectors, as the store keeps them, as text."""
        with self._writing:
            state = self._state
            tail_ids, tail = state.tail.contents()
            rows = dict(zip(tail_ids.tolist(), self.codec.encode(tail), strict=True))
            all_ids = np.concatenate([state.snapshot.live_ids, tail_ids])
            rows |= self._rows.data(all_ids.tolist())
        ids = sorted(rows)
        return to_text(ids, [rows[row_id] for row_id in ids], self.codec)

    @classmethod
    def from_base64(cls, text: str) -> TurboIndex:
        """Return an index in memory with the vectors that `to_base64` wrote."""
        ids, rows, codec = from_text(text)
        index = cls(None, codec.dimension, codec=codec)
        index.upsert(ids, codec.decode(rows))
        if index._own_rows is not None:
            # The rows as they were written, not encoded a second time.
            index._own_rows.put(ids, rows)
        return index

    def _search_segments(
        self, snapshot: IndexSnapshot, query: Matrix, k: int, id_filter: IdFilter | None
    ) -> list[Scored]:
        """Return the nearest among the vectors in the segments."""
        slots = snapshot.live_slots
        if id_filter is not None:
            slots = id_filter.slots_in(snapshot)
        if not len(slots):
            return []
        width = choose_width(k, len(snapshot.ids), dimension=self.dimension)
        rows = self._fetch_candidates(snapshot, query, slots, width)
        # A search in an older snapshot of the store does not see the newest rows; then it looks further.
        while len(rows) < k and width.fetched < len(slots):
            width = width.wider()
            rows = self._fetch_candidates(snapshot, query, slots, width)
        scores = self.codec.scores(query, list(rows.values()))
        row_ids = np.fromiter(rows, np.int64, len(rows))
        return best(row_ids, scores, k)

    def _fetch_candidates(
        self, snapshot: IndexSnapshot, query: Matrix, slots: Ids, width: SearchWidth
    ) -> dict[int, bytes]:
        """Return the rows of the candidates among these slots; rows that were damaged later are left out."""
        ids = find_candidates(self._planes, snapshot, query, slots, width)
        rows = self._rows.data(ids.tolist())
        return {
            row_id: data for row_id, data in rows.items() if len(data) == self.codec.row_bytes
        }

    def _fetch_vectors(self, ids: Ids) -> tuple[Ids, Matrix]:
        """Return the ids that the store still has, ascending, and their unit vectors."""
        rows = self._rows.data(ids.tolist())
        stored_ids = sorted(rows)
        vectors = self.codec.decode([rows[row_id] for row_id in stored_ids])
        return id_array(stored_ids), unit_rows(vectors, self.dimension)

    def _add(self, ids: Ids, unit: Matrix) -> None:
        """Add vectors to the tail; write the tail to segments if it is full. Call it with `_writing` held."""
        if self._own_rows is not None:
            self._own_rows.put(ids.tolist(), self.codec.encode(unit))
        # First into the tail: a search in between sees the id in both places and takes the tail's vector.
        self._state.tail.upsert(ids.tolist(), unit)
        self._delete_slots(ids)
        if self._state.tail.count() >= TAIL:
            self._write_segments()

    def _delete_slots(self, ids: Ids) -> int:
        """Delete ids from the segments and return how many there were. Call it with `_writing` held."""
        state = self._state
        slots = state.snapshot.slots_of(ids)
        if len(slots):
            self._unwritten_deletes.update(state.snapshot.ids[slots].tolist())
            self._state = _State(state.snapshot.without(slots), state.tail)
        return len(slots)

    def _write_segments(self) -> None:
        """Move the tail to the segments; if another process is writing, leave it for the next time.

        A folder that cannot be written costs the next process time; this one goes on in memory.
        """
        try:
            snapshot = self._merge()
        except OSError:
            self._files.use_memory()
            snapshot = self._merge()
        if snapshot is not None:
            self._unwritten_deletes.clear()
            self._state = _State(snapshot, ExactIndex(self.dimension))

    def _merge(self) -> IndexSnapshot | None:
        """Return the newest snapshot with our changes, written to the folder; None if another process is writing."""
        with self._files.lock() as is_locked:
            if not is_locked:
                return None
            snapshot = self._files.latest(self._state.snapshot)
            deletes = np.array(sorted(self._unwritten_deletes), np.int64)
            snapshot = snapshot.without(snapshot.slots_of(deletes))
            ids, unit = self._state.tail.contents()
            # Another process may have written some of the same rows.
            is_new = ~np.isin(ids, snapshot.live_ids)
            snapshot = append(self._planes, snapshot, ids[is_new], unit[is_new])
            if needs_rebuild(snapshot):
                snapshot = rebuild(self._files, self._planes, snapshot, self._fetch_vectors)
            return self._files.commit(snapshot)


def open_index(settings: IndexSettings) -> TurboIndex:
    """Return the index in its private folder."""
    codec = settings.codec
    return TurboIndex(
        settings.folder, codec.dimension, rows=settings.rows, codec=codec, stamp=settings.stamp
    )
