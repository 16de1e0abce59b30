"""Codecs encode vectors as rows of bytes and decode them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import ConfigError, InputError, StoreError
from ragstone.vectors.codecs import codec, read_rows

NAMES = ["int10", "int16", "int8", "compact"]

names = st.sampled_from(NAMES)


def vectors(rows: int, dimension: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return (
        np.random.default_rng(dimension).standard_normal((rows, dimension)).astype(np.float32)
    )


@given(name=names, rows=st.integers(0, 9), dimension=st.integers(1, 130))
def test_a_row_read_back_is_the_vector_at_length_one(
    name: str, rows: int, dimension: int
) -> None:
    part = codec(name, dimension)
    original = vectors(rows, dimension)
    encoded = part.encode(original)
    assert [len(row) for row in encoded] == [part.row_bytes] * rows
    unit = original / np.linalg.norm(original, axis=1, keepdims=True)
    close = {"int16": 1e-4, "int10": 0.02}.get(name, 0.5)
    assert np.all(np.linalg.norm(part.decode(encoded) - unit, axis=1) < close)


@given(name=names, dimension=st.integers(1, 130))
def test_scores_are_inner_products_with_the_decoded_rows(name: str, dimension: int) -> None:
    part = codec(name, dimension)
    rows = part.encode(vectors(7, dimension))
    query = vectors(1, dimension)[0]
    assert np.allclose(
        part.scores(query, rows), part.decode(rows) @ query, atol=1e-4 * dimension**0.5
    )


def test_rows_have_the_documented_size() -> None:
    assert [codec(name, 384).row_bytes for name in NAMES] == [484, 772, 388, 196]


@given(rows=st.integers(1, 9), dimension=st.integers(1, 130))
def test_ten_bits_are_the_nearest_step_and_length_one(rows: int, dimension: int) -> None:
    part = codec("int10", dimension)
    unit = vectors(rows, dimension) / np.linalg.norm(
        vectors(rows, dimension), axis=1, keepdims=True
    )
    found = part.decode(part.encode(unit))
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    largest = np.abs(unit).max(axis=1, keepdims=True)
    steps = np.rint(unit / largest * 511)
    assert np.allclose(
        found, steps / np.linalg.norm(steps, axis=1, keepdims=True), atol=1.01 / 511 * largest
    )
    assert np.array_equal(part.encode(found), part.encode(part.decode(part.encode(found))))


@pytest.mark.parametrize("name", NAMES)
def test_a_zero_vector_stays_zero(name: str) -> None:
    part = codec(name, 16)
    assert not part.decode(part.encode(np.zeros((1, 16), np.float32))).any()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("damage", [b"", b"x", b"x" * 5000])
def test_a_row_of_the_wrong_length_is_a_store_error(name: str, damage: bytes) -> None:
    part = codec(name, 16)
    row = part.encode(vectors(1, 16))[0]
    for rows in ([row, damage], [row[:-1], row + b"x"]):
        with pytest.raises(StoreError, match="damaged"):
            part.decode(rows)
        with pytest.raises(StoreError, match="damaged"):
            part.scores(vectors(1, 16)[0], rows)


def test_an_unknown_codec_is_refused_with_the_known_names() -> None:
    with pytest.raises(ConfigError, match="int10, compact, int16, int8"):
        codec("float64", 8)
    with pytest.raises(ConfigError):
        codec("int16", 0)


@pytest.mark.parametrize("name", NAMES)
def test_nan_is_never_stored(name: str) -> None:
    with pytest.raises(InputError):
        codec(name, 4).encode(np.array([[0, 1, np.nan, 0]], np.float32))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [1e-30, 1e30])
def test_a_very_long_or_short_vector_keeps_its_direction(name: str, length: float) -> None:
    part = codec(name, 32)
    original = vectors(1, 32)
    expected, found = (
        part.decode(part.encode(original)),
        part.decode(part.encode(original * np.float32(length))),
    )
    assert np.allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_many_rows_are_encoded_as_each_would_be(name: str) -> None:
    part = codec(name, 24)
    many = vectors(1100, 24)
    encoded = part.encode(many)
    assert len(encoded) == 1100
    assert np.allclose(
        part.decode(encoded[::99]),
        part.decode([part.encode(row)[0] for row in many[::99]]),
        atol=1e-4,
    )


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_are_not_vectors_are_left_out(name: str) -> None:
    part = codec(name, 24)
    encoded = part.encode(vectors(6, 24))
    not_a_number = np.float32(np.nan).tobytes() + encoded[4][4:]
    sound, matrix = read_rows(
        part,
        [encoded[0], b"short", encoded[2], bytes(part.row_bytes), not_a_number, encoded[5]],
    )
    assert sound == [True, False, True, False, False, True]
    # The last digit may differ: on some processors a product depends on the number of rows in it.
    expected = part.decode([encoded[0], encoded[2], encoded[5]])
    np.testing.assert_allclose(matrix, expected, atol=1e-6)
    assert read_rows(part, encoded)[0] == [True] * 6
    assert read_rows(part, [])[0] == []


@given(dimension=st.integers(9, 5000))
def test_from_nine_numbers_on_the_length_of_a_row_shows_its_codec(dimension: int) -> None:
    assert len({codec(name, dimension).row_bytes for name in NAMES}) == len(NAMES)
