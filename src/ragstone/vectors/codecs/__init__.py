"""Codecs: how a vector is encoded as the bytes of a row in the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ragstone.errors import ConfigError
from ragstone.protocols import Codec
from ragstone.vectors.codecs.compact import CompactCodec
from ragstone.vectors.codecs.integers import EvenCodec, Int10Codec
from ragstone.vectors.codecs.row_codec import read_rows as read_rows

CODECS: Mapping[str, Callable[[int], Codec]] = {
    "int10": Int10Codec,
    "compact": CompactCodec,
    "int16": partial(EvenCodec, bits=16),
    "int8": partial(EvenCodec, bits=8),
}
"""`int16` and `int8` are no longer offered as settings; vectors of version 0.1 may be stored in them."""


def codec(name: str, dimension: int) -> Codec:
    """Return the codec of that name; raise `ConfigError` if there is none."""
    if name not in CODECS:
        raise ConfigError(
            f"There is no vector storage {name!r}.", hint=f"use one of: {', '.join(CODECS)}"
        )
    if dimension < 1:
        raise ConfigError(f"A vector has at least one number, not {dimension}.")
    return CODECS[name](dimension)
