"""Every vector compared with the query: the reference, and the quickest way for small sets."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import InputError
from ragstone.types import Scored
from ragstone.vectors.unit import check_k, id_array, products, unit_query, unit_rows

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

Ids = NDArray[np.int64]

FIRST_ROOM = 64
FEW = 64


@dataclass(frozen=True, slots=True)
class _Held:
    """What a search sees: rows up to `used`, those in `alive`. Rows are only ever written behind `used`."""

    ids: Ids
    matrix: Matrix
    alive: NDArray[np.bool_]
    used: int


class ExactIndex:
    """A `VectorIndex` in memory that looks at every vector; any number of searches beside one writer."""

    def __init__(self, dimension: int) -> None:
        """Start empty."""
        self.dimension = dimension
        self.high_water = 0
        self._lock = threading.Lock()
        self._clear()

    def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
        """Take vectors in; an id that is already there gets the new vector."""
        new_ids = id_array(ids)
        unit = unit_rows(vectors, self.dimension)
        if len(new_ids) != len(unit):
            raise InputError(f"There are {len(new_ids)} ids for {len(unit)} vectors.")
        if len(new_ids):
            self.take(new_ids, unit)

    def take(self, new_ids: Ids, unit: Matrix) -> None:
        """Take in vectors that are known to be of length one; at least one of them."""
        with self._lock:
            held = self._roomy(len(new_ids))
            first, last = held.used, held.used + len(new_ids)
            held.ids[first:last] = new_ids
            held.matrix[first:last] = unit
            alive = held.alive.copy()
            alive[first:last] = True
            for place, row_id in enumerate(new_ids.tolist(), start=first):
                before = self._place.get(row_id)
                if before is not None:
                    alive[before] = False
                self._place[row_id] = place
            self._held = _Held(held.ids, held.matrix, alive, last)
            self.high_water = max(self.high_water, int(new_ids.max()))

    def search(self, vector: Matrix, k: int, *, allowed: Sequence[int] | Ids | None = None) -> list[Scored]:
        """Return the k nearest by cosine, best first; only among `allowed` where that is given."""
        check_k(k)
        query = unit_query(vector, self.dimension)
        held = self._held
        if not held.used:
            return []
        fits = held.alive[: held.used]
        if allowed is not None:
            fits = fits & np.isin(held.ids[: held.used], id_array(allowed))
        if allowed is not None and fits.sum() * 4 < held.used:
            places = np.flatnonzero(fits)
            return best(held.ids[places], products(held.matrix[places], query), k)
        scores = products(held.matrix[: held.used], query)
        return best(held.ids[: held.used][fits], scores[fits], k)

    def delete(self, ids: Sequence[int]) -> int:
        """Return how many were there and are no longer."""
        with self._lock:
            gone = [place for row_id in set(ids) if (place := self._place.pop(row_id, None)) is not None]
            if gone:
                held = self._held
                alive = held.alive.copy()
                alive[gone] = False
                self._held = _Held(held.ids, held.matrix, alive, held.used)
        return len(gone)

    def has(self, ids: Sequence[int]) -> list[bool]:
        """Return for each id whether the index holds a vector for it."""
        return [row_id in self._place for row_id in ids]

    def count(self) -> int:
        """Return how many vectors are there."""
        return len(self._place)

    def contents(self) -> tuple[Ids, Matrix]:
        """Return the ids in ascending order, and their unit vectors."""
        held = self._held
        places = np.flatnonzero(held.alive[: held.used])
        places = places[np.argsort(held.ids[places], kind="stable")]
        return held.ids[places], held.matrix[places]

    def flush(self) -> None:
        """Do nothing: there is nothing behind it."""

    def drop(self) -> None:
        """Forget everything."""
        with self._lock:
            self._clear()
            self.high_water = 0

    def close(self) -> None:
        """Let go of memory."""
        self.drop()

    def _clear(self) -> None:
        self._place: dict[int, int] = {}
        self._held = _Held(np.empty(0, np.int64), np.empty((0, self.dimension), np.float32), np.empty(0, np.bool_), 0)

    def _roomy(self, more: int) -> _Held:
        """Return what is held with room for more rows behind; rows no longer alive go when it has to move."""
        held = self._held
        if held.used + more <= len(held.ids):
            return held
        ids, matrix = self.contents()
        room = max(FIRST_ROOM, 2 * (len(ids) + more))
        grown = _Held(
            np.zeros(room, np.int64), np.empty((room, self.dimension), np.float32), np.zeros(room, np.bool_), len(ids)
        )
        grown.ids[: len(ids)], grown.matrix[: len(ids)], grown.alive[: len(ids)] = ids, matrix, True
        self._place = {row_id: place for place, row_id in enumerate(ids.tolist())}
        return grown


def best(ids: Ids, scores: Matrix, k: int) -> list[Scored]:
    """Return the k highest, best first, the smaller id first among equals."""
    if len(ids) > 4 * k:
        # Everything equal to the k-th is kept until the final sort, so that ties do not depend on order of arrival.
        border = np.partition(scores, len(scores) - k)[len(scores) - k]
        top = np.flatnonzero(scores >= border)
        ids, scores = ids[top], scores[top]
    if len(ids) <= FEW:
        return few_best(ids.tolist(), scores, k)
    order = np.lexsort((ids, -scores))[:k]
    return [Scored(row_id, score) for row_id, score in zip(ids[order].tolist(), scores[order].tolist(), strict=True)]


def few_best(ids: Iterable[int], scores: Matrix, k: int) -> list[Scored]:
    """Return the same of a few, which are sorted sooner in Python."""
    ordered = sorted(zip((-scores).tolist(), ids, strict=True))[:k]
    return [Scored(row_id, 0.0 - score) for score, row_id in ordered]
