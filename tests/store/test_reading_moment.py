"""What a search reads is of one moment."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragstone.errors import StoreError
from ragstone.store.connection import _Moment
from ragstone.store.sqlite import SqliteStore
from ragstone.types import Chunk, Document, Prepared, Scope, Span


def prepared(uri: str, text: str) -> Prepared:
    document = Document(uri, text)
    return Prepared(document, (Chunk(text, Span(0, len(text), 0, len(text), 1, 1), 0),), content_hash=document.hash)


def test_what_is_read_together_is_of_one_moment_whatever_others_write_meanwhile(tmp_path: Path) -> None:
    mine, other = SqliteStore(tmp_path / "a.db"), SqliteStore(tmp_path / "a.db")
    mine.ensure_collection("p", "c")
    mine.put("p", "c", [prepared("a.md", "one")])
    with mine.moment():
        before = mine.generation()
        other.put("p", "c", [prepared("b.md", "two")])
        assert mine.generation() == before
        assert [one.uri for one in mine.documents(Scope("p"))] == ["a.md"]
        with mine.moment():
            assert [one.uri for one in mine.documents(Scope("p"))] == ["a.md"]
        assert mine.generation() == before
    assert mine.generation() > before
    assert [one.uri for one in mine.documents(Scope("p"))] == ["a.md", "b.md"]
    mine.close()
    other.close()


def test_another_thread_reads_in_the_same_moment_where_its_work_is_shared(tmp_path: Path) -> None:
    mine, other = SqliteStore(tmp_path / "a.db"), SqliteStore(tmp_path / "a.db")
    mine.ensure_collection("p", "c")
    mine.put("p", "c", [prepared("a.md", "one")])

    def uris() -> list[str]:
        return [one.uri for one in mine.documents(Scope("p"))]

    with ThreadPoolExecutor(1) as pool, mine.moment():
        assert uris() == ["a.md"]
        other.put("p", "c", [prepared("b.md", "two")])
        assert pool.submit(mine.shared(uris)).result() == ["a.md"]
        assert pool.submit(uris).result() == ["a.md", "b.md"]
        assert uris() == ["a.md"]
    assert mine.shared(uris)() == ["a.md", "b.md"]
    mine.close()
    other.close()


@pytest.mark.parametrize("place", ["a.db", ":memory:"])
def test_a_moment_ends_when_nobody_reads_in_it_any_more_and_nobody_begins_to_later(tmp_path: Path, place: str) -> None:
    store = SqliteStore(place if place == ":memory:" else tmp_path / place)
    store.ensure_collection("p", "c")
    begun, read = threading.Event(), list[int]()

    def slow() -> None:
        begun.set()
        time.sleep(0.05)
        read.append(store.generation())

    with ThreadPoolExecutor(1) as pool:
        with store.moment():
            before = store.generation()
            pool.submit(store.shared(slow))
            late = store.shared(slow)
            assert begun.wait(10)
        assert read == [before]
        with pytest.raises(StoreError, match="not wanted"):
            late()
    assert read == [before]
    store.close()


def test_a_second_interrupt_does_not_end_a_moment_in_which_somebody_reads() -> None:
    class Interrupted:
        entered = 0

        def __enter__(self) -> None:
            self.entered += 1
            if self.entered == 1:
                raise KeyboardInterrupt

        def __exit__(self, *_: object) -> None:
            """Let go."""

    moment, lock = _Moment(None), Interrupted()
    moment.shared = lock  # type: ignore[assignment]  # as much of a lock as is used
    with pytest.raises(KeyboardInterrupt):
        moment.end()
    assert (moment.over, lock.entered) == (True, 2)


def test_one_can_write_in_between_and_reads_it_after(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db")
    store.ensure_collection("p", "c")
    with store.moment():
        store.put("p", "c", [prepared("a.md", "one")])
    assert [one.uri for one in store.documents(Scope("p"))] == ["a.md"]
    store.close()


def test_a_store_in_memory_has_moments_too() -> None:
    store = SqliteStore(":memory:")
    store.ensure_collection("p", "c")
    with store.moment():
        store.put("p", "c", [prepared("a.md", "one")])
        assert [one.uri for one in store.documents(Scope("p"))] == ["a.md"]
    store.close()
