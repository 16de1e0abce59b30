"""From all vectors to the few worth fetching: the sign scan, then the four-bit codes of what it let through."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ragstone.vectors.allowed import AllowedSet
from ragstone.vectors.planes import Planes
from ragstone.vectors.scan import nearest_slots
from ragstone.vectors.view import Ids, View

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

# Set on 100k mixtures of MiniLM vectors (not on 100k real texts), 300 queries, the same that judged them.
# Rows compared exactly at most, per hit and besides: by our codes, and by turbovec's, which are finer and take the
# longer the more are asked for (199 us for 21, 221 for 32). Of these only what is close to the hits is fetched: of the
# ten nearest, some 19 rows by our codes hold .994 and 15 by turbovec's .996, which is what all 26 and 20 of them hold;
# a row costs 4 to 5 microseconds. Among a million the nearest 10 need more: by turbovec's codes 24 rows held .985 of
# them, 40 .992, 48 .994.
FETCHED, FINER = (1.25, 12), (1.2, 6)
FETCHED_SHARE = 40_000
# Sixteen steps a coordinate say less of fewer coordinates: of 64, 24 rows held .975 of the nearest 10 and 40 all.
FEW_DIMENSIONS, FETCHED_OF_FEW = 256, (2, 20)
ALL = 64  # so few are fetched and compared without looking at planes
PASSED = 850  # slots the sign scan lets through at least; reading the codes of 1,000 costs 0.13 ms
# So many of this many coordinates; fewer signs say less: of the first 256 numbers of 100k MiniLM vectors 850 slots held
# .985 of the nearest 10, 1,275 .992; of the first 128 .957, 2,550 .991; of the first 64 .857, 5,100 .971.
PASSED_AT = 384
PASSED_BESIDES, PASSED_SHARE = 600, 500  # of a million 800 slots held .978 of the nearest 10, 2,000 .995, 4,000 .997
PASSED_PER_HIT = 20  # recall@100 was 0.978 with 8 slots a hit, 0.992 with 16, 0.998 with 40; in between by choice


@dataclass(frozen=True, slots=True)
class Width:
    """How many slots pass the scan, how many rows are fetched at most, and how many hits these are to come close to."""

    passed: int
    fetched: int
    finer: int  # in place of `fetched` by finer codes
    hits: int

    def wider(self) -> Width:
        """Return four times as wide a look, that fetches whatever it finds."""
        return Width(self.passed * 4, self.fetched * 4, self.fetched * 4, self.fetched * 4)


@lru_cache(maxsize=64, typed=True)
def width(k: int, count: int, *, dimension: int) -> Width:
    """Return how wide to look for a top k among so many vectors."""
    few_numbers = dimension < FEW_DIMENSIONS
    fetched, finer = (
        int(per_hit * k) + besides + count // FETCHED_SHARE
        for per_hit, besides in ((FETCHED_OF_FEW, FETCHED_OF_FEW) if few_numbers else (FETCHED, FINER))
    )
    passed = max(PASSED, PASSED_PER_HIT * k, PASSED_BESIDES + count // PASSED_SHARE)
    return Width(passed * max(PASSED_AT, dimension) // dimension, fetched, finer, k)


def close(scores: Matrix, hits: int, slack: float) -> list[int]:
    """Return the places of those that may be among so many hits, if a score may be so much too low beside another."""
    listed = scores.tolist()  # so few that NumPy would take four times as long
    border = sorted(listed)[-hits] - slack if len(listed) > hits else -math.inf
    return [place for place, score in enumerate(listed) if score >= border]


def shortlist(planes: Planes, view: View, query: Matrix, *, width: Width, allowed: AllowedSet | None) -> Ids:
    """Return the ids of the vectors that may be nearest."""
    slots = few(view, width, allowed)
    if slots is not None and len(slots) <= max(ALL, width.fetched):
        return view.ids_at(slots)
    question = planes.question(query)
    if slots is None:
        barred = view.barred if allowed is None else allowed.barred(view)
        slots = nearest_slots(view, question, width.passed, barred=barred)
    return _narrowed(planes, view, slots, rotated=question.rotated, width=width)


def few(view: View, width: Width, allowed: AllowedSet | None) -> Ids | None:
    """Return the slots in question where a scan over all would cost more than looking at them, else None."""
    if allowed is not None:
        slots = allowed.slots(view)
        return slots if len(slots) <= max(2 * width.passed, view.count // 32) else None
    return view.live_slots() if view.live <= 2 * width.passed else None


def _narrowed(planes: Planes, view: View, slots: Ids, *, rotated: Matrix, width: Width) -> Ids:
    """Return the ids of those whose codes are nearest."""
    if len(slots) > width.fetched:
        near = planes.code_scores(rotated, view.codes_at(slots))
        best = np.argpartition(near, len(near) - width.fetched)[len(near) - width.fetched :]
        slots = slots.take(best.take(close(near.take(best), width.hits, planes.slack)))
    return view.ids_at(slots)
