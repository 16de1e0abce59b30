"""Segments are read back from their files as they were written, or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.vectors.turbo import snapshot as module
from ragstone.vectors.turbo.segments import Segment, map_segment, write_segment
from ragstone.vectors.turbo.snapshot import IndexSnapshot

WORDS = 2


def random_segment(count: int, seed: int = 0) -> Segment:
    random = np.random.default_rng(seed)
    return Segment(
        random.integers(0, 2**60, count, dtype=np.int64),
        random.integers(0, 2**64, (WORDS, count), dtype=np.uint64),
        random.integers(0, 256, (count, 32 * WORDS), dtype=np.uint8),
    )


def are_equal(first: Segment, second: Segment) -> bool:
    pairs = (
        (first.ids, second.ids),
        (first.planes, second.planes),
        (first.codes, second.codes),
    )
    return all(np.array_equal(one, other) for one, other in pairs)


def test_a_segment_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    segment = random_segment(300)
    written = write_segment(tmp_path / "s.planes", segment)
    assert written.file is not None
    assert are_equal(written, segment)
    assert are_equal(map_segment(tmp_path, written.file, words=WORDS), segment)


@pytest.mark.parametrize("place", [0, 3000, -1])
def test_a_damaged_file_is_refused(tmp_path: Path, place: int) -> None:
    path = tmp_path / "s.planes"
    file = write_segment(path, random_segment(50)).file
    assert file is not None
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="damaged"):
        map_segment(tmp_path, file, words=WORDS)


def test_a_file_that_is_cut_off_or_missing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.planes"
    file = write_segment(path, random_segment(50)).file
    assert file is not None
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="damaged"):
        map_segment(tmp_path, file, words=WORDS)
    with pytest.raises(OSError, match="missing"):
        map_segment(tmp_path, replace(file, name="missing"), words=WORDS)


@given(sizes=st.lists(st.integers(0, 25), max_size=6))
def test_all_segments_but_the_last_are_full(sizes: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CAPACITY", 10)
        snapshot = IndexSnapshot()
        segments = [random_segment(size, seed) for seed, size in enumerate(sizes)]
        for segment in segments:
            snapshot = snapshot.extended_by(segment)
        assert all(segment.count == 10 for segment in snapshot.segments[:-1])
        ids = [row_id for segment in segments for row_id in segment.ids.tolist()]
        assert snapshot.ids.tolist() == ids
        if ids:
            slots = np.arange(0, len(ids), 3)
            codes = np.concatenate([segment.codes for segment in segments])
            assert np.array_equal(snapshot.codes_at(slots), codes[slots])
