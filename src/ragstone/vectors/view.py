"""One moment of the turbo index: what a search sees from its first step to its last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.segments import CAPACITY, Segment

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

BARRED = np.uint16(65535)  # a distance no vector has

Ids = NDArray[np.int64]
"""Row ids, or slots: the place of a vector counted over all segments."""


@dataclass(frozen=True, eq=False)
class View:
    """Segments, which of their slots no longer count, and the centre their signs were taken around."""

    generation: str
    segments: tuple[Segment, ...] = ()
    checksums: tuple[int, ...] = ()
    centre: Matrix | None = None
    centred_on: int = 0
    total: NDArray[np.float64] | None = None
    dead: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    high_water: int = 0
    token: str = ""

    @cached_property
    def count(self) -> int:
        """Return how many slots there are."""
        return sum(segment.count for segment in self.segments)

    @cached_property
    def live(self) -> int:
        """Return how many slots count."""
        return self.count - len(self.dead)

    @cached_property
    def barred(self) -> NDArray[np.uint16] | None:
        """Return what to raise distances to so that dead slots are never near; None where all live."""
        if not len(self.dead):
            return None
        barred = np.zeros(self.count, np.uint16)
        barred[self.dead] = BARRED
        return barred

    @cached_property
    def _ids(self) -> Ids:
        """All ids in one array: 8 bytes a slot, and a search need not ask segment by segment."""
        if len(self.segments) == 1:
            return self.segments[0].ids
        return np.concatenate([segment.ids for segment in self.segments]) if self.segments else np.empty(0, np.int64)

    @cached_property
    def _borders(self) -> Ids:
        """Where each segment begins, and where the last one ends if it is full."""
        return np.arange(len(self.segments) + 1, dtype=np.int64) * CAPACITY

    @cached_property
    def _ascending(self) -> tuple[bool, ...]:
        return tuple(bool(np.all(segment.ids[1:] > segment.ids[:-1])) for segment in self.segments)

    def live_slots(self) -> Ids:
        """Return all slots that count."""
        if self.barred is None:
            return np.arange(self.count, dtype=np.int64)
        return np.flatnonzero(self.barred == 0).astype(np.int64, copy=False)

    def slots_of(self, ids: Ids) -> Ids:
        """Return the live slots of these ids, which are ascending and each there once."""
        found = [
            _places(segment.ids, ids, ascending) + number * CAPACITY
            for number, (segment, ascending) in enumerate(zip(self.segments, self._ascending, strict=True))
        ]
        slots = np.concatenate(found) if found else np.empty(0, np.int64)
        return slots if self.barred is None else slots[self.barred[slots] == 0]

    def split(self, slots: Ids) -> Iterator[tuple[Segment, Ids]]:
        """Yield each segment with the places in it that these ascending slots stand for."""
        borders = slots.searchsorted(self._borders)
        for number, segment in enumerate(self.segments):
            part = slots[borders[number] : borders[number + 1]]
            if len(part):
                yield segment, part - number * CAPACITY

    def ids_at(self, slots: Ids) -> Ids:
        """Return the ids in these slots."""
        return self._ids.take(slots)

    def codes_at(self, slots: Ids) -> NDArray[np.uint8]:
        """Return the codes in these ascending slots."""
        width = self.segments[0].codes.shape[1] if self.segments else 0
        codes = np.empty((len(slots), width), np.uint8)
        first = 0
        for segment, places in self.split(slots):
            segment.codes.take(places, axis=0, out=codes[first : first + len(places)], mode="clip")
            first += len(places)
        return codes

    def rest(self) -> None:
        """Let go of pages of the mapped files; another search may take them up again."""
        for segment in self.segments:
            segment.rest()

    def without(self, slots: Ids) -> View:
        """Return the same with these slots no longer counting."""
        return replace(self, dead=np.union1d(self.dead, slots)) if len(slots) else self


def _places(held: Ids, ids: Ids, ascending: bool) -> Ids:
    """Return where in a segment these ids stand."""
    if not len(held) or not len(ids):
        return np.empty(0, np.int64)
    if not ascending:
        return np.flatnonzero(np.isin(held, ids)).astype(np.int64, copy=False)
    part = ids[np.searchsorted(ids, held[0]) : np.searchsorted(ids, held[-1], side="right")]
    if len(part) == len(held):
        return np.arange(len(held), dtype=np.int64)
    places = np.searchsorted(held, part)
    matching: Ids = places[held[places] == part]
    return matching
