"""The turbo index: a cache beside the store that finds the nearest of a million vectors in milliseconds.

Written: vectors go to a tail in memory that is searched exactly; a full tail is laid into the segments.
Searched: the sign scan or turbovec makes a shortlist, whose rows are fetched from the store and compared exactly.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragstone.errors import InputError
from ragstone.protocols import Codec, VectorRows
from ragstone.types import Scored
from ragstone.vectors.accelerator import Accelerators
from ragstone.vectors.allowed import AllowedSet, AllowedSets
from ragstone.vectors.cache import Encoded, SegmentCache
from ragstone.vectors.exact import FEW, ExactIndex, best, few_best
from ragstone.vectors.memory_rows import MemoryRows
from ragstone.vectors.planes import Planes
from ragstone.vectors.rows import Int16Codec
from ragstone.vectors.segments import CAPACITY
from ragstone.vectors.settle import Changes, State, settle
from ragstone.vectors.shortlist import Width, few, shortlist, width
from ragstone.vectors.text import from_text, to_text
from ragstone.vectors.unit import check_k, id_array, unit_query, unit_rows
from ragstone.vectors.view import Ids, View

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

TAIL = 8192  # rows in memory before they are laid into segments; comparing them all takes 0.2 ms


class TurboIndex:
    """A `VectorIndex` over the store's rows; any number of searches beside one writer, any number of processes."""

    def __init__(
        self,
        folder: Path | None,
        dimension: int,
        *,
        rows: VectorRows | None = None,
        codec: Codec | None = None,
        stamp: str = "",
        accelerate: bool | None = None,
    ) -> None:
        """Open the cache in a folder (None: all in memory), as far as it is sound and of this stamp.

        `rows` is where vectors are fetched from; None keeps them in memory. `accelerate`: True uses turbovec
        from the first search on, False never, None once a process has searched enough to make up for loading it.
        """
        self.dimension = dimension
        self.codec = codec or Int16Codec(dimension)
        self._rows: VectorRows = MemoryRows() if rows is None else rows
        self._planes = Planes(dimension)
        self._cache = SegmentCache(folder, self._planes, dimension=dimension, stamp=stamp)
        self._accelerators = Accelerators(folder, dimension, fetch=self._fetch, wanted=accelerate)
        self._writing = threading.RLock()
        self._allowed = AllowedSets()
        self._buried: set[int] = set()
        view = self._cache.load()
        self.high_water = view.high_water
        self._state = State(view, ExactIndex(dimension))

    def warm(self) -> None:
        """Make what is made once for the first vectors, however many."""
        self._accelerators.warm(self._cache.folder)

    def laid_at_once(self, count: int) -> bool:
        """Return whether so many vectors, taken in now, would go into the segments, all in one go."""
        return not self._state.tail.count() and TAIL <= count < 2 * CAPACITY

    def encoded(self, unit: Matrix) -> Encoded:
        """Return what unit vectors are encoded to when `upsert` takes them in next; nothing is taken in.

        What turbovec still takes in is waited for: together they would take the core of whoever stores them.
        """
        self._accelerators.wait()
        return self._cache.encoded(self._state.view, unit)

    def upsert(self, ids: Sequence[int], vectors: Matrix, *, ahead: Encoded | None = None) -> None:
        """Take vectors in; an id that is already there gets the new vector.

        `ahead` is what `encoded` has made of them, all of length one then.
        """
        new_ids = id_array(ids)
        unit = unit_rows(vectors, self.dimension) if ahead is None else vectors
        if len(new_ids) != len(unit):
            raise InputError(f"There are {len(new_ids)} ids for {len(unit)} vectors.")
        with self._writing:
            at = 0
            while at < len(new_ids):
                # What is left behind so many goes with them: it might only fill the tail half.
                end = at + CAPACITY if len(new_ids) - at >= 2 * CAPACITY else len(new_ids)
                self._take(new_ids[at:end], unit[at:end], ahead)
                at = end

    def search(self, vector: Matrix, k: int, *, allowed: Sequence[int] | None = None) -> list[Scored]:
        """Return the k nearest by cosine, best first; only among `allowed` where that is given."""
        check_k(k)
        query = unit_query(vector, self.dimension)
        chosen = None if allowed is None else self._allowed.of(allowed)
        state = self._state
        fresh = []
        if state.tail.count():
            fresh = state.tail.search(query, k, allowed=None if chosen is None else chosen.ids)
        settled = self._search_view(state.view, query, k, chosen)
        if not fresh:
            return settled
        newer = {hit.id for hit in fresh}
        both = fresh + [hit for hit in settled if hit.id not in newer]
        return sorted(both, key=lambda hit: (-hit.score, hit.id))[:k]

    def delete(self, ids: Sequence[int]) -> int:
        """Return how many were there and are no longer."""
        with self._writing:
            gone = self._state.tail.delete(ids) + self._bury(np.unique(id_array(ids)))
            if isinstance(self._rows, MemoryRows):
                self._rows.discard(ids)
            if self._buried:
                self._spill()
        return gone

    def has(self, ids: Sequence[int]) -> list[bool]:
        """Return for each id whether the index holds a vector for it."""
        state = self._state
        wanted = id_array(ids)
        laid = state.view.ids_at(state.view.slots_of(np.unique(wanted)))
        in_tail = np.array(state.tail.has(ids), np.bool_)
        held: list[bool] = (np.isin(wanted, laid) | in_tail).tolist()
        return held

    def count(self) -> int:
        """Return how many vectors are there."""
        state = self._state
        return state.view.live + state.tail.count()

    def flush(self) -> None:
        """Lay the tail into the files, turbovec's among them, so that the next process only has to map them."""
        with self._writing:
            self._spill()
            self._accelerators.save(self._state.view, self._cache.folder)

    def drop(self) -> None:
        """Forget everything, files included."""
        with self._writing:
            self.close()
            self._cache.clear()  # after letting go: some systems keep a file that is still mapped

    def close(self) -> None:
        """Let go of files and memory; what was not flushed is taken from the store again next time."""
        with self._writing:
            self._accelerators.close()
            self._allowed = AllowedSets()
            self._buried.clear()
            self.high_water = 0  # it holds nothing any more
            self._state = State(self._cache.empty(), ExactIndex(self.dimension))

    def to_base64(self) -> str:
        """Return all vectors, as the store keeps them, as text."""
        with self._writing:
            state = self._state
            ids, tail = state.tail.contents()
            held = dict(zip(ids.tolist(), self.codec.encode(tail), strict=True))
            wanted = state.view.ids_at(state.view.live_slots()).tolist() + ids.tolist()
            held.update((row.id, row.data) for row in self._rows.by_id(wanted))
        return to_text(sorted(held), [held[row_id] for row_id in sorted(held)], self.codec)

    @classmethod
    def from_base64(cls, text: str) -> TurboIndex:
        """Return an index in memory that holds what `to_base64` wrote."""
        ids, rows, codec = from_text(text)
        index = cls(None, codec.dimension, codec=codec)
        index.upsert(ids, codec.decode(rows))
        if isinstance(index._rows, MemoryRows):
            index._rows.put(ids, rows)  # as they were written, not as they come out of coding them a second time
        return index

    # ── searching ─────────────────────────────────────────────────────────────────────────────────

    def _search_view(self, view: View, query: Matrix, k: int, allowed: AllowedSet | None) -> list[Scored]:
        """Return the nearest among the segments' vectors."""
        if not view.live:
            return []
        look = width(k, view.count, dimension=self.dimension)
        ids, rows = self._looked_up(view, query, look, allowed)
        while len(rows) < k and len(ids) >= look.hits:
            # The store no longer has most of these rows: look further behind them.
            look = look.wider()
            ids, rows = self._looked_up(view, query, look, allowed)
        if not rows:
            return []
        scores = self.codec.scores(query, list(rows.values()))
        if len(rows) <= FEW:
            return few_best(rows, scores, k)
        return best(np.fromiter(rows, np.int64, len(rows)), scores, k)

    def _looked_up(
        self, view: View, query: Matrix, look: Width, allowed: AllowedSet | None
    ) -> tuple[Ids, dict[int, bytes]]:
        """Return a shortlist, and the rows of it that the store has."""
        slots = few(view, look, allowed)
        ids = None if slots is not None else self._accelerators.shortlist(view, query, look, allowed=allowed)
        if ids is None:
            ids = shortlist(self._planes, view, query, width=look, allowed=allowed)
        # A row that was cut short after it was taken in is no answer, and no reason to give none.
        found = self._rows.data(ids.tolist())
        if set(map(len, found.values())) - {self.codec.row_bytes}:
            found = {row_id: data for row_id, data in found.items() if len(data) == self.codec.row_bytes}
        return ids, found

    def _fetch(self, ids: Ids) -> tuple[Ids, Matrix]:
        """Return the ids the store still has, ascending, and their unit vectors."""
        found = sorted(self._rows.data(ids.tolist()).items())
        unit = unit_rows(self.codec.decode([data for _, data in found]), self.dimension)
        return np.array([row_id for row_id, _ in found], np.int64), unit

    # ── writing, always with `_writing` held ──────────────────────────────────────────────────────

    def _take(self, ids: Ids, unit: Matrix, ahead: Encoded | None) -> None:
        """Put vectors into the tail, and the tail into the segments when it is full."""
        if isinstance(self._rows, MemoryRows):
            self._rows.put(ids.tolist(), self.codec.encode(unit))
        whole = len(ids) >= TAIL and not self._state.tail.count() and np.all(ids[1:] > ids[:-1])
        if whole and self._lay(ids, unit, ahead):
            return
        # Into the tail first: a search in between sees an id in both places and takes the tail's.
        self._state.tail.take(ids, unit)
        self._bury(np.unique(ids))
        self.high_water = max(self.high_water, int(ids.max()))
        if self._state.tail.count() >= TAIL:
            self._spill()

    def _bury(self, ids: Ids) -> int:
        """Take ids out of the segments; return how many were there."""
        state = self._state
        slots = state.view.slots_of(ids)
        if len(slots):
            self._buried.update(state.view.ids_at(slots).tolist())
            self._state = State(state.view.without(slots), state.tail)
        return len(slots)

    def _spill(self) -> None:
        """Lay the tail into the segments, unless another process is writing: then it stays for the next time."""
        if not self._state.tail.count() and not self._buried:
            return
        ids, unit = self._state.tail.contents()
        unit.flags.writeable = False  # nobody else has it: the accelerator may go on with it when this has returned
        self._lay(ids, unit)

    def _lay(self, ids: Ids, unit: Matrix, ahead: Encoded | None = None) -> bool:
        """Return whether vectors, all there are beside the segments, were laid into them."""
        view = self._state.view
        slots = view.slots_of(ids)
        buried = self._buried.union(view.ids_at(slots).tolist()) if len(slots) else self._buried
        high_water = max(self.high_water, int(ids[-1]) if len(ids) else 0)
        changes = Changes(np.array(sorted(buried), np.int64), high_water, ids, unit, ahead)
        try:
            settled = settle(self._cache, view, changes, self._fetch)
        except OSError:
            # A folder that cannot be written to costs the next process time, this one nothing.
            self._cache.folder = None
            settled = settle(self._cache, view, changes, self._fetch)
        if settled is None:
            return False
        after, laid = settled
        self._state = State(after, ExactIndex(self.dimension))
        self._accelerators.follow(after, laid, self._cache.folder)
        self._buried.clear()
        self.high_water = max(self.high_water, after.high_water)
        return True
