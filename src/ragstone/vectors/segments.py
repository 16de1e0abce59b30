"""Slots of the turbo index in pieces of fixed size, in a mapped file or in memory, with one layout for both.

A piece is ids, then the sign plane word by word (so that a scan reads straight through), then the codes row by row.
Slots are written once and never changed: a reader that knows a count may read below it while a writer works above.
"""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.private_files import private

CAPACITY = 32_768


@dataclass(frozen=True, slots=True)
class Slots:
    """Encoded vectors on their way into a segment."""

    ids: NDArray[np.int64]
    words: NDArray[np.uint64]
    codes: NDArray[np.uint8]

    def part(self, first: int, last: int) -> Slots:
        """Return some of them."""
        return Slots(self.ids[first:last], self.words[first:last], self.codes[first:last])


@dataclass(frozen=True, slots=True)
class Segment:
    """What a reader sees of a piece: its slots below `count`."""

    ids: NDArray[np.int64]
    planes: NDArray[np.uint64]
    codes: NDArray[np.uint8]
    count: int
    buffer: NDArray[np.uint8]

    def checksum(self) -> int:
        """Return the CRC-32 over all slots."""
        crc = zlib.crc32(self.ids.data)
        for plane in self.planes:
            crc = zlib.crc32(plane[: self.count].data, crc)
        return zlib.crc32(self.codes.data, crc)

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
    return layout.view(np.frombuffer(mapped, np.uint8), count)


def write_slots(path: Path, layout: Layout, first: int, slots: Slots) -> Segment:
    """Write slots behind those that are there, and return the file as a segment.

    Written, not mapped: on a full disk a write fails with an error, a mapped page kills the process.
    """
    count = first + len(slots.ids)
    with open(path, "r+b" if path.exists() else "w+b", opener=private) as file:
        for offset, piece in layout.pieces(first, slots):
            file.seek(offset)
            file.write(np.ascontiguousarray(piece).tobytes())
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
