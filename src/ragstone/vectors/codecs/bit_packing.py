"""Small codes packed into bytes and back, for any width from 1 to 8 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def pack(codes: Bytes, bits: int) -> Bytes:
    """Return rows of codes packed into bytes; the number of codes in a row is a multiple of 8."""
    spread = (codes[:, :, None] >> np.arange(bits, dtype=np.uint8)) & np.uint8(1)
    return np.packbits(spread.reshape(len(codes), codes.shape[1] * bits), axis=1, bitorder="little")


def unpack(packed: Bytes, bits: int) -> Bytes:
    """Return rows of codes as they were before `pack`."""
    count = packed.shape[1] * 8 // bits
    spread = np.unpackbits(packed, axis=1, bitorder="little").reshape(len(packed), count, bits)
    codes: Bytes = (spread << np.arange(bits, dtype=np.uint8)).sum(axis=2, dtype=np.uint8)
    return codes
