"""Searches are right after any damage to the files of the turbo index."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

import ragstone
from ragstone.types import Matrix
from ragstone.vectors.codecs import codec
from ragstone.vectors.memory_rows import MemoryRows
from ragstone.vectors.turbo.index import TAIL, TurboIndex
from tests.support.clusters import fill_index

DIMENSION = 32
COUNT = 5000
CODEC = codec("int16", DIMENSION)
VECTORS: Matrix = (
    np.random.default_rng(1).standard_normal((COUNT + 1000, DIMENSION)).astype(np.float32)
)
ENCODED = CODEC.encode(VECTORS)


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
    return index.count() == count and all(
        index.search(VECTORS[place], 1)[0].id == place + 1 for place in places
    )


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


def test_sound_files_are_opened_as_they_are(folder: Path, rows: MemoryRows) -> None:
    index = opened(folder, rows)
    assert index.count() == COUNT
    assert is_right(index)


@pytest.mark.parametrize("file", [header, segment])
@pytest.mark.parametrize(
    "damage",
    [
        Path.unlink,
        zero,
        cut_to(0),
        cut_to(0.5),
        cut_to(0.999),
        flip_at(0),
        flip_at(0.01),
        flip_at(0.5),
        flip_at(1),
    ],
)
def test_damaged_files_are_replaced(
    folder: Path, rows: MemoryRows, file: Callable[[Path], Path], damage: Callable[[Path], None]
) -> None:
    damage(file(folder))
    index = opened(folder, rows)
    assert index.count() == 0
    fill_index(index, rows, CODEC)
    assert index.count() == COUNT
    assert is_right(index)
    index.flush()
    index.close()
    assert opened(folder, rows).count() == COUNT


def test_a_header_with_a_padded_checksum_is_not_read(folder: Path, rows: MemoryRows) -> None:
    # A space where a zero stood would still be read as the same number: every sixteenth time that is what a flip makes.
    path = header(folder)
    checksum, _, body = path.read_bytes().partition(b"\n")
    path.write_bytes(b" " + checksum + b"\n" + body)
    assert opened(folder, rows).count() == 0


def test_the_files_of_another_store_are_not_used(folder: Path, rows: MemoryRows) -> None:
    index = opened(folder, rows, stamp="store 2")
    assert index.count() == 0
    fill_index(index, rows, CODEC)
    index.flush()
    assert is_right(index)
    assert opened(folder, rows, stamp="store 2").count() == COUNT
    assert opened(folder, rows, stamp="store 1").count() == 0


@pytest.mark.parametrize(
    ("field", "value"), [("format", 99), ("magic", "other"), ("dimension", 31), ("seed", 1)]
)
def test_files_of_another_format_are_not_used(
    folder: Path, rows: MemoryRows, field: str, value: object
) -> None:
    about = json.loads(header(folder).read_bytes().partition(b"\n")[2])
    body = json.dumps({**about, field: value}).encode()
    header(folder).write_bytes(f"{zlib.crc32(body):08x}\n".encode() + body)
    index = opened(folder, rows)
    assert index.count() == 0
    fill_index(index, rows, CODEC)
    assert is_right(index)


def test_segments_that_are_not_in_the_header_are_ignored(
    folder: Path, rows: MemoryRows
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    writer = opened(folder, rows)
    more = MemoryRows()
    more.put(range(COUNT + 1, COUNT + 501), ENCODED[COUNT : COUNT + 500])
    fill_index(writer, more, CODEC)
    writer.flush()
    writer.close()
    for path, content in before.items():
        path.write_bytes(content)  # as if the writer died before it replaced the header
    index = opened(folder, rows)
    assert index.count() == COUNT
    assert is_right(index)
    index.upsert([COUNT + 1], VECTORS[COUNT : COUNT + 1])
    index.flush()
    assert opened(folder, rows).count() == COUNT + 1


def test_an_index_whose_folder_cannot_be_written_works_in_memory(
    rows: MemoryRows, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    index = opened(blocked / "turbo", rows)
    fill_index(index, rows, CODEC)
    index.flush()
    assert is_right(index)
    assert blocked.read_text() == "not a folder"


def test_a_folder_removed_under_an_open_index_is_written_again(
    folder: Path, rows: MemoryRows
) -> None:
    index = opened(folder, rows)
    shutil.rmtree(folder)
    assert is_right(index)
    index.upsert([COUNT + 1], VECTORS[COUNT : COUNT + 1])
    index.flush()
    assert opened(folder, rows).count() == COUNT + 1


def test_the_tail_stays_in_memory_while_another_process_writes(
    folder: Path, rows: MemoryRows
) -> None:
    index = opened(folder, rows)
    with FileLock(folder / "lock"):
        index.upsert([COUNT + 1], VECTORS[COUNT : COUNT + 1])
        index.flush()
        assert opened(folder, rows).count() == COUNT
        assert is_right(index, COUNT + 1)
    index.flush()
    assert opened(folder, rows).count() == COUNT + 1


def test_rows_that_another_process_wrote_are_not_written_twice(
    folder: Path, rows: MemoryRows
) -> None:
    one, other = opened(folder, rows), opened(folder, rows)
    for index, last in ((one, 700), (other, 900)):
        index.upsert(range(COUNT + 1, COUNT + last + 1), VECTORS[COUNT : COUNT + last])
    one.flush()
    other.delete([1])
    other.flush()
    for index in (other, opened(folder, rows)):
        assert (index.count(), index.has([1])) == (COUNT + 899, [False])
        assert len(index._state.snapshot.ids) == COUNT + 900


def test_a_folder_that_a_newer_store_replaced_is_left_alone(
    folder: Path, rows: MemoryRows
) -> None:
    old = opened(folder, rows)
    newer = opened(folder, rows, stamp="store 2")
    fill_index(newer, rows, CODEC)
    newer.flush()
    rows.put([COUNT + 1], ENCODED[COUNT : COUNT + 1])
    old.upsert([COUNT + 1], VECTORS[COUNT : COUNT + 1])
    old.flush()
    assert is_right(old, COUNT + 1)
    assert opened(folder, rows, stamp="store 2").count() == COUNT


def test_dropping_removes_all_files_of_the_index(folder: Path, rows: MemoryRows) -> None:
    (folder / "note.txt").write_text("not of the index")
    index = opened(folder, rows)
    index.drop()
    assert {path.name for path in folder.iterdir()} <= {"lock", "note.txt"}
    assert opened(folder, rows).count() == 0


SEARCH_PATH = os.pathsep.join(
    [str(Path(ragstone.__file__).parents[1]), str(Path(__file__).parents[2])]
)
WORKER = """
import sys
from pathlib import Path
import numpy as np
from tests.support.clusters import fill_index
from ragstone.vectors.memory_rows import MemoryRows
from ragstone.vectors.codecs import codec
from ragstone.vectors.turbo.index import TurboIndex

