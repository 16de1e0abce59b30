"""From all vectors to the few whose rows are fetched: first by their signs, then by their four-bit codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragstone.types import Matrix
from ragstone.vectors.normalise import Ids
from ragstone.vectors.turbo.bit_planes import BitPlanes
from ragstone.vectors.turbo.scan import scan
from ragstone.vectors.turbo.snapshot import IndexSnapshot

# All numbers were chosen on 100,000 mixtures of MiniLM vectors with 300 queries, which also judged them.
FETCHED_PER_HIT, FETCHED_BASE = 1.25, 12
"""Rows that are compared exactly. A row costs 4 to 5 microseconds."""
FETCHED_SHARE = 40_000
"""One row more for this many vectors: among a million the nearest 10 need more."""
SMALL_DIMENSION = 256
FETCHED_PER_HIT_SMALL, FETCHED_BASE_SMALL = 2, 20
"""Below this dimension codes say less: of 64 numbers, 24 rows held .975 of the nearest 10 and 40 rows all."""
MIN_PASSED = 850
"""Slots that pass the scan. Reading the codes of 1,000 takes 0.13 ms."""
PASSED_DIMENSION = 384
"""Below this dimension more slots pass: of the first 256 numbers 850 slots held .985 of the nearest 10, 1,275 .992; of
the first 128 .957, and 2,550 .991; of the first 64 .857, and 5,100 .971."""
PASSED_BASE, PASSED_SHARE = 600, 500
"""Of a million vectors 800 slots held .978 of the nearest 10, 2,000 .995 and 4,000 .997."""
PASSED_PER_HIT = 20
"""Recall at 100 was .978 with 8 slots a hit, .992 with 16, .998 with 40."""
SCAN_SHARE = 32
"""If fewer than one in this many vectors is allowed, their codes are read without a scan."""


@dataclass(frozen=True, slots=True)
class SearchWidth:
    """How many slots pass the scan, and how many rows are fetched."""

    passed: int
    fetched: int

    def wider(self) -> SearchWidth:
        """Return four times the width."""
        return SearchWidth(4 * self.passed, 4 * self.fetched)


def choose_width(k: int, count: int, *, dimension: int) -> SearchWidth:
    """Return the width for the k nearest among this many vectors."""
    per_hit, base = FETCHED_PER_HIT, FETCHED_BASE
    if dimension < SMALL_DIMENSION:
        per_hit, base = FETCHED_PER_HIT_SMALL, FETCHED_BASE_SMALL
    fetched = int(per_hit * k) + base + count // FETCHED_SHARE
    passed = max(MIN_PASSED, PASSED_PER_HIT * k, PASSED_BASE + count // PASSED_SHARE)
    return SearchWidth(passed * max(PASSED_DIMENSION, dimension) // dimension, fetched)


def find_candidates(
    planes: BitPlanes, snapshot: IndexSnapshot, query: Matrix, slots: Ids, width: SearchWidth
) -> Ids:
    """Return the ids of those of these slots whose vectors may be nearest to a unit query."""
    if len(slots) <= width.fetched:
        return snapshot.ids[slots]
    bit_query = planes.encode_query(query)
    if len(slots) > max(2 * width.passed, len(snapshot.ids) // SCAN_SHARE):
        slots = scan(snapshot, bit_query, slots, width.passed)
    scores = planes.score_codes(bit_query, snapshot.codes_at(slots))
    first = max(0, len(scores) - width.fetched)
    best_places = np.argpartition(scores, first)[first:]
    return snapshot.ids[slots[best_places]]
