"""A snapshot shows one moment of the store."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragstone.errors import StoreError
from ragstone.protocols import DocumentReader
from ragstone.store.connection import Snapshot
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope

KEY, HERE = CollectionKey("p", "c"), Scope("p")


def filled(place: Path | str) -> SqliteStore:
    store = SqliteStore(place)
    store.ensure_collection(KEY)
    store.put(KEY, [prepare("a.md", ["one"])])
    return store


def uris(reader: DocumentReader) -> list[str]:
    return [document.uri for document in reader.documents(HERE)]


def test_a_snapshot_does_not_show_later_writes_to_any_thread(tmp_path: Path) -> None:
    with (
        filled(tmp_path / "a.db") as store,
        SqliteStore(tmp_path / "a.db") as other,
        ThreadPoolExecutor(1) as pool,
    ):
        with store.snapshot() as view:
            before = view.generation(HERE)
            other.put(KEY, [prepare("b.md", ["two"])])
            assert uris(view) == pool.submit(uris, view).result() == ["a.md"]
            assert uris(store) == pool.submit(uris, store).result() == ["a.md", "b.md"]
            assert view.generation(HERE) == before
        assert store.generation(HERE) > before


def test_the_moment_of_a_snapshot_is_when_it_was_opened_not_when_it_is_first_read(
    tmp_path: Path,
) -> None:
    with filled(tmp_path / "a.db") as store, store.snapshot() as view:
        store.put(KEY, [prepare("b.md", ["two"])])
        assert uris(view) == ["a.md"]


def test_writers_of_a_store_in_memory_wait_for_an_open_snapshot() -> None:
    with filled(":memory:") as store, ThreadPoolExecutor(1) as pool:
        with store.snapshot() as view:
            writing = pool.submit(store.put, KEY, [prepare("b.md", ["two"])])
            time.sleep(0.05)
            assert uris(view) == uris(store) == ["a.md"]
        writing.result(10)
        assert uris(store) == ["a.md", "b.md"]


@pytest.mark.parametrize("place", ["a.db", ":memory:"])
def test_a_snapshot_ends_after_the_last_read_in_it_and_allows_no_later_one(
    tmp_path: Path, place: str
) -> None:
    with (
        filled(place if place == ":memory:" else tmp_path / place) as store,
        ThreadPoolExecutor(1) as pool,
    ):
        started, uris = threading.Event(), list[str]()

        def slow(source: Snapshot) -> None:
            with source.reading() as db:
                started.set()
                time.sleep(0.05)
                uris.extend(uri for (uri,) in db.execute("SELECT uri FROM documents"))

        with store._database.snapshot() as snapshot:
            assert isinstance(snapshot, Snapshot)
            pool.submit(slow, snapshot)
            assert started.wait(10)
        assert uris == ["a.md"]
        with pytest.raises(StoreError, match="ended"):
            slow(snapshot)


def test_after_an_interrupt_a_connection_that_a_thread_may_still_read_is_not_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(snapshot: Snapshot) -> None:
        raise KeyboardInterrupt

    with filled(tmp_path / "a.db") as store:
        monkeypatch.setattr(Snapshot, "end", interrupted)
        with pytest.raises(KeyboardInterrupt), store.snapshot() as view:
            connection = view._source._connection  # type: ignore[attr-defined]  # the view of a SQLite store
        assert connection not in store._database._idle
        assert uris(store) == ["a.md"]


def test_a_thread_can_write_while_it_has_a_snapshot_open(tmp_path: Path) -> None:
    for place in (tmp_path / "a.db", ":memory:"):
        with filled(place) as store:
            with store.snapshot():
                store.put(KEY, [prepare("b.md", ["two"])])
            assert uris(store) == ["a.md", "b.md"]
