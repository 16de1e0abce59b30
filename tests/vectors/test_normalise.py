"""Vectors are scaled to length one or refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import InputError
from ragstone.vectors.normalise import unit_query, unit_rows


def vectors(
    count: int, dimension: int = 48
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(count).standard_normal((count, dimension)).astype(np.float32)


@given(count=st.sampled_from([1, 700]), scale=st.sampled_from([1e-25, 1.0, 1e25]))
def test_rows_have_length_one_and_their_old_direction(count: int, scale: float) -> None:
    original = vectors(count)
    unit = unit_rows(original * np.float32(scale))
    assert np.allclose(np.linalg.norm(unit.astype(np.float64), axis=1), 1, atol=1e-6)
    assert np.allclose(
        unit, original / np.linalg.norm(original, axis=1, keepdims=True), atol=1e-5
    )


def test_zero_and_huge_rows_do_not_change_the_others() -> None:
    original = vectors(700)
    original[3], original[604] = 0, original[604] * np.float32(1e30)
    lengths = np.linalg.norm(unit_rows(original), axis=1)
    assert lengths[3] == 0
    assert np.allclose(np.delete(lengths, 3), 1, atol=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 601])
def test_nan_and_infinity_are_refused_in_any_row(bad: float, place: int) -> None:
    original = unit_rows(vectors(602))
    original[place, 5] = bad
    with pytest.raises(InputError):
        unit_rows(original)
    with pytest.raises(InputError):
        unit_query(original[place], 48)


def test_rows_at_length_one_are_originalback_as_they_are() -> None:
    unit = unit_rows(vectors(100))
    assert unit_rows(unit) is unit
