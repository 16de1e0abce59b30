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
            f"A chunk size of {size} leaves nothing to cut.",
            hint="use a size of at least 1",
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
    packer = _Packer(units, size)
    chunks: list[tuple[int, int]] = []
    first = stop = 0
    while first < len(units):
        stop = packer.find_stop(first, beyond=stop)
        start = units[first].start
        if stop == len(units):
            chunks.append((start, end))
            break
        chunks.append((start, units[stop].start))
        if overlap:
            first = packer.step_back(first, stop, overlap)
        else:
            first = stop
    return chunks


class _Packer:
    """Finds where chunks start and stop. `sums[i]` is the weight of all units before unit `i`."""

    def __init__(self, units: Sequence[Unit], size: int) -> None:
        self.units = units
        self.size = size
        weights = [unit.weight for unit in units]
        self.sums = list(accumulate(weights, initial=0))

    def find_stop(self, first: int, *, beyond: int) -> int:
        """Return the index after the last unit of the chunk that starts at `first`; it is above `beyond`."""
        count = len(self.units)
        full = self._fill(first)
        if full in (count, first + 1):
            return full
        earliest = max(first, beyond) + 1
        rest = self.sums[count] - self.sums[first]
        if rest <= self.size * (1 + _MIN_FILL):
            return self._halve(first, range(earliest, full + 1))
        best = full
        min_sum = self.sums[first] + self.size * _MIN_FILL
        strongest = self.units[full].border
        for index in reversed(range(earliest, full)):
            if self.sums[index] < min_sum:
                break
            border = self.units[index].border
            if border > strongest:
                best = index
                strongest = border
        return best

    def step_back(self, first: int, stop: int, overlap: int) -> int:
        """Return the first unit of the next chunk: at least `overlap` back, with room for one more unit."""
        start = stop
        max_sum = self.sums[stop] - overlap
        while start > first + 1 and self.sums[start] > max_sum:
            start -= 1
        min_sum = self.sums[stop + 1] - self.size
        while start < stop and self.sums[start] < min_sum:
            start += 1
        return start

    def _fill(self, first: int) -> int:
        """Return the index after the last unit that fits; the chunk has at least one unit."""
        max_sum = self.sums[first] + self.size
        full = first + 1
        while full < len(self.units) and self.sums[full + 1] <= max_sum:
            full += 1
        return full

    def _halve(self, first: int, choices: range) -> int:
        """Return where to part the last two chunks: near the middle, not a full chunk and a crumb."""
        total = self.sums[-1]
        middle = (self.sums[first] + total) / 2
        fitting = [index for index in choices if total - self.sums[index] <= self.size]

        def rank(index: int) -> tuple[int, float]:
            distance = abs(self.sums[index] - middle)
            return self.units[index].border, -distance

        return max(fitting, key=rank, default=choices[-1])
