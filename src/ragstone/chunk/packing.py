"""Packing whole units into chunks up to a size, broken at the strongest borders."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from ragstone.errors import InputError
from ragstone.text.units import Unit

_MIN_FILL: Final = 0.5
"""A stronger border is preferred to a fuller chunk only if the chunk is at least this full."""


def check_sizes(size: int, overlap: int = 0) -> None:
    """Raise `InputError` if these sizes allow no chunk."""
    if size <= 0:
        raise InputError(
            f"A chunk size of {size} leaves nothing to cut.", hint="use a size of at least 1"
        )
    if overlap < 0:
        raise InputError(f"An overlap of {overlap} makes no sense.", hint="use 0 or more")
    if overlap >= size:
        raise InputError(
            f"An overlap of {overlap} is not smaller than the chunk size of {size}.",
            hint=f"use an overlap below {size}, or a larger size",
        )


def pack_units(
    units: Sequence[Unit], end: int, *, size: int, overlap: int = 0
) -> list[tuple[int, int]]:
    """Return (start, end) of chunks of whole units that weigh at most `size`, or of one heavier unit.

    With an overlap, a chunk starts at the unit that is `overlap` before the end of the last chunk.
    """
    sums = list(accumulate((unit.weight for unit in units), initial=0))
    chunks: list[tuple[int, int]] = []
    first = stop = 0
    while first < len(units):
        stop = _find_stop(units, sums, first, size=size, beyond=stop)
        chunk_end = units[stop].start if stop < len(units) else end
        chunks.append((units[first].start, chunk_end))
        if overlap and stop < len(units):
            first = _step_back(sums, first, stop, size=size, overlap=overlap)
        else:
            first = stop
    return chunks


def _find_stop(
    units: Sequence[Unit], sums: Sequence[int], first: int, *, size: int, beyond: int
) -> int:
    """Return the index after the last unit of the chunk that starts at `first`; it is above `beyond`."""
    count = len(units)
    full = first + 1
    while full < count and sums[full + 1] - sums[first] <= size:
        full += 1
    if full in (count, first + 1):
        return full
    rest = sums[count] - sums[first]
    if rest <= size * (1 + _MIN_FILL):
        return _halve(units, sums, first, full=full, size=size, beyond=beyond)
    best = full
    min_sum = sums[first] + size * _MIN_FILL
    for index in range(full - 1, max(first, beyond), -1):
        if sums[index] < min_sum:
            break
        if units[index].border > units[best].border:
            best = index
    return best


def _halve(
    units: Sequence[Unit], sums: Sequence[int], first: int, *, full: int, size: int, beyond: int
) -> int:
    """Return where to part the last two chunks: near the middle, not a full chunk and a crumb."""
    middle = (sums[first] + sums[-1]) / 2
    fitting = [
        index for index in range(max(first, beyond) + 1, full + 1) if sums[-1] - sums[index] <= size
    ]
    return max(
        fitting, key=lambda index: (units[index].border, -abs(sums[index] - middle)), default=full
    )


def _step_back(sums: Sequence[int], first: int, stop: int, *, size: int, overlap: int) -> int:
    """Return the first unit of the next chunk: at least `overlap` back, with room for one more unit."""
    start = stop
    while start > first + 1 and sums[stop] - sums[start] < overlap:
        start -= 1
    while start < stop and sums[stop + 1] - sums[start] > size:
        start += 1
    return start
