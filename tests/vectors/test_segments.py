"""Segments: a checksum that grows with its slots and shows damage, and pages that can be given back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragstone.vectors.segments import Layout, Slots, added, map_segment, write_slots

LAYOUT = Layout(words=2, code_bytes=64)


def slots(count: int, seed: int) -> Slots:
    random = np.random.default_rng(seed)
    return Slots(
        random.integers(0, 2**60, count, dtype=np.int64),
        random.integers(0, 2**64, (count, 2), dtype=np.uint64),
        random.integers(0, 256, (count, 64), dtype=np.uint8),
    )


@given(first=st.integers(0, 40), second=st.integers(0, 40))
def test_the_checksum_of_two_parts_is_that_of_the_whole(first: int, second: int) -> None:
    whole = slots(first + second, seed=1)
    parts = whole.part(0, first), whole.part(first, first + second)
    assert added(parts[0].checksum(), parts[1].checksum()) == whole.checksum()


def test_a_file_written_in_two_goes_has_the_checksum_of_its_slots(tmp_path: Path) -> None:
    whole = slots(300, seed=2)
    write_slots(tmp_path / "s", LAYOUT, 0, whole.part(0, 100))
    segment = write_slots(tmp_path / "s", LAYOUT, 100, whole.part(100, 300))
    assert segment.checksum() == whole.checksum()
    assert map_segment(tmp_path / "s", LAYOUT, 100).checksum() == whole.part(0, 100).checksum()


@given(bit=st.integers(0, 8 * 50 * (8 + 16 + 64) - 1))
def test_any_flipped_bit_changes_the_checksum(bit: int) -> None:
    sound, damaged = slots(50, seed=3), slots(50, seed=3)
    place, within = divmod(bit, 8)
    for array in (damaged.ids, damaged.words, damaged.codes):
        flat = array.reshape(-1).view(np.uint8)
        if 0 <= place < len(flat):
            flat[place] ^= np.uint8(1 << within)
        place -= len(flat)
    assert damaged.checksum() != sound.checksum()


def test_words_of_signs_in_each_others_place_change_the_checksum() -> None:
    sound = slots(50, seed=4)
    swapped = Slots(sound.ids, np.ascontiguousarray(sound.words[:, ::-1]), sound.codes)
    assert swapped.checksum() != sound.checksum()


def test_a_segment_whose_pages_were_given_back_reads_the_same(tmp_path: Path) -> None:
    segment = write_slots(tmp_path / "s", LAYOUT, 0, slots(500, seed=5))
    before = segment.checksum()
    segment.rest()
    assert segment.checksum() == before
