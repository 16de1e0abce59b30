"""The scan and the codes pass the vectors that are near, for any dimension and any filter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.types import Matrix
from ragstone.vectors.normalise import unit_rows
from ragstone.vectors.turbo.bit_planes import BitPlanes
from ragstone.vectors.turbo.compaction import append
from ragstone.vectors.turbo.scan import scan
from ragstone.vectors.turbo.shortlist import choose_width, find_candidates
from ragstone.vectors.turbo.snapshot import IndexSnapshot


def clusters(count: int, dimension: int) -> tuple[BitPlanes, IndexSnapshot, Matrix]:
    """Return a snapshot of vectors in clusters away from the origin."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((count // 50 + 1, dimension)) + 0.4
    near = centres[random.integers(0, len(centres), count)] + 0.6 * random.standard_normal(
        (count, dimension)
    )
    unit = unit_rows(near.astype(np.float32))
    planes = BitPlanes(dimension)
    return planes, append(planes, IndexSnapshot(), np.arange(count, dtype=np.int64), unit), unit


@pytest.mark.parametrize(
    ("count", "dimension"), [(3000, 64), (3000, 200), (40_000, 384), (12_000, 1536)]
)
def test_near_vectors_pass_the_scan(count: int, dimension: int) -> None:
    planes, snapshot, unit = clusters(count, dimension)
    noise = np.random.default_rng(1).standard_normal((20, dimension)).astype(np.float32)
    found = 0
    for query in unit_rows(
        unit[:: count // 20][:20] + np.float32(0.7 / dimension**0.5) * noise
    ):
        nearest = set(np.argsort(-(unit @ query))[:10].tolist())
        slots = scan(snapshot, planes.encode_query(query), snapshot.live_slots, 600)
        assert np.all(slots[1:] > slots[:-1])
        assert 600 <= len(slots) < 3000
        found += len(nearest & set(slots.tolist()))
    assert found >= 0.98 * 200


@settings(max_examples=25, deadline=None)
@given(
    dimension=st.sampled_from([8, 64, 100, 384]),
    wanted=st.integers(1, 500),
    allowed_share=st.sampled_from([0.01, 0.3, 1.0]),
)
def test_enough_of_the_allowed_slots_pass_and_no_others(
    dimension: int, wanted: int, allowed_share: float
) -> None:
    planes, snapshot, unit = clusters(2000, dimension)
    allowed = np.flatnonzero(np.random.default_rng(3).random(2000) < allowed_share)
    slots = scan(snapshot, planes.encode_query(unit[7]), allowed, wanted)
    assert len(slots) >= min(wanted, len(allowed))
    assert set(slots.tolist()) <= set(allowed.tolist())
    assert len(set(slots.tolist())) == len(slots)


def test_a_query_of_zeros_finds_some() -> None:
    planes, snapshot, _ = clusters(2000, 384)
    query = planes.encode_query(np.zeros(384, np.float32))
    assert len(scan(snapshot, query, snapshot.live_slots, 100)) >= 100


def test_only_some_of_many_equal_vectors_pass() -> None:
    planes, _, unit = clusters(2, 384)
    same = append(
        planes,
        IndexSnapshot(),
        np.arange(30_000, dtype=np.int64),
        np.repeat(unit[:1], 30_000, axis=0),
    )
    assert 100 <= len(scan(same, planes.encode_query(unit[0]), same.live_slots, 100)) <= 300


def test_candidates_are_the_nearest_by_their_codes() -> None:
    planes, snapshot, unit = clusters(3000, 384)
    width = choose_width(10, 3000, dimension=384)
    candidates = find_candidates(planes, snapshot, unit[5], snapshot.live_slots, width)
    assert len(candidates) == width.fetched
    assert 5 in candidates.tolist()


@pytest.mark.parametrize(
    ("dimension", "passed"), [(64, 5100), (128, 2550), (384, 850), (1536, 850)]
)
def test_more_vectors_of_fewer_numbers_pass(dimension: int, passed: int) -> None:
    assert choose_width(10, 100_000, dimension=dimension).passed == passed
    assert choose_width(10, 1_000_000, dimension=dimension).passed > passed
    assert choose_width(100, 100_000, dimension=dimension).passed > passed
