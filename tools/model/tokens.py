"""Pairs as token ids in one compressed file, so that the machine that trains needs neither texts nor a tokenizer."""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint16]
_FILTERS = [
    {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 26, "lc": 0, "lp": 1, "pb": 1}
]
"""For numbers of two bytes."""


@dataclass(frozen=True, slots=True)
class TokenRows:
    """Many rows of token ids, one after the other in one array."""

    ids: Ids
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ends)

    def row(self, number: int) -> Ids:
        """Return the ids of one row."""
        start = self.ends[number - 1] if number else 0
        return self.ids[start : self.ends[number]]

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of ids of each row."""
        return np.diff(self.ends, prepend=0)

    @classmethod
    def join(cls, rows: Iterable[Ids]) -> TokenRows:
        """Return rows as one array."""
        listed = list(rows)
        return cls(
            np.concatenate([np.zeros(0, np.uint16), *listed]),
            np.cumsum([len(row) for row in listed], dtype=np.int64),
        )


@dataclass(frozen=True, slots=True)
class TokenPairs:
    """Queries and passages as token ids, and the number of the package that each pair comes from."""

    queries: TokenRows
    passages: TokenRows
    packages: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.packages)


def write_tokens(path: Path, pairs: TokenPairs) -> int:
    """Write pairs and return the size of the file in bytes."""
    buffer = io.BytesIO()
    np.savez(
        buffer,
        allow_pickle=False,
        passages=pairs.passages.ids,
        queries=pairs.queries.ids,
        passage_lengths=pairs.passages.lengths().astype(np.uint16),
        query_lengths=pairs.queries.lengths().astype(np.uint16),
        packages=pairs.packages.astype(np.uint16),
    )
    data = lzma.compress(buffer.getvalue(), filters=_FILTERS)
    path.write_bytes(data)
    return len(data)


def read_tokens(path: Path) -> TokenPairs:
    """Return the pairs of a file."""
    arrays = np.load(io.BytesIO(lzma.decompress(path.read_bytes())))
    return TokenPairs(
        TokenRows(arrays["queries"], np.cumsum(arrays["query_lengths"], dtype=np.int64)),
        TokenRows(arrays["passages"], np.cumsum(arrays["passage_lengths"], dtype=np.int64)),
        arrays["packages"].astype(np.int64),
    )
