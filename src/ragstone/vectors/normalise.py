"""Checks that every vector passes on its way in: right shape, finite numbers, length one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import InputError
from ragstone.types import Matrix

Ids = NDArray[np.int64]
Array = NDArray[Any]
"""An array of any type."""

UNIT_SLACK = 1e-5
"""How far the square of a length may be from one: the rounding error of 16 bits, which no score shows."""


def as_matrix(vectors: Matrix, dimension: int | None = None) -> Matrix:
    """Return vectors as a float32 matrix with one vector per row; raise `InputError` if the shape is wrong."""
    try:
        matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(
            "These are not vectors of numbers.", hint="give a matrix of floats, one row each"
        ) from error
    if matrix.size == 0 and matrix.ndim != 2:
        return matrix.reshape(0, dimension or 0)
    if matrix.ndim == 1:
        matrix = matrix.reshape(1, -1)
    if matrix.ndim != 2:
        raise InputError(f"Vectors come as a matrix, not with {matrix.ndim} axes.")
    if dimension is not None and matrix.size and matrix.shape[1] != dimension:
        raise InputError(
            f"These vectors have {matrix.shape[1]} numbers, the index holds {dimension}.",
            hint="they were made by another embedder",
        )
    return matrix


def finite_rows(vectors: Matrix, dimension: int | None = None) -> Matrix:
    """Return vectors as a float32 matrix; raise `InputError` if one holds NaN or infinity."""
    matrix = as_matrix(vectors, dimension)
    if not np.isfinite(matrix).all():
        raise InputError(
            "A vector holds NaN or infinity.", hint="the embedder failed on one of the texts"
        )
    return matrix


def row_lengths(matrix: Matrix) -> Matrix:
    """Return the length of every row."""
    squares = np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)
    lengths: Matrix = np.sqrt(squares).astype(np.float32)
    return lengths


def nonzero(numbers: Matrix) -> Matrix:
    """Return numbers that can be divided by: zeros are replaced by one."""
    return np.where(numbers > 0, numbers, np.float32(1))


def unit_rows(vectors: Matrix, dimension: int | None = None) -> Matrix:
    """Return the rows scaled to length one; a row of zeros stays zero.

    If all rows have length one, the matrix is returned as it is.
    """
    matrix = as_matrix(vectors, dimension)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.vecdot(matrix, matrix)
    if np.all(np.abs(squares - 1) < UNIT_SLACK):
        return matrix
    finite_rows(matrix)
    # Divided by the largest number first, so that the squares of huge or tiny numbers neither overflow nor vanish.
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    scaled = matrix / nonzero(largest)[:, None]
    unit: Matrix = scaled / nonzero(row_lengths(scaled))[:, None]
    return unit


def unit_query(vector: Matrix, dimension: int) -> Matrix:
    """Return one query as a flat vector of length one; raise `InputError` if it is not one vector."""
    query = np.asarray(vector)
    if query.size != dimension or query.dtype.kind not in "fiu":
        raise InputError(
            f"A query is one vector of {dimension} numbers.",
            hint="search once per query, with the index's embedder",
        )
    wide = query.reshape(-1).astype(np.float64)
    length = math.sqrt(wide @ wide)
    if not math.isfinite(length):
        raise InputError(
            "The query's vector holds NaN or infinity.", hint="the embedder failed on the query"
        )
    unit: Matrix = (wide / (length or 1.0)).astype(np.float32)
    return unit


def id_array(ids: Sequence[int] | Ids) -> Ids:
    """Return ids as an array; raise `InputError` if one is not a whole number."""
    array = np.asarray(ids)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError("Row ids are whole numbers.")
    return array.astype(np.int64, copy=False)


def check_pairs(ids: Sequence[int] | Ids, vectors: Matrix) -> None:
    """Raise `InputError` unless there is one id for each vector."""
    if len(ids) != len(vectors):
        raise InputError(f"There are {len(ids)} ids for {len(vectors)} vectors.")


def check_k(k: int) -> None:
    """Raise `InputError` if k is below one."""
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}.")


def products(matrix: Matrix, query: Matrix) -> Matrix:
    """Return the inner product of every row with a query, computed in the calling thread.

    The operator `@` uses the threads of BLAS, which wait for each other by spinning: on two busy cores a product
    of half a millisecond took 25.
    """
    scores: Matrix = np.vecdot(matrix, query)
    return scores
