"""Segments of the turbo index: up to 32,768 encoded vectors in one file, written once and never changed."""

from __future__ import annotations

import mmap
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.normalise import Ids
from ragstone.vectors.turbo.bit_planes import Codes, Words
from ragstone.vectors.turbo.private_files import open_private

CAPACITY = 32_768


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """The name of a segment's file, the number of its vectors and the CRC-32 of its bytes."""

    name: str
    count: int
    checksum: int


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Ids, sign planes (one row per 64 coordinates) and codes (one row per vector); `file` once it is on disk."""

    ids: Ids
    planes: Words
    codes: Codes
    file: SegmentFile | None = None

    @property
    def count(self) -> int:
        """Return the number of vectors."""
        return len(self.ids)

    def followed_by(self, other: Segment) -> Segment:
        """Return a new segment that holds the vectors of both."""
        return Segment(
            np.concatenate([self.ids, other.ids]),
            np.concatenate([self.planes, other.planes], axis=1),
            np.concatenate([self.codes, other.codes]),
        )

    def part(self, start: int, end: int) -> Segment:
        """Return a new segment with some of the vectors."""
        return Segment(self.ids[start:end], self.planes[:, start:end], self.codes[start:end])


def write_segment(path: Path, segment: Segment) -> Segment:
    """Write a segment to a new file and return the segment mapped from it.

    The bytes are written, not mapped: on a full disk a write fails with an error, a mapped page kills the process.
    """
    checksum = 0
    with open(path, "wb", opener=open_private) as file:
        for array in (segment.ids, segment.planes, segment.codes):
            data = np.ascontiguousarray(array).tobytes()
            checksum = zlib.crc32(data, checksum)
            file.write(data)
    data_on_disk = _map_bytes(path)
    mapped = _read_arrays(data_on_disk, segment.count, len(segment.planes))
    return replace(mapped, file=SegmentFile(path.name, segment.count, checksum))


def map_segment(folder: Path, file: SegmentFile, *, words: int) -> Segment:
    """Return a segment mapped from its file; raise `OSError` or `ValueError` if the file is missing or damaged."""
    data = _map_bytes(folder / file.name)
    if zlib.crc32(data.data) != file.checksum:
        raise ValueError(f"{file.name} is damaged")
    return replace(_read_arrays(data, file.count, words), file=file)


def _map_bytes(path: Path) -> NDArray[np.uint8]:
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, np.uint8)


def _read_arrays(data: NDArray[np.uint8], count: int, words: int) -> Segment:
    ids_end = 8 * count
    planes_end = ids_end + 8 * count * words
    ids = data[:ids_end].view(np.int64)
    planes = data[ids_end:planes_end].view(np.uint64).reshape(words, count)
    codes = data[planes_end:].reshape(count, 32 * words)
    return Segment(ids, planes, codes)
