"""Small codes packed into bytes and back, for any width from 1 to 8 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def pack(codes: Bytes, bits: int) -> Bytes:
    """Return rows of codes packed into bytes; the number of codes in a row is a multiple of 8."""
    rows, count = codes.shape
    shifts = np.arange(bits, dtype=np.uint8)
    spread = (codes[:, :, None] >> shifts) & np.uint8(1)
    flat = spread.reshape(rows, count * bits)
    return np.packbits(flat, axis=1, bitorder="little")


def unpack(packed: Bytes, bits: int) -> Bytes:
    """Return rows of codes as they were before `pack`."""
    rows, size = packed.shape
    count = size * 8 // bits
    shifts = np.arange(bits, dtype=np.uint8)
    flat = np.unpackbits(packed, axis=1, bitorder="little")
    spread = flat.reshape(rows, count, bits)
    codes: Bytes = (spread << shifts).sum(axis=2, dtype=np.uint8)
    return codes
