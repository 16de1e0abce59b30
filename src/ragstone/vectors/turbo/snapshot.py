"""One consistent state of the turbo index: a search works on one snapshot from its first step to its last."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ragstone.types import Matrix
from ragstone.vectors.normalise import Ids
from ragstone.vectors.turbo.bit_planes import Codes
from ragstone.vectors.turbo.segments import CAPACITY, Segment


@dataclass(frozen=True, eq=False)
class IndexSnapshot:
    """Segments, all full but the last; the centre of their signs; the slots that are deleted.

    A slot is the place of a vector, counted over all segments. `centred_on` is the number of vectors that the
    centre was computed from. `token` names the header that the snapshot was read from or written with.
    """

    segments: tuple[Segment, ...] = ()
    centre: Matrix | None = None
    centred_on: int = 0
    deleted: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    token: str = ""

    @cached_property
    def ids(self) -> Ids:
        """Return the ids of all slots."""
        arrays = [segment.ids for segment in self.segments]
        return np.concatenate([np.empty(0, np.int64), *arrays])

    @cached_property
    def live_slots(self) -> Ids:
        """Return all slots that are not deleted, ascending."""
        is_live = np.ones(len(self.ids), np.bool_)
        is_live[self.deleted] = False
        return np.flatnonzero(is_live).astype(np.int64, copy=False)

    @property
    def live_ids(self) -> Ids:
        """Return the ids of all slots that are not deleted."""
        return self.ids[self.live_slots]

    def slots_of(self, ids: Ids) -> Ids:
        """Return the slots of these ids that are not deleted, ascending."""
        return self.live_slots[np.isin(self.live_ids, ids)]

    def codes_at(self, slots: Ids) -> Codes:
        """Return the codes of these ascending slots."""
        borders = np.searchsorted(slots, CAPACITY * np.arange(len(self.segments) + 1))
        parts = []
        for number, segment in enumerate(self.segments):
            places = slots[borders[number] : borders[number + 1]] - number * CAPACITY
            parts.append(segment.codes[places])
        return np.concatenate(parts)

    def without(self, slots: Ids) -> IndexSnapshot:
        """Return the snapshot with these slots deleted."""
        if not len(slots):
            return self
        return replace(self, deleted=np.union1d(self.deleted, slots))

    def extended_by(self, added: Segment) -> IndexSnapshot:
        """Return the snapshot with more vectors behind the others; the last segment is filled up first."""
        segments = list(self.segments)
        if segments and segments[-1].count < CAPACITY:
            added = segments.pop().followed_by(added)
        for start in range(0, added.count, CAPACITY):
            segments.append(added.part(start, start + CAPACITY))
        return replace(self, segments=tuple(segments))
