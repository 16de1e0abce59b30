"""The scan: compare the signs of all vectors with those of a query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.normalise import Ids
from ragstone.vectors.turbo.bit_planes import BitQuery
from ragstone.vectors.turbo.snapshot import IndexSnapshot

MAX_EXCESS = 3
"""Times the required slots that may pass: of many equal vectors not all do."""
SAMPLE = 4096
"""Distances from which the border is estimated."""


def scan(snapshot: IndexSnapshot, query: BitQuery, slots: Ids, min_slots: int) -> Ids:
    """Return at least `min_slots` of these slots (all, if there are fewer), those whose signs agree most; ascending."""
    distances = count_differing_signs(snapshot, query)
    if len(slots) < len(distances):
        distances = distances[slots]
    if len(distances) <= min_slots:
        return slots
    border = _estimate_border(distances, min_slots)
    near = np.flatnonzero(distances <= border)
    if not min_slots <= len(near) <= MAX_EXCESS * min_slots:
        # Many equal distances, or a sample that misled: the exact cut takes as long as the scan.
        nearest = np.argpartition(distances, min_slots)[:min_slots]
        near = np.sort(nearest)
    return slots[near]


def _estimate_border(distances: NDArray[np.uint16], min_slots: int) -> int:
    """Return a distance that a few more than `min_slots` slots do not exceed, estimated from a sample."""
    step = max(1, len(distances) // SAMPLE)
    sample = distances[::step]
    expected = min_slots * len(sample) / len(distances)
    generous = int(expected + 2 * expected**0.5) + 1
    rank = min(len(sample) - 1, generous)
    return int(np.partition(sample, rank)[rank])


def count_differing_signs(snapshot: IndexSnapshot, query: BitQuery) -> NDArray[np.uint16]:
    """Return for every slot in how many of the compared signs it differs from the query."""
    distances = np.zeros(len(snapshot.ids), np.uint16)
    start = 0
    for segment in snapshot.segments:
        part = distances[start : start + segment.count]
        for plane, signs, mask in zip(segment.planes, query.signs, query.mask, strict=True):
            differing = (plane ^ signs) & mask
            part += np.bitwise_count(differing)
        start += segment.count
    return distances
