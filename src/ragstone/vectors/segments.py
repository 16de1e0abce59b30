"""Slots of the turbo index in pieces of fixed size, in a mapped file or in memory, with one layout for both.

A piece is ids, then the sign plane word by word (so that a scan reads straight through), then the codes row by row.
Slots are written once and never changed: a reader that knows a count may read below it while a writer works above.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.private_files import private

CAPACITY = 32_768
_MODULO = (1 << 64) - 1
_TIMES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)  # odd: what stands elsewhere sums up otherwise


@dataclass(frozen=True, slots=True)
class Slots:
    """Encoded vectors on their way into a segment."""

    ids: NDArray[np.int64]
    words: NDArray[np.uint64]
    codes: NDArray[np.uint8]

    def part(self, first: int, last: int) -> Slots:
        """Return some of them."""
        return Slots(self.ids[first:last], self.words[first:last], self.codes[first:last])

    def checksum(self) -> int:
        """Return what these slots add to the checksum of their segment."""
        return _checksum(self.ids, self.words.T, self.codes)


@dataclass(frozen=True, slots=True)
class Segment:
    """What a reader sees of a piece: its slots below `count`."""

    ids: NDArray[np.int64]
    planes: NDArray[np.uint64]
    codes: NDArray[np.uint8]
    count: int
    buffer: NDArray[np.uint8]
    mapped: mmap.mmap | None = None

    def checksum(self) -> int:
        """Return the checksum over all slots: sums, which slots behind can be added to, and as quick as reading."""
        return _checksum(self.ids, self.planes[:, : self.count], self.codes)

    def rest(self) -> None:
        """Let the system count a mapped file's pages as its own again, until the next look at them."""
        if self.mapped is not None and hasattr(self.mapped, "madvise"):
            self.mapped.madvise(mmap.MADV_DONTNEED)

    def slots(self) -> Slots:
        """Return the slots as they would be written again."""
        return Slots(self.ids, np.ascontiguousarray(self.planes[:, : self.count].T), self.codes)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things stand in a segment."""

    words: int
    code_bytes: int

    @property
    def codes_at(self) -> int:
        """Return the offset of the codes."""
        return CAPACITY * 8 * (1 + self.words)

    def size(self, count: int) -> int:
        """Return how long a segment with that many slots is; the codes stand last and grow."""
        return self.codes_at + count * self.code_bytes

    def view(self, buffer: NDArray[np.uint8], count: int) -> Segment:
        """Return a buffer seen as a segment."""
        planes_at = CAPACITY * 8
        ids = buffer[: count * 8].view(np.int64)
        planes = buffer[planes_at : self.codes_at].view(np.uint64).reshape(self.words, CAPACITY)
        codes = buffer[self.codes_at : self.size(count)].reshape(count, self.code_bytes)
        return Segment(ids, planes, codes, count, buffer)

    def pieces(self, first: int, slots: Slots) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield what to write where so that slots stand from place `first` on."""
        yield first * 8, slots.ids
        for word in range(self.words):
            yield CAPACITY * 8 * (1 + word) + first * 8, np.ascontiguousarray(slots.words[:, word])
        yield self.size(first), slots.codes


def map_segment(path: Path, layout: Layout, count: int) -> Segment:
    """Return a file seen as a segment; `OSError` or `ValueError` where it is not there or too short."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), layout.size(count), access=mmap.ACCESS_READ)
    return replace(layout.view(np.frombuffer(mapped, np.uint8), count), mapped=mapped)


def write_slots(path: Path, layout: Layout, first: int, slots: Slots) -> Segment:
    """Write slots behind those that are there, and return the file as a segment.

    Written, not mapped: on a full disk a write fails with an error, a mapped page kills the process.
    """
    count = first + len(slots.ids)
    with open(path, "r+b" if path.exists() else "w+b", opener=private) as file:
        for offset, piece in layout.pieces(first, slots):
            file.seek(offset)
            file.write(np.ascontiguousarray(piece).data)
        file.flush()
    return map_segment(path, layout, count)


def hold_slots(before: Segment | None, layout: Layout, slots: Slots) -> Segment:
    """Return a segment in memory that has these slots behind those of the one before."""
    first = before.count if before else 0
    if before is None or not before.buffer.flags.writeable:
        buffer = np.zeros(layout.size(CAPACITY), np.uint8)
        if before is not None:
            _fill(buffer, layout, 0, before.slots())
    else:
        buffer = before.buffer
    _fill(buffer, layout, first, slots)
    return layout.view(buffer, first + len(slots.ids))


def _fill(buffer: NDArray[np.uint8], layout: Layout, first: int, slots: Slots) -> None:
    for offset, piece in layout.pieces(first, slots):
        flat = np.ascontiguousarray(piece).reshape(-1).view(np.uint8)
        buffer[offset : offset + len(flat)] = flat


def added(one: int, other: int) -> int:
    """Return the checksum of slots with those of two parts."""
    return (one + other) & _MODULO


def _checksum(ids: NDArray[np.int64], planes: NDArray[np.uint64], codes: NDArray[np.uint8]) -> int:
    """Return the sum over ids, over each plane of signs, over codes, each times a number of its own."""
    one, other, third = _TIMES
    total = int(ids.sum(dtype=np.int64)) * one
    for number, plane in enumerate(planes):
        total += int(plane.sum(dtype=np.uint64)) * (other + 2 * number)
    total += int(codes.view(np.uint64).sum(dtype=np.uint64)) * third if codes.size else 0
    return total & _MODULO
