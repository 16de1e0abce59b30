"""Small codes packed into bytes and back, any width from 1 to 8 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def pack(codes: Bytes, bits: int) -> Bytes:
    """Return rows of codes packed; a row's count of codes is a multiple of 8."""
    if 8 % bits == 0:
        per_byte = 8 // bits
        packed: Bytes = codes[:, ::per_byte].copy()
        for place in range(1, per_byte):
            packed |= codes[:, place::per_byte] << np.uint8(bits * place)
        return packed
    spread = (codes[:, :, None] >> np.arange(bits, dtype=np.uint8)) & np.uint8(1)
    return np.packbits(spread.reshape(len(codes), codes.shape[1] * bits), axis=1, bitorder="little")


def unpack(packed: Bytes, bits: int) -> Bytes:
    """Return rows of codes as they were before `pack`."""
    rows = len(packed)
    if 8 % bits == 0:
        per_byte = 8 // bits
        codes: Bytes = np.empty((rows, packed.shape[1] * per_byte), np.uint8)
        for place in range(per_byte):
            codes[:, place::per_byte] = (packed >> np.uint8(bits * place)) & np.uint8(2**bits - 1)
        return codes
    spread = np.unpackbits(packed, axis=1, bitorder="little").reshape(rows, packed.shape[1] * 8 // bits, bits)
    together: Bytes = (spread << np.arange(bits, dtype=np.uint8)).sum(axis=2, dtype=np.uint8)
    return together
