"""The gate every vector passes: right shape, finite, length one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import InputError

if TYPE_CHECKING:
    from ragstone.protocols import Matrix


ONE_ENOUGH = 1e-5  # the square of a length: what rounding to 16 bits leaves, and no score shows
PIECE = 512  # rows worked on at a time, so that they stay in the processor's cache


def finite_rows(vectors: Matrix, dimension: int | None = None) -> Matrix:
    """Return vectors as a float32 matrix, or raise `InputError` where one could not be compared with others."""
    matrix = shaped(vectors, dimension)
    _refuse_infinite(matrix)
    return matrix


def shaped(vectors: Matrix, dimension: int | None = None) -> Matrix:
    """Return vectors as a float32 matrix of the right width, or raise `InputError`; what it holds is not looked at."""
    try:
        matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError("These are not vectors of numbers.", hint="give a matrix of floats, one row each") from error
    matrix = matrix.reshape(1, -1) if matrix.ndim == 1 and matrix.size else matrix
    if matrix.ndim != 2:
        if matrix.size:
            raise InputError(f"Vectors come as a matrix, not with {matrix.ndim} axes.")
        matrix = matrix.reshape(0, dimension or 0)
    if dimension is not None and matrix.shape[1] != dimension and matrix.size:
        raise InputError(
            f"These vectors have {matrix.shape[1]} numbers, the index holds {dimension}.",
            hint="they were made by another embedder",
        )
    return matrix


def _refuse_infinite(matrix: Matrix) -> None:
    if not np.isfinite(matrix).all():
        raise InputError("A vector holds NaN or infinity.", hint="the embedder failed on one of the texts")


def lengths(matrix: Matrix) -> Matrix:
    """Return the length of every row."""
    norms: Matrix = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)).astype(np.float32)
    return norms


def unit_rows(vectors: Matrix, dimension: int | None = None) -> Matrix:
    """Return the rows brought to length one, those given where they are already; a zero row stays zero."""
    matrix = shaped(vectors, dimension)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.vecdot(matrix, matrix)
    if np.all(np.abs(squares - 1) < ONE_ENOUGH):
        return matrix
    unit = np.empty_like(matrix)
    for first in range(0, len(matrix), PIECE):
        piece, its = matrix[first : first + PIECE], squares[first : first + PIECE]
        if np.all((its > 1e-20) & (its < 1e20)):
            np.divide(piece, np.sqrt(its)[:, None], out=unit[first : first + PIECE])
        else:
            unit[first : first + PIECE] = _unusual_unit_rows(piece)
    return unit


def _unusual_unit_rows(matrix: Matrix) -> Matrix:
    """Return rows at length one where some are zero, huge or tiny; `InputError` where one holds no numbers."""
    _refuse_infinite(matrix)
    # A row of huge or tiny numbers is first brought near one, so that its square neither overflows nor vanishes.
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    odd = (largest > 1e15) | ((largest < 1e-15) & (largest > 0))
    if odd.any():
        matrix = np.where(odd[:, None], matrix / np.where(odd, largest, 1)[:, None], matrix)
    norms = lengths(matrix)
    unit: Matrix = (matrix / np.where(norms > 0, norms, 1)[:, None]).astype(np.float32, copy=False)
    return unit


def column_sums(unit: Matrix) -> NDArray[np.float64]:
    """Return the sum of unit rows: of a few as they are, of those sums in double precision."""
    total = np.zeros(unit.shape[1])
    for first in range(0, len(unit), PIECE):
        total += unit[first : first + PIECE].sum(axis=0)
    return total


def unit_query(vector: Matrix, dimension: int) -> Matrix:
    """Return one query as a flat vector of length one."""
    # Every search pays for this one: a single pass in double precision instead of the checks for many rows.
    given = np.asarray(vector)
    if given.size != dimension or given.dtype.kind not in "fiu":
        raise InputError(
            f"A query is one vector of {dimension} numbers.", hint="search once per query, with the index's embedder"
        )
    if given.ndim == 1 and given.dtype == np.float32 and abs(float(given @ given) - 1) < ONE_ENOUGH:
        return np.ascontiguousarray(given)  # what an embedder gives
    wide = given.reshape(-1).astype(np.float64)
    length = math.sqrt(wide @ wide)
    if not math.isfinite(length):
        raise InputError("The query's vector holds NaN or infinity.", hint="the embedder failed on the query")
    query: Matrix = (wide / length if length > 0 else wide).astype(np.float32)
    return query


def id_array(ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ids as an array, or raise `InputError` where one is not a whole number."""
    array = np.asarray(ids)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError("Row ids are whole numbers.")
    return array.astype(np.int64, copy=False)


def check_k(k: int) -> None:
    """Raise `InputError` where nothing could be asked for."""
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}.")


def products(matrix: Matrix, query: Matrix) -> Matrix:
    """Return the inner product of every row with a query, in the calling thread.

    `@` hands even small products to BLAS's own threads, which wait for each other by spinning: on two busy cores a
    product of half a millisecond took twenty-five.
    """
    scores: Matrix = np.vecdot(matrix, query)
    return scores
