"""Rebuilding the segments: around a new centre when the data has grown, and without their deleted slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ragstone.types import Matrix
from ragstone.vectors.normalise import Ids
from ragstone.vectors.turbo.bit_planes import BitPlanes
from ragstone.vectors.turbo.segment_files import SegmentFiles
from ragstone.vectors.turbo.segments import CAPACITY, Segment
from ragstone.vectors.turbo.snapshot import IndexSnapshot

GROWTH = 4
"""The centre is computed again when there are this many times the vectors that it was computed from."""
DELETED_SHARE = 0.5
MIN_SLOTS = 8192
"""Fewer slots are not worth a rebuild because of deleted ones."""
SAMPLE = 8192
"""Vectors that the centre is computed from."""

Fetch = Callable[[Ids], "tuple[Ids, Matrix]"]
"""Returns the ids that the store still has, and their unit vectors."""


def append(planes: BitPlanes, snapshot: IndexSnapshot, ids: Ids, unit: Matrix) -> IndexSnapshot:
    """Return the snapshot with unit vectors behind the others; the first ones decide the centre."""
    if not len(ids):
        return snapshot
    centre = snapshot.centre
    if centre is None:
        centre = planes.centre_of(unit)
        snapshot = replace(snapshot, centre=centre, centred_on=len(unit))
    sign_planes, codes = planes.encode(unit, centre)
    return snapshot.extended_by(Segment(ids, sign_planes, codes))


def needs_rebuild(snapshot: IndexSnapshot) -> bool:
    """Return whether the centre is outdated or most slots are deleted."""
    slots = len(snapshot.ids)
    has_outgrown_centre = snapshot.centred_on > 0 and slots >= GROWTH * snapshot.centred_on
    is_mostly_deleted = slots > MIN_SLOTS and len(snapshot.deleted) > DELETED_SHARE * slots
    return has_outgrown_centre or is_mostly_deleted


def rebuild(
    files: SegmentFiles, planes: BitPlanes, snapshot: IndexSnapshot, fetch: Fetch
) -> IndexSnapshot:
    """Return a snapshot of the same vectors, encoded again from the rows of the store.

    If the store does not return all of them, because it is read in an older state, the snapshot stays as it is.
    """
    ids = np.sort(snapshot.live_ids)
    if not len(ids):
        return IndexSnapshot(token=snapshot.token)
    step = max(1, len(ids) // SAMPLE)
    _, sample = fetch(ids[::step])
    if not len(sample):
        return snapshot
    centre = planes.centre_of(sample)
    fresh = IndexSnapshot(centre=centre, centred_on=len(ids), token=snapshot.token)
    for start in range(0, len(ids), CAPACITY):
        batch = ids[start : start + CAPACITY]
        stored_ids, unit = fetch(batch)
        if len(stored_ids) < len(batch):
            return snapshot
        fresh = append(planes, fresh, stored_ids, unit)
        # Written at once: a million vectors are 250 MB.
        fresh = files.save_segments(fresh)
    return fresh