folder, count = Path(sys.argv[1]), int(sys.argv[2])
row_codec = codec("int16", 32)
vectors = np.random.default_rng(1).standard_normal((count, 32)).astype(np.float32)
rows = MemoryRows()
encoded = row_codec.encode(vectors)
index = TurboIndex(folder, 32, rows=rows, codec=row_codec, stamp="shared")
print("ready", flush=True)
sys.stdin.readline()
for last in range(1000, count + 1, 1000):
    rows.put(range(last - 999, last + 1), encoded[last - 1000 : last])
    fill_index(index, rows, row_codec)
    index.flush()
wrong = [place for place in range(0, count, 500) if index.search(vectors[place], 1)[0].id != place + 1]
print(index.count(), wrong, flush=True)
"""


def test_processes_that_fill_one_folder_at_the_same_time_agree(tmp_path: Path) -> None:
    count = 12_000
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONPATH": SEARCH_PATH,
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
    assert len(index._state.snapshot.ids) <= count
    assert TAIL < count


def test_files_that_a_dead_writer_left_are_removed(tmp_path: Path) -> None:
    left = [tmp_path / f"0a0a0a0a{end}" for end in ("-0.planes", ".turbovec", "-ab12.turbovec")]
    left[-1].mkdir()
    for path in (*left[:-1], left[-1] / "codes", tmp_path / "mine.txt"):
        path.write_bytes(b"left")
    index = TurboIndex(tmp_path, DIMENSION, rows=MemoryRows(), codec=CODEC, stamp="s")
    index.upsert([1], np.ones((1, DIMENSION), np.float32))
    index.flush()
    assert not any(path.exists() for path in left)
    assert (tmp_path / "mine.txt").exists()
