"""Vectors put into a space are stored once, found at once, and never other than the store has them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone import background as aside
from ragstone.errors import InputError
from ragstone.types import Space
from ragstone.vectors import accelerator, turbo
from ragstone.vectors import space_index as module
from ragstone.vectors.accelerator import _settled
from ragstone.vectors.cache import Encoded
from ragstone.vectors.planes import Planes
from ragstone.vectors.space_index import SpaceIndex
from ragstone.vectors.turbo import TurboIndex
from tests.support.spaces import DIMENSION, MANY, TEXTS, Rows, World, same_answers

if TYPE_CHECKING:
    from ragstone.protocols import Matrix, VectorRows


@pytest.fixture(params=[1, 2])
def world(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(accelerator, "cores", lambda: request.param)
    monkeypatch.setattr(aside, "cores", lambda: request.param)
    monkeypatch.setattr(module, "TAIL", 64)
    monkeypatch.setattr(turbo, "TAIL", 64)
    world = World(tmp_path)
    world.cores = request.param
    with world.store:
        yield world
        world.index.close()


@pytest.mark.parametrize(
    "sizes", [[1], [5, 3], [MANY], [MANY, MANY], [5, MANY, 3], [MANY, 7, 60], [64, 65, 66, 67, 68]]
)
def test_what_was_put_is_found_and_was_never_read_back(world: World, sizes: list[int]) -> None:
    done = 0
    for size in sizes:
        assert world.put(done, done + size) == size
        done += size
    for number in {0, sizes[0] - 1, done - 1}:
        assert world.texts_near(number) == number
    assert world.rows.read == 0
    same_answers(world, range(0, done, 9), within=0.003)
    world.index.flush()
    same_answers(world, range(0, done, 9), within=1e-6)
    assert world.rows.read == 0


@pytest.mark.parametrize("storage", ["int10", "int8", "compact"])
def test_few_are_compared_as_the_store_keeps_them(tmp_path: Path, storage: str) -> None:
    world = World(tmp_path, storage)
    with world.store:
        world.put(0, 40)
        same_answers(world, range(0, 40, 3), within=1e-5)
        assert world.rows.read == 0


def test_vectors_of_any_length_are_taken_as_directions(world: World) -> None:
    world.index.put(world.vectors[:MANY] * np.float32(3), world.keep(0))
    world.index.put(world.vectors[MANY : MANY + 5] * np.float32(0.1), world.keep(MANY))
    assert [world.texts_near(number) for number in (3, MANY + 3)] == [3, MANY + 3]
    assert world.rows.read == 0


def test_a_text_keeps_the_vector_it_has(world: World) -> None:
    world.put(0, 20)
    assert world.index.put(world.vectors[100:130], world.keep(10)) == 20, "ten of thirty were there"
    assert [world.texts_near(number) for number in (5, 15, 115)] == [5, 15, 25]
    assert world.put(0, 20) == 0
    same_answers(world, range(0, 200, 7), within=1e-6)


@pytest.mark.parametrize("size", [5, MANY])
@pytest.mark.parametrize("before", [True, False], ids=["before ours", "after ours"])
def test_rows_of_another_process_in_between_are_found_too(world: World, size: int, *, before: bool) -> None:
    world.put(0, 10)
    theirs, ours = world.another(), world.keep(10)

    def keep(rows: list[bytes]) -> int:
        if before:
            world.put(300, 302, theirs)
        stored = ours(rows)
        if not before:
            world.put(300, 302, theirs)
        return stored

    assert world.index.put(world.vectors[10 : 10 + size], keep) == size
    for number in (0, 10, 9 + size, 300, 301):
        assert world.texts_near(number) == number
    same_answers(world, range(0, 310, 11), within=1e-6)


@pytest.mark.parametrize("size", [5, MANY])
def test_rows_of_another_process_before_are_found_too(world: World, size: int) -> None:
    world.put(0, 10, world.another())
    assert world.put(10, 10 + size) == size
    assert [world.texts_near(number) for number in (0, 9, 10, 9 + size)] == [0, 9, 10, 9 + size]


@pytest.mark.parametrize("size", [5, MANY])
def test_a_vector_of_no_text_moves_no_other(world: World, size: int) -> None:
    texts = [10**9, *world.texts[1:size]]
    new = world.index.put(
        world.vectors[:size], lambda rows: world.store.put_vectors("p", world.info.id, zip(texts, rows, strict=True))
    )
    assert new == size - 1
    assert [world.texts_near(number) for number in range(1, size)] == list(range(1, size))
    assert len(world.index.search(world.vectors[0], TEXTS)) == size - 1


@pytest.mark.parametrize("size", [5, MANY])
def test_rows_of_another_space_in_between_do_no_harm(world: World, size: int) -> None:
    other = world.store.ensure_space("p", "c", Space("fake", "other", DIMENSION), state="building")
    world.put(0, 10)
    beside = SpaceIndex(None, other, world.store.vector_rows("p", other.id))
    beside.put(world.vectors[:7], world.keep(0, space=other))
    assert world.put(10, 10 + size) == size
    same_answers(world, range(0, 10 + size, 3), within=1e-6)


@pytest.mark.parametrize("size", [5, MANY])
def test_rows_removed_in_between_are_not_found(world: World, size: int) -> None:
    world.put(0, 10)
    ours = world.keep(10)

    def keep(rows: list[bytes]) -> int:
        (gone,) = world.rows.by_text([world.texts[4]])
        assert world.store.remove_vectors("p", world.info.id, [gone.id]) == 1
        return ours(rows)

    assert world.index.put(world.vectors[10 : 10 + size], keep) == size
    assert world.texts_near(4) != 4
    assert world.texts_near(9 + size) == 9 + size
    same_answers(world, range(0, 10 + size), within=1e-6)


@pytest.mark.parametrize("size", [5, MANY])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_no_vector_is_refused_and_nothing_is_stored(world: World, size: int, wrong: float) -> None:
    given = world.vectors[:size].copy()
    given[size - 1, 3] = wrong
    with pytest.raises(InputError):
        world.index.put(given, world.keep(0))
    with pytest.raises(InputError):
        world.index.put(world.vectors[:size, :5], world.keep(0))
    assert world.rows.newest()[1] == 0
    assert world.index.put(world.vectors[:0], world.keep(0)) == 0


@pytest.mark.parametrize("size", [5, MANY])
def test_a_vector_of_zeros_is_left_out_as_it_is_when_read(world: World, size: int) -> None:
    given = world.vectors[:size].copy()
    given[2] = 0
    assert world.index.put(given, world.keep(0)) == size
    assert world.texts_near(size - 1) == size - 1
    assert world.index.damaged == 1
    assert len(world.index.search(world.vectors[0], TEXTS)) == size - 1


@pytest.mark.parametrize("size", [5, MANY])
def test_a_crash_after_storing_leaves_a_store_that_answers(world: World, size: int) -> None:
    ours = world.keep(10)

    def keep(rows: list[bytes]) -> int:
        ours(rows)
        raise KeyboardInterrupt

    world.put(0, 10)
    with pytest.raises(KeyboardInterrupt):
        world.index.put(world.vectors[10 : 10 + size], keep)
    for index in (world.another(), world.opened(), world.index):
        assert [world.texts_near(number, index) for number in (0, 10, 9 + size)] == [0, 10, 9 + size]


def test_an_index_that_was_closed_meanwhile_is_opened_again(world: World) -> None:
    world.put(0, MANY)
    world.index.close()
    world.put(MANY, MANY + 3)
    world.put(MANY + 3, MANY + 70)
    assert [world.texts_near(number) for number in (0, MANY + 1, MANY + 69)] == [0, MANY + 1, MANY + 69]


@pytest.mark.parametrize("size", [5, MANY])
def test_an_index_that_is_being_brought_level_is_not_waited_for(world: World, size: int) -> None:
    world.put(0, 10)
    with world.index._levelling:
        assert world.put(10, 10 + size) == size
    assert world.index._index is not None
    assert world.index._index.count() == 10
    same_answers(world, range(0, 10 + size, 3), within=1e-6)
    assert world.rows.read


@pytest.mark.parametrize("size", [5, MANY])
def test_rows_of_a_second_space_are_not_read_back_either(world: World, size: int) -> None:
    world.put(0, 10)
    other = world.store.ensure_space("p", "c", Space("fake", "other", DIMENSION), state="building")
    rows = Rows(world.store._database, "p", other.id, world.store._fetched)
    second = SpaceIndex(None, other, cast("VectorRows", rows))
    for first in (0, size):
        assert second.put(world.vectors[first : first + size], world.keep(first, space=other)) == size
    assert world.texts_near(7) == 7
    assert len(second.search(world.vectors[0], TEXTS)) == 2 * size
    assert rows.read == 0


@pytest.mark.parametrize("size", [5, MANY])
def test_a_newer_epoch_that_a_search_has_met_stays(world: World, size: int) -> None:
    world.put(0, 10)
    ours, met = world.keep(10), []

    def keep(rows: list[bytes]) -> int:
        new = ours(rows)
        (gone,) = world.rows.by_text([world.texts[4]])
        world.store.remove_vectors("p", world.info.id, [gone.id])
        met.extend([world.texts_near(9), world.index._index])
        return new

    assert world.index.put(world.vectors[10 : 10 + size], keep) == size
    assert met == [9, world.index._index]
    same_answers(world, range(10 + size), within=1e-6)


def test_an_epoch_that_is_over_does_not_close_the_index_of_a_newer_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put(0, MANY)
    index, newest = world.index._index, Rows.newest
    told = [("an epoch before", MANY)]
    monkeypatch.setattr(Rows, "newest", lambda rows: told.pop() if told else newest(rows))
    assert world.put(MANY, 2 * MANY) == MANY
    assert world.index._index is index
    assert world.texts_near(2 * MANY - 1) == 2 * MANY - 1


def test_an_index_is_closed_when_all_of_a_batch_is_in_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    closing = threading.Thread(target=world.index.close)
    take, waited = TurboIndex.upsert, []

    def upsert(index: TurboIndex, ids: Sequence[int], vectors: Matrix, *, ahead: Encoded | None = None) -> None:
        closing.start()
        closing.join(0.2)
        waited.append(closing.is_alive())
        take(index, ids, vectors, ahead=ahead)

    world.put(0, 10)
    with monkeypatch.context() as patched:
        patched.setattr(TurboIndex, "upsert", upsert)
        world.put(10, 10 + MANY)
    closing.join()
    assert waited == [True]
    assert [world.texts_near(number) for number in (0, 9, 10, 9 + MANY)] == [0, 9, 10, 9 + MANY]
    assert len(world.index.search(world.vectors[0], TEXTS)) == 10 + MANY


def test_many_are_encoded_while_they_are_stored(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, encode = threading.Event(), Planes.encode
    seen: list[bool] = []
    rows: list[int] = []

    def encoded(planes: Planes, unit: Matrix, centre: Matrix) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        begun.set()
        rows.append(len(unit))
        return encode(planes, unit, centre)

    def keep(given: list[bytes]) -> int:
        seen.append(begun.wait(10 if world.cores > 1 else 0))
        return world.keep(0)(given)

    monkeypatch.setattr(Planes, "encode", encoded)
    assert world.index.put(world.vectors[:MANY], keep) == MANY
    assert seen == [world.cores > 1]
    assert rows == [MANY], "once, and laid in as they are"
    assert world.texts_near(MANY - 1) == MANY - 1


def test_nobody_looks_at_vectors_whose_put_has_ended(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, ended = threading.Event(), threading.Event()
    encode = TurboIndex.encoded
    late: list[bool] = []

    def encoded(index: TurboIndex, unit: Matrix) -> Encoded:
        inside.set()
        time.sleep(0.1)
        late.append(ended.is_set())
        return encode(index, unit)

    def keep(_: list[bytes]) -> int:
        inside.wait(10 if world.cores > 1 else 0)
        raise InputError("nothing is stored")

    monkeypatch.setattr(TurboIndex, "encoded", encoded)
    with pytest.raises(InputError, match="nothing is stored"):
        world.index.put(world.vectors[:MANY], keep)
    ended.set()
    assert late == [False] * (world.cores - 1)
    monkeypatch.undo()
    assert world.put(0, MANY) == MANY
    assert world.texts_near(3) == 3


@pytest.mark.parametrize("case", ["behind", "tail", "more than at once"])
def test_nothing_is_encoded_ahead_that_is_not_sure_to_be_of_use(
    world: World, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    if case == "behind":
        world.put(0, 10, world.another())
    elif case == "tail":
        world.put(0, 10)
    else:
        monkeypatch.setattr(turbo, "CAPACITY", MANY // 2)
    monkeypatch.setattr(TurboIndex, "encoded", None)
    assert world.put(10, 10 + MANY) == MANY
    assert world.texts_near(9 + MANY) == 9 + MANY


def test_a_few_are_not_encoded_before_they_are_laid_in(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TurboIndex, "encoded", None)
    assert world.put(0, 63) == 63
    assert world.texts_near(62) == 62


def test_what_the_first_vectors_need_is_made_once_beside_them(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    warmed: list[TurboIndex] = []
    done = threading.Event()

    def warm(index: TurboIndex) -> None:
        warmed.append(index)
        done.set()

    monkeypatch.setattr(TurboIndex, "warm", warm)
    world.put(0, MANY)
    assert done.wait(10 if world.cores > 1 else 0.1) == (world.cores > 1)
    world.put(MANY, 2 * MANY)
    time.sleep(0.1)
    assert len(warmed) == world.cores - 1


def test_an_index_that_was_closed_claims_no_rows() -> None:
    index = TurboIndex(None, DIMENSION)
    index.upsert([3, 8], np.eye(2, DIMENSION, dtype=np.float32))
    index.close()
    assert (index.high_water, index.count()) == (0, 0)


def test_a_part_of_a_matrix_is_settled_only_with_the_whole() -> None:
    whole = np.ones((4, 3), np.float32)
    part = whole[1:]
    part.flags.writeable = False
    assert not _settled(part)
    whole.flags.writeable = False
    assert _settled(whole[1:])
    assert not _settled(np.frombuffer(bytearray(12), np.float32).reshape(1, 3))
