"""Whatever happens to the files of the turbo index, searches are right and nobody fails."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ragstone
from ragstone.vectors import turbo
from ragstone.vectors.folder_lock import try_lock
from ragstone.vectors.memory_rows import MemoryRows
from ragstone.vectors.planes import Planes
from ragstone.vectors.rows import Int16Codec
from ragstone.vectors.turbo import TAIL, TurboIndex
from tests.support.clusters import fill_index

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

DIMENSION = 32
COUNT = 5000
CODEC = Int16Codec(DIMENSION)
VECTORS: Matrix = np.random.default_rng(1).standard_normal((COUNT + 1000, DIMENSION)).astype(np.float32)
ENCODED = CODEC.encode(VECTORS)
FIRST = 3000  # so many that the centre is not taken again for a tail more
UNIT: Matrix = np.random.default_rng(3).standard_normal((FIRST + TAIL, DIMENSION)).astype(np.float32)
UNIT /= np.linalg.norm(UNIT, axis=1, keepdims=True)


@pytest.fixture
def rows() -> MemoryRows:
    """Return what the store would have: `COUNT` rows, ids from 1."""
    made = MemoryRows()
    made.put(range(1, COUNT + 1), ENCODED[:COUNT])
    return made


@pytest.fixture
def folder(rows: MemoryRows, tmp_path: Path) -> Path:
    """Return a folder with a sound cache of all rows."""
    index = opened(tmp_path / "turbo", rows)
    fill_index(index, rows, CODEC)
    index.flush()
    index.close()
    return tmp_path / "turbo"


def opened(folder: Path, rows: MemoryRows, stamp: str = "store 1") -> TurboIndex:
    return TurboIndex(folder, DIMENSION, rows=rows, codec=CODEC, stamp=stamp)


def is_right(index: TurboIndex, count: int = COUNT) -> bool:
    """Return whether the index has every row once and finds each of some as its own nearest."""
    places = range(0, count, count // 40)
    return index.count() == count and all(index.search(VECTORS[place], 1)[0].id == place + 1 for place in places)


def header(folder: Path) -> Path:
    return folder / "header.json"


def segment(folder: Path) -> Path:
    return next(folder.glob("*.planes"))


def cut_to(share: float) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])

    return damage


def flip_at(share: float) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[int((len(data) - 1) * share)] ^= 0x10
        path.write_bytes(bytes(data))

    return damage


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def test_a_sound_cache_is_opened_as_it_is(folder: Path, rows: MemoryRows) -> None:
    index = opened(folder, rows)
    assert index.count() == COUNT
    assert is_right(index)


@pytest.mark.parametrize("file", [header, segment])
@pytest.mark.parametrize(
    "damage",
    [Path.unlink, zero, cut_to(0), cut_to(0.5), cut_to(0.999), flip_at(0), flip_at(0.01), flip_at(0.5), flip_at(1)],
)
def test_a_damaged_cache_is_thrown_away_and_filled_again(
    folder: Path, rows: MemoryRows, file: Callable[[Path], Path], damage: Callable[[Path], None]
) -> None:
    path = file(folder)
    before = path.read_bytes()
    damage(path)
    unseen = file is segment and path.exists() and _only_unused_slots_differ(before, path.read_bytes())
    index = opened(folder, rows)
    assert index.count() == (COUNT if unseen else 0)
    fill_index(index, rows, CODEC)
    assert index.count() == COUNT
    assert is_right(index)
    index.flush()
    index.close()
    assert opened(folder, rows).count() == COUNT


def _only_unused_slots_differ(before: bytes, after: bytes) -> bool:
    """Return whether damage hit room that no slot uses yet, which nobody reads."""
    if len(before) != len(after):
        return False
    place = next(at for at, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)
    per_array = 32_768 * 8
    return place < 2 * per_array and place % per_array >= COUNT * 8


def test_a_header_whose_checksum_is_only_as_good_as_right_is_thrown_away(folder: Path, rows: MemoryRows) -> None:
    # A space where a zero stood would still be read as the same number: every sixteenth time that is what a flip makes.
    path = header(folder)
    checksum, _, body = path.read_bytes().partition(b"\n")
    path.write_bytes(b" " + checksum + b"\n" + body)
    assert opened(folder, rows).count() == 0


def test_the_cache_of_another_store_is_not_ours(folder: Path, rows: MemoryRows) -> None:
    index = opened(folder, rows, stamp="store 2")
    assert index.count() == 0
    fill_index(index, rows, CODEC)
    index.flush()
    assert is_right(index)
    assert opened(folder, rows, stamp="store 2").count() == COUNT
    assert opened(folder, rows, stamp="store 1").count() == 0


@pytest.mark.parametrize(("field", "value"), [("format", 99), ("magic", "other"), ("dimension", 31), ("seed", 1)])
def test_a_cache_of_another_make_is_not_ours(folder: Path, rows: MemoryRows, field: str, value: object) -> None:
    about = json.loads(header(folder).read_bytes().partition(b"\n")[2])
    body = json.dumps({**about, field: value}).encode()
    header(folder).write_bytes(f"{zlib.crc32(body):08x}\n".encode() + body)
    index = opened(folder, rows)
    assert index.count() == 0
    fill_index(index, rows, CODEC)
    assert is_right(index)


def test_slots_a_dead_writer_left_behind_are_not_looked_at(folder: Path, rows: MemoryRows) -> None:
    sound = header(folder).read_bytes()
    writer = opened(folder, rows)
    more = MemoryRows()
    more.put(range(COUNT + 1, COUNT + 501), ENCODED[COUNT : COUNT + 500])
    fill_index(writer, more, CODEC)
    writer.flush()
    writer.close()
    header(folder).write_bytes(sound)  # it died before its last step
    index = opened(folder, rows)
    assert index.count() == COUNT
    assert is_right(index)
    index.upsert([COUNT + 1], VECTORS[COUNT : COUNT + 1])
    index.flush()
    assert opened(folder, rows).count() == COUNT + 1


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(rows: MemoryRows, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    index = opened(blocked / "turbo", rows)
    fill_index(index, rows, CODEC)
    index.flush()
    assert is_right(index)
    assert blocked.read_text() == "not a folder"


def test_a_folder_removed_under_an_open_index_is_written_again(folder: Path, rows: MemoryRows) -> None:
    index = opened(folder, rows)
    shutil.rmtree(folder)
    assert is_right(index)
    index.upsert([COUNT + 1], VECTORS[COUNT : COUNT + 1])
    index.flush()
    assert opened(folder, rows).count() == COUNT + 1


def test_while_another_process_writes_the_tail_waits_in_memory(folder: Path, rows: MemoryRows) -> None:
    index = opened(folder, rows)
    with try_lock(folder) as held:
        assert held
        index.upsert([COUNT + 1], VECTORS[COUNT : COUNT + 1])
        index.flush()
        assert opened(folder, rows).count() == COUNT
        assert is_right(index, COUNT + 1)
    index.flush()
    assert opened(folder, rows).count() == COUNT + 1


def test_what_another_process_has_laid_in_is_not_laid_in_twice(folder: Path, rows: MemoryRows) -> None:
    one, other = opened(folder, rows), opened(folder, rows)
    for index, last in ((one, 700), (other, 900)):
        index.upsert(range(COUNT + 1, COUNT + last + 1), VECTORS[COUNT : COUNT + last])
    one.flush()
    other.delete([1])
    other.flush()
    for index in (other, opened(folder, rows)):
        assert (index.count(), index.has([1])) == (COUNT + 899, [False])
        assert index._state.view.count == COUNT + 900


def test_a_folder_taken_over_by_a_newer_store_is_left_to_it(folder: Path, rows: MemoryRows) -> None:
    old = opened(folder, rows)
    newer = opened(folder, rows, stamp="store 2")
    fill_index(newer, rows, CODEC)
    newer.flush()
    old.upsert([COUNT + 1], VECTORS[COUNT : COUNT + 1])
    old.flush()
    assert is_right(old, COUNT + 1)
    assert opened(folder, rows, stamp="store 2").count() == COUNT


def test_dropping_leaves_no_files_of_ours(folder: Path, rows: MemoryRows) -> None:
    (folder / "note.txt").write_text("a stranger's")
    index = opened(folder, rows)
    index.drop()
    assert {path.name for path in folder.iterdir()} <= {"lock", "note.txt"}
    assert opened(folder, rows).count() == 0


SEARCH_PATH = os.pathsep.join([str(Path(ragstone.__file__).parents[1]), str(Path(__file__).parents[2])])
WORKER = """
import sys
from pathlib import Path
import numpy as np
from tests.support.clusters import fill_index
from ragstone.vectors.memory_rows import MemoryRows
from ragstone.vectors.rows import Int16Codec
from ragstone.vectors.turbo import TurboIndex

