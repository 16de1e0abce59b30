"""A space's index follows the rows in the store, whoever stored them and in whichever order."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ragstone.types import CollectionKey, Space
from ragstone.vectors.turbo import index as turbo
from tests.support.spaces import DIMENSION, MANY, TEXTS, World, same_answers, turbo_of


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(turbo, "TAIL", 64)
    world = World(tmp_path)
    with world.store:
        yield world
        world.index.close()


@pytest.mark.parametrize(
    "sizes",
    [[1], [5, 3], [MANY], [MANY, MANY], [5, MANY, 3], [MANY, 7, 60], [64, 65, 66, 67, 68]],
)
def test_stored_vectors_are_found(world: World, sizes: list[int]) -> None:
    done = 0
    for size in sizes:
        assert world.put(done, done + size) == size
        done += size
        assert world.texts_near(done - 1) == done - 1
    same_answers(world, range(0, done, 9), within=1e-6)
    world.index.flush()
    same_answers(world, range(0, done, 9), within=1e-6)


@pytest.mark.parametrize("storage", ["int10", "compact", "int16", "int8"])
def test_scores_are_those_of_the_stored_rows(tmp_path: Path, storage: str) -> None:
    world = World(tmp_path, storage)
    with world.store:
        world.put(0, 40)
        same_answers(world, range(0, 40, 3), within=1e-5)


def test_only_new_rows_are_read(world: World) -> None:
    world.put(0, 100)
    world.texts_near(0)
    world.rows.listed = 0
    world.put(100, 107)
    assert world.texts_near(106) == 106
    assert world.rows.listed == 7
    world.texts_near(50)
    assert world.rows.listed == 7, "nothing was stored since"


def test_a_search_after_an_unrelated_write_reads_no_rows(world: World) -> None:
    world.put(0, 20)
    world.texts_near(0)
    world.rows.listed = 0
    world.store.state.update_collection_state(CollectionKey("p", "c"), synced_at=1.0)
    assert world.texts_near(7) == 7
    assert world.rows.listed == 0


def test_an_index_opened_from_its_files_reads_no_rows(world: World) -> None:
    world.put(0, MANY)
    world.index.flush()
    world.index.close()
    world.rows.listed = 0
    again = world.opened()
    assert world.texts_near(3, again) == 3
    assert world.rows.listed == 0
    again.close()


def test_a_text_keeps_its_first_vector(world: World) -> None:
    world.put(0, 20)
    assert world.put(0, 20) == 0
    assert world.texts_near(5) == 5


@pytest.mark.parametrize("size", [5, MANY])
def test_a_smaller_id_committed_after_a_larger_one_is_found(world: World, size: int) -> None:
    world.put(0, size)
    with world.store._database.writing() as db:
        db.execute(
            "UPDATE vectors SET id = id + 1000"
        )  # as if the first thousand ids were still to be committed
    assert world.texts_near(size - 1) == size - 1
    rows = world.codec.encode(world.vectors[300:302])
    for row_id, text, data in zip((7, 8), world.texts[300:302], rows, strict=True):
        with world.store._database.writing() as db:
            values = (row_id, world.info.id, text, data)
            db.execute(
                "INSERT INTO vectors (id, space, text_id, data) VALUES (?, ?, ?, ?)", values
            )
    assert [world.texts_near(number) for number in (0, size - 1, 300, 301)] == [
        0,
        size - 1,
        300,
        301,
    ]


@pytest.mark.parametrize("size", [5, MANY])
def test_rows_stored_by_another_process_are_found(world: World, size: int) -> None:
    world.put(0, 10)
    other = world.another()
    assert world.texts_near(9, other) == 9
    assert world.texts_near(9) == 9
    world.put(10, 10 + size)
    for index in (other, world.index):
        assert [world.texts_near(number, index) for number in (0, 10, 9 + size)] == [
            0,
            10,
            9 + size,
        ]


def test_rows_of_another_space_are_not_found(world: World) -> None:
    other = world.store.vectors.ensure_space(
        CollectionKey("p", "c"), Space("fake", "other", DIMENSION), state="building"
    )
    beside = turbo_of(None, other, world.store.vectors.rows("p", other.id))
    world.put(0, 10)
    assert beside.search(world.vectors[0], 5) == []
    assert len(world.index.search(world.vectors[0], TEXTS)) == 10


@pytest.mark.parametrize("size", [5, MANY])
def test_removed_rows_are_not_found(world: World, size: int) -> None:
    world.put(0, 10 + size)
    assert world.texts_near(4) == 4
    (gone,) = world.rows.by_text([world.texts[4]])
    assert world.store.vectors.remove("p", world.info.id, [gone.id]) == 1
    assert world.texts_near(4) != 4
    assert world.texts_near(9 + size) == 9 + size
    same_answers(world, range(0, 10 + size), within=1e-6)


@pytest.mark.parametrize("size", [5, MANY])
def test_a_row_that_is_not_a_vector_is_left_out_and_counted(world: World, size: int) -> None:
    world.vectors[2] = 0
    assert world.put(0, size) == size
    assert world.texts_near(size - 1) == size - 1
    assert world.index.damaged == 1
    assert len(world.index.search(world.vectors[0], TEXTS)) == size - 1
    world.put(size, size + 3)
    assert world.texts_near(size + 2) == size + 2
    assert world.index.damaged == 1


def test_a_closed_index_is_opened_again(world: World) -> None:
    world.put(0, MANY)
    world.index.close()
    world.put(MANY, MANY + 70)
    assert [world.texts_near(number) for number in (0, MANY + 1, MANY + 69)] == [
        0,
        MANY + 1,
        MANY + 69,
    ]


def test_searches_during_a_backfill_find_what_is_stored(world: World) -> None:
    def search(number: int) -> list[bool]:
        return [world.texts_near(number) == number for _ in range(20)]

    world.put(0, 10)
    with ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(search, number) for number in (0, 5, 9)]
        for first in range(10, 300, 29):
            world.put(first, first + 29)
        assert all(all(answer.result()) for answer in answers)
    same_answers(world, range(0, 300, 13), within=1e-6)


def test_vectors_of_texts_come_in_the_order_of_the_texts(world: World) -> None:
    world.put(0, 6)
    matrix = world.index.vectors([world.texts[4], world.texts[9], world.texts[1]])
    assert np.allclose(matrix[[0, 2]], world.vectors[[4, 1]], atol=0.01)
    assert not matrix[1].any()
    assert world.index.vectors([]).shape == (0, DIMENSION)
