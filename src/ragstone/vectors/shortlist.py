"""From all vectors to the few worth fetching: the sign scan, then the four-bit codes of what it let through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ragstone.vectors.allowed import AllowedSet
from ragstone.vectors.planes import Planes, distances, nearest
from ragstone.vectors.view import Ids, View

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

# Set on 100k mixtures of MiniLM vectors (not on 100k real texts), 150 queries, the same that judged them.
FETCHED = 40  # rows compared exactly for a top 10: recall@10 0.9993; 20 rows gave 0.998
ALL = 200  # so few are fetched and compared without looking at planes
PASSED = 800  # slots the sign scan lets through at least; reading their codes costs less than 0.1 ms
PASSED_PER_HIT = 20  # recall@100 was 0.978 with 8 slots a hit, 0.992 with 16, 0.998 with 40; in between by choice


@dataclass(frozen=True, slots=True)
class Width:
    """How many slots pass the scan, and how many rows are fetched."""

    passed: int
    fetched: int


def width(k: int, count: int) -> Width:
    """Return how wide to look for a top k among so many."""
    return Width(max(PASSED, PASSED_PER_HIT * k, count // 500), max(FETCHED, 2 * k + 20))


def shortlist(planes: Planes, view: View, query: Matrix, *, width: Width, allowed: AllowedSet | None) -> Ids:
    """Return the ids of the vectors that may be nearest."""
    slots = few(view, width, allowed)
    if slots is not None and len(slots) <= max(ALL, width.fetched):
        return view.ids_at(slots)
    rotated = planes.rotate(query[None])
    if slots is None:
        slots = _scan(planes, view, rotated, passed=width.passed, allowed=allowed)
    return _narrowed(planes, view, slots, rotated=rotated[0], fetched=width.fetched)


def few(view: View, width: Width, allowed: AllowedSet | None) -> Ids | None:
    """Return the slots in question where a scan over all would cost more than looking at them, else None."""
    if allowed is not None:
        slots = allowed.slots(view)
        return slots if len(slots) <= max(2 * width.passed, view.count // 32) else None
    return view.live_slots() if view.live <= 2 * width.passed else None


def _scan(planes: Planes, view: View, rotated: Matrix, *, passed: int, allowed: AllowedSet | None) -> Ids:
    """Return the slots whose signs agree most with the query's."""
    centre = rotated[0] if view.centre is None else view.centre
    found = distances(view.segments, planes.signs(rotated, centre)[0])
    barred = view.barred if allowed is None else allowed.barred(view)
    if barred is not None:
        np.maximum(found, barred, out=found)
    return nearest(found, passed)


def _narrowed(planes: Planes, view: View, slots: Ids, *, rotated: Matrix, fetched: int) -> Ids:
    """Return the ids of those whose codes are nearest."""
    scores = [planes.code_scores(rotated, segment.codes[places]) for segment, places in view.split(slots)]
    if len(slots) > fetched:
        near = np.concatenate(scores)
        slots = np.sort(slots[np.argpartition(near, len(near) - fetched)[len(near) - fetched :]])
    return view.ids_at(slots)
