"""Every vector comes out of the gate at length one, or not at all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import InputError
from ragstone.vectors.unit import PIECE, unit_query, unit_rows


def vectors(count: int, dimension: int = 48) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(count).standard_normal((count, dimension)).astype(np.float32)


@given(count=st.sampled_from([1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE]), scale=st.sampled_from([1e-25, 1.0, 1e25]))
def test_rows_have_length_one_and_their_old_direction(count: int, scale: float) -> None:
    given_ = vectors(count)
    unit = unit_rows(given_ * np.float32(scale))
    assert np.allclose(np.linalg.norm(unit.astype(np.float64), axis=1), 1, atol=1e-6)
    assert np.allclose(unit, given_ / np.linalg.norm(given_, axis=1, keepdims=True), atol=1e-5)


def test_unusual_rows_among_many_are_treated_each_by_itself() -> None:
    given_ = vectors(2 * PIECE + 10)
    given_[3], given_[PIECE + 4] = 0, given_[PIECE + 4] * np.float32(1e30)
    lengths = np.linalg.norm(unit_rows(given_), axis=1)
    assert lengths[3] == 0
    assert np.allclose(np.delete(lengths, 3), 1, atol=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, PIECE + 1])
def test_a_number_that_is_none_is_refused_wherever_it_stands(bad: float, place: int) -> None:
    given_ = unit_rows(vectors(PIECE + 2))
    given_[place, 5] = bad
    with pytest.raises(InputError):
        unit_rows(given_)
    with pytest.raises(InputError):
        unit_query(given_[place], 48)


def test_rows_at_length_one_are_given_back_as_they_are() -> None:
    unit = unit_rows(vectors(100))
    assert unit_rows(unit) is unit
