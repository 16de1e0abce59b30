"""The sign scan lets through what is near, whatever the dimension, and never what is barred."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.vectors.planes import Planes
from ragstone.vectors.scan import _places, nearest_slots
from ragstone.vectors.segments import CAPACITY, Layout, Slots, hold_slots
from ragstone.vectors.shortlist import close
from ragstone.vectors.unit import unit_rows
from ragstone.vectors.view import BARRED, View


def laid_out(
    count: int, dimension: int, *, seed: int = 0
) -> tuple[Planes, View, np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    """Return vectors in clusters away from the origin, and a view of them."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((count // 50 + 1, dimension)) + 0.4
    near = centres[random.integers(0, len(centres), count)] + 0.6 * random.standard_normal((count, dimension))
    unit = unit_rows(near.astype(np.float32))
    planes = Planes(dimension)
    centre = planes.centre(unit.sum(axis=0, dtype=np.float64), count)
    slots = Slots(np.arange(count, dtype=np.int64), *planes.encode(unit, centre))
    layout = Layout(planes.words, planes.code_bytes)
    parts = [slots.part(first, first + CAPACITY) for first in range(0, count, CAPACITY)]
    return planes, View("g", tuple(hold_slots(None, layout, part) for part in parts), centre=centre), unit


@pytest.mark.parametrize(("count", "dimension"), [(3000, 64), (3000, 200), (40_000, 384), (12_000, 1536)])
def test_what_is_near_passes(count: int, dimension: int) -> None:
    planes, view, unit = laid_out(count, dimension)
    noise = np.random.default_rng(1).standard_normal((20, dimension)).astype(np.float32)
    found = 0
    for query in unit_rows(unit[:: count // 20][:20] + np.float32(0.7 / dimension**0.5) * noise):
        nearest = set(np.argsort(-(unit @ query))[:10].tolist())
        slots = nearest_slots(view, planes.question(query), 600, barred=None)
        assert np.all(slots[1:] > slots[:-1])
        assert 600 <= len(slots) < 3000
        found += len(nearest & set(slots.tolist()))
    assert found >= 0.98 * 200


@settings(max_examples=25, deadline=None)
@given(
    dimension=st.sampled_from([8, 64, 100, 384]),
    wanted=st.integers(1, 500),
    open_share=st.sampled_from([0.0, 0.01, 0.3, 1.0]),
)
def test_never_fewer_than_wanted_and_none_that_is_barred(dimension: int, wanted: int, open_share: float) -> None:
    planes, view, unit = laid_out(2000, dimension)
    open_ = np.random.default_rng(3).random(2000) < open_share
    barred = np.where(open_, 0, BARRED).astype(np.uint16)
    slots = nearest_slots(view, planes.question(unit[7]), wanted, barred=barred)
    assert len(slots) >= min(wanted, open_.sum())
    assert open_[slots].all()
    assert len(set(slots.tolist())) == len(slots)


@given(count=st.integers(0, 70), seed=st.integers(0, 9), share=st.sampled_from([0.0, 0.05, 0.5, 1.0]))
def test_places_are_where_it_is_true(count: int, seed: int, share: float) -> None:
    passed = np.random.default_rng(seed).random(count) < share
    assert np.array_equal(_places(passed), np.flatnonzero(passed))


@given(
    scores=st.lists(st.floats(-1, 1, width=32), max_size=40),
    hits=st.integers(1, 50),
    slack=st.sampled_from([0.0, 0.25]),
)
def test_what_is_close_to_the_hits_is_kept(scores: list[float], hits: int, slack: float) -> None:
    kept = close(np.array(scores, np.float32), hits, slack)
    assert len(kept) >= min(hits, len(scores))
    left = [score for place, score in enumerate(scores) if place not in kept]
    assert all(score < sorted(scores)[-hits] - slack for score in left)
    assert all(scores[place] >= sorted(scores)[-min(hits, len(scores))] - slack for place in kept)


def test_a_query_of_zeros_finds_some() -> None:
    planes, view, _ = laid_out(2000, 384)
    assert len(nearest_slots(view, planes.question(np.zeros(384, np.float32)), 100, barred=None)) >= 100


def test_of_very_many_equal_vectors_only_some_pass() -> None:
    planes, view, unit = laid_out(2, 384)
    words, codes = planes.encode(np.repeat(unit[:1], 30_000, axis=0), np.zeros(384, np.float32))
    slots = Slots(np.arange(30_000, dtype=np.int64), words, codes)
    same = View("g", (hold_slots(None, Layout(planes.words, planes.code_bytes), slots),), centre=view.centre)
    assert 100 <= len(nearest_slots(same, planes.question(unit[0]), 100, barred=None)) <= 5000
