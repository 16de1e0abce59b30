"""Rows of one fixed layout: a scale and some fields of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import StoreError
from ragstone.protocols import Codec
from ragstone.types import Matrix

LENGTH_SLACK = 0.25
"""How far the length of a decoded vector may be from one: four bits a number do not keep it exactly."""

Table = NDArray[np.void]
"""Rows as a structured array."""


class RowCodec:
    """The base of all codecs: converts rows of bytes to a structured array and back."""

    name = ""

    def __init__(self, dimension: int, fields: list[tuple[str, str, tuple[int]]]) -> None:
        """Fix the layout of a row: the scale, then these fields."""
        self.dimension = dimension
        self._layout = np.dtype([("scale", "<f4"), *fields])
        self.row_bytes = self._layout.itemsize

    def decode(self, rows: Sequence[bytes]) -> Matrix:
        """Return the vectors of these rows; raise `StoreError` if one has the wrong length."""
        raise NotImplementedError

    def sound(self, rows: Sequence[bytes]) -> list[bool]:
        """Return for each row whether it is a vector: the right length, and numbers."""
        return read_rows(self, rows)[0]

    def _to_table(self, rows: Sequence[bytes]) -> Table:
        """Return the rows as one structured array; raise `StoreError` if one has the wrong length."""
        for row in rows:
            if len(row) != self.row_bytes:
                raise StoreError(
                    f"A stored vector is damaged: it has {len(row)} bytes instead of {self.row_bytes}.",
                    hint="embed the collection again",
                )
        return np.frombuffer(b"".join(rows), self._layout)

    def _to_rows(self, table: Table) -> list[bytes]:
        """Return the bytes of every row of a structured array."""
        rows: list[bytes] = table.view(f"V{self.row_bytes}").tolist()
        return rows


def read_rows(codec: Codec | RowCodec, rows: Sequence[bytes]) -> tuple[list[bool], Matrix]:
    """Return for each row whether it is a vector (the right length, and numbers), and the vectors of those that are."""
    has_length = [len(row) == codec.row_bytes for row in rows]
    matrix = codec.decode(list(compress(rows, has_length)))
    with np.errstate(all="ignore"):  # a damaged row may hold numbers that overflow
        lengths = np.sqrt(np.vecdot(matrix, matrix))
        is_unit = np.abs(lengths - 1.0) < LENGTH_SLACK
    sound = np.array(has_length, np.bool_)
    sound[sound] = is_unit
    return sound.tolist(), matrix[is_unit]
