"""turbovec takes in what the segments have, beside what the caller does, and is never needed for an answer."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.vectors import accelerator
from ragstone.vectors.accelerator import BITS, SLACK, Accelerator, open_accelerator
from ragstone.vectors.memory_rows import MemoryRows
from ragstone.vectors.rows import Int10Codec
from ragstone.vectors.shortlist import Width
from ragstone.vectors.turbo import TAIL, TurboIndex
from ragstone.vectors.view import Ids
from tests.support.clusters import COUNT, DIMENSION, World, copy_of, fill_index

if TYPE_CHECKING:
    from ragstone.protocols import Matrix


@pytest.fixture(scope="module")
def world() -> World:
    return World()


def test_rows_are_taken_in_beside_others_as_they_would_be_one_after_the_other(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("turbovec")
    threads: list[threading.Thread] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        threads.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    codec, rows = Int10Codec(DIMENSION), MemoryRows()  # of length one, so that they are taken as they are read
    rows.put(world.ids, codec.encode(world.vectors))
    for name in ("beside", "after"):
        index = TurboIndex(tmp_path / name, DIMENSION, rows=rows, codec=codec, stamp="s", accelerate=True)
        fill_index(index, rows, codec)
        index.flush()
        index.close()
        monkeypatch.setattr(accelerator, "BESIDE", COUNT)
    assert len([thread for thread in threads if "rows" not in thread.name]) == COUNT // TAIL
    one, other = (next(path.glob("????????.turbovec")).read_bytes() for path in sorted(tmp_path.iterdir()))
    assert one == other


def test_where_no_thread_can_be_started_rows_are_taken_in_all_the_same(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("turbovec")

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    index = TurboIndex(tmp_path, DIMENSION, rows=world.rows, stamp="s", accelerate=True)
    fill_index(index, world.rows, world.codec)
    index.flush()
    assert index._accelerators._loaded is not None
    assert len(index._accelerators._loaded) == COUNT
    index.close()


def test_where_no_thread_can_be_started_the_scan_goes_on_answering_and_nothing_is_held(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("turbovec")

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    index = TurboIndex(tmp_path, DIMENSION, rows=world.rows, stamp="s")
    fill_index(index, world.rows, world.codec)
    index.flush()
    index.close()
    index = TurboIndex(tmp_path, DIMENSION, rows=world.rows, stamp="s")
    monkeypatch.setattr(threading.Thread, "start", refuse)
    index._accelerators._patience = 0
    assert world.recall(index) >= 0.98
    assert index._accelerators._loaded is None
    assert not index._accelerators._changing.locked()
    assert index._accelerators._patience >= 0, "the next try is not for the next search"
    index.flush()
    monkeypatch.undo()
    index._accelerators._patience = 0
    index.search(world.queries[0], 10)
    with index._accelerators._changing:  # until it is loaded
        assert index._accelerators._loaded is not None
    index.close()


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError])
def test_a_copy_that_fails_keeps_nobody_waiting(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: type[BaseException]
) -> None:
    pytest.importorskip("turbovec")
    monkeypatch.setattr(accelerator, "cores", lambda: 2)
    index = TurboIndex(tmp_path, DIMENSION, rows=copy_of(world), stamp="s", accelerate=True)
    unit = world.vectors / np.linalg.norm(world.vectors, axis=1, keepdims=True)

    def fails(_: Matrix) -> Matrix:
        raise failure

    with monkeypatch.context() as short, pytest.raises(failure) if failure is KeyboardInterrupt else nullcontext():
        short.setattr(np, "empty_like", fails)
        index.upsert(world.ids[:TAIL], unit[:TAIL])
    assert not index._accelerators._changing.locked()
    index.upsert(world.ids[TAIL:], unit[TAIL:])
    index.flush()
    assert len(list(tmp_path.glob("????????.turbovec"))) == 1
    assert world.recall(index) >= 0.98
    index.close()


def test_what_has_grown_under_a_search_is_left_to_the_scan(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("turbovec")
    index = TurboIndex(tmp_path, DIMENSION, rows=world.rows, stamp="s", accelerate=True)
    fill_index(index, world.rows, world.codec)
    index.flush()
    assert world.recall(index) >= 0.98
    assert index._accelerators._loaded is not None
    search = Accelerator.nearest

    def grows(into: Accelerator, query: Matrix, width: Width, mask: NDArray[np.bool_] | None) -> Ids | None:
        into.add(query[None])  # the nearest of all, in a slot that the view has not
        return search(into, query, width, mask)

    monkeypatch.setattr(Accelerator, "nearest", grows)
    assert world.recall(index) >= 0.98
    index.close()


@pytest.mark.parametrize("processors", [1, 2])
def test_vectors_may_be_changed_as_soon_as_they_are_given(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processors: int
) -> None:
    pytest.importorskip("turbovec")
    monkeypatch.setattr(accelerator, "cores", lambda: processors)
    taken: list[Matrix] = []
    half = COUNT // 2
    add, given = Accelerator.add, np.empty((half, DIMENSION), np.float32)
    changed = {0: threading.Event(), half: threading.Event()}

    def noted(into: Accelerator, unit: Matrix) -> None:
        if processors > 1:
            assert changed[len(into)].wait(5)
        taken.append(unit)
        add(into, unit)

    monkeypatch.setattr(Accelerator, "add", noted)
    index = TurboIndex(tmp_path, DIMENSION, rows=copy_of(world), stamp="s", accelerate=True)
    unit = world.vectors / np.linalg.norm(world.vectors, axis=1, keepdims=True)
    for first in (0, half):
        given[:] = unit[first : first + half]
        index.upsert(world.ids[first : first + half], given)
        given[:] = 1
        changed[first].set()
    index.flush()
    assert [np.shares_memory(one, given) for one in taken] == [processors == 1] * 2
    assert np.shares_memory(taken[0], taken[1]), "the second copy stands where the first stood"
    assert not len(index._accelerators._room), "which is given back"
    index.close()
    expected = open_accelerator(None, "expected", DIMENSION)
    assert expected is not None
    add(expected, unit)
    expected.save(tmp_path)
    one, other = (path.read_bytes() for path in tmp_path.glob("????????.turbovec"))
    assert one == other


def test_a_process_that_searches_often_loads_turbovec_while_it_goes_on_searching(world: World, tmp_path: Path) -> None:
    pytest.importorskip("turbovec")
    index = TurboIndex(tmp_path, DIMENSION, rows=world.rows, stamp="s")
    fill_index(index, world.rows, world.codec)
    index.flush()
    index.close()
    index = TurboIndex(tmp_path, DIMENSION, rows=world.rows, stamp="s")
    for _ in range(accelerator.AFTER_SEARCHES):
        index.search(world.queries[0], 10)
    assert index._accelerators._loaded is None
    end = time.monotonic() + 60
    while index._accelerators._loaded is None and time.monotonic() < end:
        assert world.recall(index, k=5) >= 0.98
    assert index._accelerators._loaded is not None
    assert world.recall(index) >= 0.98
    index.upsert([10**7], world.queries[:1])
    index.flush()
    assert index.search(world.queries[0], 1)[0].id == 10**7
    index.close()
    assert index._accelerators._loaded is None


def test_without_turbovec_the_scan_answers(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerator, "package", lambda: None)
    index = TurboIndex(None, DIMENSION, rows=world.rows, accelerate=True)
    fill_index(index, world.rows, world.codec)
    index.flush()
    assert world.recall(index) >= 0.98


def test_a_dimension_turbovec_does_not_take_is_scanned() -> None:
    vectors = np.random.default_rng(0).standard_normal((21_000, 12)).astype(np.float32)
    index = TurboIndex(None, 12, accelerate=True)
    index.upsert(range(1, 21_001), vectors)
    index.flush()
    assert [index.search(vector, 1)[0].id for vector in vectors[:20]] == list(range(1, 21))


@pytest.mark.parametrize(("wanted", "folder", "asked"), [(None, True, 1), (False, True, 0), (None, False, 0)])
def test_turbovec_is_made_ready_only_where_it_will_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: bool | None, folder: bool, asked: int
) -> None:
    turbovec = pytest.importorskip("turbovec")
    looked: list[int] = []

    def package() -> ModuleType:
        looked.append(1)
        return cast("ModuleType", turbovec)

    monkeypatch.setattr(accelerator, "package", package)
    TurboIndex(tmp_path if folder else None, DIMENSION, accelerate=wanted).warm()
    assert len(looked) == asked


@pytest.mark.parametrize("broken", [None, SimpleNamespace()])
def test_what_cannot_be_made_ready_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: object
) -> None:
    monkeypatch.setattr(accelerator, "package", lambda: broken)
    TurboIndex(tmp_path, DIMENSION).warm()


def test_of_what_turbovec_finds_the_close_ones_are_taken(world: World) -> None:
    turbovec = pytest.importorskip("turbovec")
    index = turbovec.TurboQuantIndex(dim=DIMENSION, bit_width=BITS)
    index.add(world.vectors / np.linalg.norm(world.vectors, axis=1, keepdims=True), chunk_size=0)
    query = world.queries[0] / np.linalg.norm(world.queries[0])
    wide = Width(passed=1, fetched=1, finer=300, hits=10)
    ((scores,), (slots,)) = index.search(query[None], wide.finer, chunk_size=0)
    assert scores.tolist() == sorted(scores.tolist(), reverse=True), "best first, as we rely on"
    border = scores[9] - SLACK / DIMENSION**0.5
    expected = [slot for slot, score in zip(slots.tolist(), scores.tolist(), strict=True) if score >= border]
    found = Accelerator("g", index).nearest(query, wide, None)
    assert found is not None
    assert 10 < len(found) < 300
    assert found.tolist() == expected
    few = Accelerator("g", index).nearest(query, Width(passed=1, fetched=1, finer=10, hits=10), None)
    assert few is not None
    assert few.tolist() == slots[:10].tolist()
