"""Filling chunks: whole units up to a size, broken where the border is strongest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ragstone.errors import InputError

_LEAST_FILL: Final = 0.5
"""A stronger border is preferred to a fuller chunk only while the chunk is at least this full."""


class Unit(NamedTuple):
    """A piece that is not broken: where it starts, what it weighs, how strong the border before it is."""

    start: int
    weight: int
    border: int = 0


def check_sizes(size: int, overlap: int = 0) -> None:
    """Raise `InputError` where no chunk could be cut by these sizes."""
    if size <= 0:
        raise InputError(f"A chunk size of {size} leaves nothing to cut.", hint="use a size of at least 1")
    if overlap < 0:
        raise InputError(f"An overlap of {overlap} makes no sense.", hint="use 0 or more")
    if overlap >= size:
        raise InputError(
            f"An overlap of {overlap} is not smaller than the chunk size of {size}.",
            hint=f"use an overlap below {size}, or a larger size",
        )


def pack(units: Sequence[Unit], end: int, *, size: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Return (start, end) of chunks of whole units that weigh at most `size`, or of one unit that alone weighs more.

    With an overlap, a chunk begins at the unit that holds the place `overlap` before the last chunk's end.
    """
    sums = [0]
    for unit in units:
        sums.append(sums[-1] + unit.weight)
    found: list[tuple[int, int]] = []
    first, stop, count = 0, 0, len(units)
    while first < count:
        stop = _stop(units, sums, first, size=size, beyond=stop)
        found.append((units[first].start, units[stop].start if stop < count else end))
        first = stop if stop == count or not overlap else _rewound(sums, first, stop, size, overlap)
    return found


def _stop(units: Sequence[Unit], sums: list[int], first: int, *, size: int, beyond: int) -> int:
    """Return the index behind the last unit of the chunk that starts with `first` and has to end behind `beyond`."""
    count = len(units)
    full = first + 1
    while full < count and sums[full + 1] - sums[first] <= size:
        full += 1
    if full == count or full == first + 1:
        return full
    rest = sums[count] - sums[first]
    if rest <= size + size * _LEAST_FILL:  # the last two: halves rather than a whole and a crumb
        fitting = [at for at in range(max(first, beyond) + 1, full + 1) if sums[count] - sums[at] <= size]
        middle = sums[first] + rest / 2
        return max(fitting, key=lambda at: (units[at].border, -abs(sums[at] - middle)), default=full)
    least = sums[first] + size * _LEAST_FILL
    best = full
    for at in range(full - 1, max(first, beyond), -1):
        if sums[at] < least:
            break
        if units[at].border > units[best].border:
            best = at
    return best


def _rewound(sums: list[int], first: int, stop: int, size: int, overlap: int) -> int:
    """Return the unit the next chunk starts with: at least `overlap` back, yet with room for one more unit."""
    at = stop
    while at > first + 1 and sums[stop] - sums[at] < overlap:
        at -= 1
    while at < stop and sums[stop + 1] - sums[at] > size:
        at += 1
    return at