folder, count = Path(sys.argv[1]), int(sys.argv[2])
codec = Int16Codec(32)
vectors = np.random.default_rng(1).standard_normal((count, 32)).astype(np.float32)
rows = MemoryRows()
encoded = codec.encode(vectors)
index = TurboIndex(folder, 32, rows=rows, codec=codec, stamp="shared")
print("ready", flush=True)
sys.stdin.readline()
for last in range(1000, count + 1, 1000):
    rows.put(range(last - 999, last + 1), encoded[last - 1000 : last])
    fill_index(index, rows, codec)
    index.flush()
wrong = [place for place in range(0, count, 500) if index.search(vectors[place], 1)[0].id != place + 1]
print(index.count(), wrong, flush=True)
"""


def test_processes_that_fill_one_folder_at_once_agree(tmp_path: Path) -> None:
    count = 12_000
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(
                    [str(Path(ragstone.__file__).parents[1]), str(Path(__file__).parents[2])]
                ),
                "OPENBLAS_NUM_THREADS": "1",
            },
            text=True,
        )
        for _ in range(3)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    answers = [worker.communicate("go\n", timeout=120)[0] for worker in workers]
    assert answers == [f"{count} []\n"] * 3
    rows = MemoryRows()
    vectors = np.random.default_rng(1).standard_normal((count, 32)).astype(np.float32)
    rows.put(range(1, count + 1), CODEC.encode(vectors))
    index = opened(tmp_path, rows, stamp="shared")
    fill_index(index, rows, CODEC)
    assert index.count() == count
    assert index._state.view.count <= count
    assert TAIL < count


def test_what_a_writer_left_when_it_died_is_swept_away_with_its_generation(tmp_path: Path) -> None:
    left = [tmp_path / f"0a0a0a0a{end}" for end in ("-0.planes", ".turbovec", "-ab12.turbovec")]
    left[-1].mkdir()
    for path in (*left[:-1], left[-1] / "codes", tmp_path / "mine.txt"):
        path.write_bytes(b"left")
    index = TurboIndex(tmp_path, DIMENSION, rows=MemoryRows(), codec=CODEC, stamp="s")
    index.upsert([1], np.ones((1, DIMENSION), np.float32))
    index.flush()
    assert not any(path.exists() for path in left)
    assert (tmp_path / "mine.txt").exists()


def test_a_damaged_accelerator_is_built_again(tmp_path: Path) -> None:
    pytest.importorskip("turbovec")
    vectors = np.random.default_rng(1).standard_normal((20_500, DIMENSION)).astype(np.float32)
    rows = MemoryRows()

    def reopened() -> TurboIndex:
        return TurboIndex(tmp_path, DIMENSION, rows=rows, codec=CODEC, stamp="s", accelerate=True)

    index = reopened()
    index.upsert(range(1, 20_501), vectors)
    index.flush()
    sound = {file: file.stat().st_size for file in tmp_path.glob("*.turbovec")}
    assert len(sound) == 2
    for file in sound:
        for damage in (cut_to(0.5), flip_at(0.7), zero, Path.unlink):
            damage(file)
            index = reopened()
            assert [index.search(vectors[place], 1)[0].id for place in (0, 20_000)] == [1, 20_001]
            index.flush()
            assert {path: path.stat().st_size for path in tmp_path.glob("*.turbovec")} == sound


def finds_units(index: TurboIndex) -> bool:
    """Return whether the index has every unit vector once and finds each of some as its own nearest."""
    places = range(0, len(UNIT), 97)
    return index.count() == len(UNIT) and all(index.search(UNIT[place], 1)[0].id == place + 1 for place in places)


@pytest.mark.parametrize("other", [0, 700])
def test_what_was_encoded_around_another_centre_is_encoded_again(tmp_path: Path, other: int) -> None:
    laid = []
    for name, strange in (("ahead", True), ("plain", False)):
        index = opened(tmp_path / name, MemoryRows())
        elsewhere = opened(tmp_path / f"{name}-elsewhere", MemoryRows())
        if other:
            elsewhere.upsert(range(1, other + 1), np.abs(UNIT[:other]))
            elsewhere.flush()
        index.upsert(range(1, FIRST + 1), UNIT[:FIRST])
        index.flush()
        ahead = elsewhere.encoded(UNIT[FIRST:]) if strange else None
        index.upsert(range(FIRST + 1, len(UNIT) + 1), UNIT[FIRST:], ahead=ahead)
        index.flush()
        laid.append(index._state.view.segments[0])
    assert np.array_equal(laid[0].codes, laid[1].codes)
    assert np.array_equal(laid[0].planes, laid[1].planes)


@pytest.mark.parametrize("before", [0, FIRST])
def test_what_was_encoded_ahead_is_laid_in_as_it_is(
    tmp_path: Path, before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, plain = opened(tmp_path / "ahead", MemoryRows()), opened(tmp_path / "plain", MemoryRows())
    for one in (index, plain):
        one.upsert(range(1, before + 1), UNIT[:before])
        one.flush()
    plain.upsert(range(before + 1, len(UNIT) + 1), UNIT[before:])
    ahead = index.encoded(UNIT[before:])
    monkeypatch.setattr(Planes, "encode", None)
    index.upsert(range(before + 1, len(UNIT) + 1), UNIT[before:], ahead=ahead)
    assert plain._state.view.total is not None
    assert index._state.view.total is not None
    assert np.array_equal(index._state.view.total, plain._state.view.total)
    assert index._state.view.centred_on == (before or len(UNIT))
    ours, theirs = (one._state.view.segments[0] for one in (index, plain))
    assert np.array_equal(ours.codes, theirs.codes)
    assert np.array_equal(ours.planes, theirs.planes)
    assert finds_units(index)


def test_of_what_was_encoded_ahead_only_what_nobody_laid_in_meanwhile_is_taken(tmp_path: Path) -> None:
    rows = MemoryRows()
    index = opened(tmp_path, rows)
    index.upsert(range(1, FIRST + 1), UNIT[:FIRST])
    index.flush()
    ahead = index.encoded(UNIT[FIRST:])
    another = opened(tmp_path, rows)
    another.upsert(range(FIRST + 1, FIRST + 1001), UNIT[FIRST : FIRST + 1000])
    another.flush()
    index.upsert(range(FIRST + 1, len(UNIT) + 1), UNIT[FIRST:], ahead=ahead)
    assert finds_units(index)


def test_what_was_encoded_ahead_of_more_than_is_laid_in_at_once_is_encoded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turbo, "CAPACITY", FIRST)
    monkeypatch.setattr(turbo, "TAIL", 1000)
    index = opened(tmp_path, MemoryRows())
    index.upsert(range(1, FIRST + 1), UNIT[:FIRST])
    index.upsert(range(FIRST + 1, len(UNIT) + 1), UNIT[FIRST:], ahead=index.encoded(UNIT[FIRST:]))
    assert index._state.tail.count() == 0
    assert finds_units(index)
