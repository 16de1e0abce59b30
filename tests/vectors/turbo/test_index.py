"""The turbo index finds the vectors that an exact search finds, while it grows, with filters, deletes and threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ragstone.vectors.turbo.index import TAIL, TurboIndex
from ragstone.vectors.turbo.shortlist import choose_width
from tests.support.clusters import COUNT, DIMENSION, World, clustered, copy_of, fill_index


@pytest.fixture(scope="module")
def world() -> World:
    return World()


@pytest.fixture(scope="module", params=["memory", "folder"])
def index(
    request: pytest.FixtureRequest, world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TurboIndex]:
    """Yield an index of the world's rows; one in a folder is opened again, as a second process would."""
    folder = None if request.param == "memory" else tmp_path_factory.mktemp("turbo")
    index = TurboIndex(folder, DIMENSION, rows=world.rows, codec=world.codec, stamp="s")
    fill_index(index, world.rows, world.codec)
    index.flush()
    if folder is not None:
        index.close()
        index = TurboIndex(folder, DIMENSION, rows=world.rows, codec=world.codec, stamp="s")
    yield index
    index.close()


def test_nearly_all_true_neighbours_are_found(index: TurboIndex, world: World) -> None:
    assert choose_width(10, COUNT, dimension=DIMENSION).passed * 2 < COUNT
    assert index.count() == COUNT
    assert world.recall(index) >= 0.98
    assert world.recall(index, k=100) >= 0.98


@pytest.mark.parametrize("share", [0.005, 0.05, 0.3, 0.9])
def test_a_filter_of_any_width_leaves_the_nearest_allowed(
    index: TurboIndex, world: World, share: float
) -> None:
    chosen = np.random.default_rng(3).choice(world.ids, int(COUNT * share), replace=False)
    assert world.recall(index, allowed=chosen.tolist()) >= 0.98
    assert {
        hit.id for hit in index.search(world.queries[0], 50, allowed=chosen.tolist())
    } <= set(chosen.tolist())


def test_scores_are_exact_cosines(index: TurboIndex, world: World) -> None:
    expected = {hit.id: hit.score for hit in world.exact.search(world.queries[0], 50)}
    for hit in index.search(world.queries[0], 10):
        assert abs(hit.score - expected[hit.id]) < 1e-4


def test_the_tail_and_the_segments_answer_together(world: World) -> None:
    index = TurboIndex(None, DIMENSION, rows=world.rows, codec=world.codec)
    index.upsert(world.ids[:-500], world.vectors[:-500])
    index.flush()
    index.upsert(world.ids[-500:], world.vectors[-500:])
    assert index.count() == COUNT
    assert world.recall(index) >= 0.98


def test_the_centre_is_computed_again_when_the_index_has_grown(world: World) -> None:
    # The first rows all lie on one side: around their centre, the signs of all later ones would be the same.
    away = np.zeros(DIMENSION, np.float32)
    away[:8] = 12
    index = TurboIndex(None, DIMENSION)
    index.upsert(range(10**6, 10**6 + 200), clustered(200, seed=9) + away)
    index.flush()
    first = index._state.snapshot.centred_on
    index.upsert(world.ids, world.vectors)
    index.flush()
    assert index._state.snapshot.centred_on > first
    assert index.count() == COUNT + 200
    assert world.recall(index) >= 0.95


def test_deleted_rows_stay_away_after_reopening(world: World, tmp_path: Path) -> None:
    index = TurboIndex(tmp_path, DIMENSION, rows=world.rows, codec=world.codec, stamp="s")
    fill_index(index, world.rows, world.codec)
    index.flush()
    gone = [hit.id for hit in index.search(world.queries[0], 30)]
    index.close()
    index = TurboIndex(tmp_path, DIMENSION, rows=copy_of(world), codec=world.codec, stamp="s")
    assert index.delete(gone) == 30
    index.close()
    again = TurboIndex(tmp_path, DIMENSION, rows=world.rows, codec=world.codec, stamp="s")
    assert again.count() == COUNT - 30
    assert not set(gone) & {hit.id for hit in again.search(world.queries[0], 30)}
    assert not any(again.has(gone))


def test_rows_that_the_store_does_not_return_are_skipped(world: World) -> None:
    rows = copy_of(world)
    index = TurboIndex(None, DIMENSION, rows=rows, codec=world.codec)
    fill_index(index, rows, world.codec)
    index.flush()
    gone = [hit.id for hit in index.search(world.queries[0], 300)]
    rows.discard(gone)
    hits = index.search(world.queries[0], 10)
    assert len(hits) == 10
    assert not set(gone) & {hit.id for hit in hits}


def test_when_most_slots_are_deleted_the_segments_are_rebuilt(
    world: World, tmp_path: Path
) -> None:
    index = TurboIndex(tmp_path, DIMENSION, stamp="s")
    index.upsert(world.ids, world.vectors)
    index.flush()
    index.delete(world.ids[: COUNT * 3 // 4])
    assert len(index._state.snapshot.ids) == index.count() == COUNT // 4
    left = world.ids[COUNT * 3 // 4 :]
    assert world.recall(index, allowed=left) >= 0.98


def test_searches_while_another_thread_writes_are_always_right(world: World) -> None:
    index = TurboIndex(None, DIMENSION)
    index.upsert(world.ids[:1000], world.vectors[:1000])
    failures: list[str] = []
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            for place in (0, 500, 999):
                hits = index.search(world.vectors[place], 3)
                if hits[0].id != world.ids[place] or len({hit.id for hit in hits}) != 3:
                    failures.append(f"{place}: {hits}")

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for first in range(1000, 7_000, 500):
        index.upsert(world.ids[first : first + 500], world.vectors[first : first + 500])
        index.delete(world.ids[first : first + 100])
        index.upsert(world.ids[:50], world.vectors[:50])
        if first % 1000:
            index.flush()
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert index.count() == 7_000 - 12 * 100


def test_a_full_tail_is_written_to_segments(world: World) -> None:
    index = TurboIndex(None, DIMENSION)
    index.upsert(world.ids[: TAIL - 1], world.vectors[: TAIL - 1])
    assert len(index._state.snapshot.ids) == 0
    index.upsert(world.ids[TAIL - 1 : TAIL + 10], world.vectors[TAIL - 1 : TAIL + 10])
    assert (len(index._state.snapshot.ids), index._state.tail.count()) == (TAIL + 10, 0)


def test_many_rows_at_once_replace_those_of_the_same_ids(world: World) -> None:
    index = TurboIndex(None, DIMENSION)
    index.upsert(world.ids[: 2 * TAIL], world.vectors[: 2 * TAIL])
    assert (len(index._state.snapshot.ids), index._state.tail.count()) == (2 * TAIL, 0)
    index.upsert(world.ids[:TAIL], world.vectors[TAIL : 2 * TAIL][::-1])
    assert index.count() == 2 * TAIL
    for place in (0, 77, TAIL - 1):
        hits = index.search(world.vectors[2 * TAIL - 1 - place], 2)
        assert {hit.id for hit in hits} == {world.ids[place], world.ids[2 * TAIL - 1 - place]}
        assert all(hit.score > 0.999 for hit in hits)


def test_rows_may_come_in_any_order(world: World) -> None:
    index = TurboIndex(None, DIMENSION)
    order = np.random.default_rng(5).permutation(2 * TAIL)
    index.upsert([world.ids[place] for place in order.tolist()], world.vectors[order])
    assert index.count() == 2 * TAIL
    assert [index.search(world.vectors[place], 1)[0].id for place in (0, 99, TAIL)] == [
        world.ids[place] for place in (0, 99, TAIL)
    ]
