"""The derived word index is built beside the searches that would gain from it, and not before the first answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.store.sqlite import SqliteStore
from ragstone.store.words import derived as words_derived
from ragstone.store.words import fts5_search as words_search
from ragstone.testing.store import prepare
from ragstone.types import CollectionKey, Scope

pytest.importorskip("tantivy")

HERE = Scope("p")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stores of a few chunks have an index."""
    monkeypatch.setattr(words_derived, "LEAST_CHUNKS", 10)
    monkeypatch.setattr(words_derived, "LONG_TAIL", 50)
    monkeypatch.setattr(words_derived, "SHORT_TAIL", 5)


def fill(store: SqliteStore, count: int) -> None:
    store.ensure_collection(CollectionKey("p", "c"))
    store.put(CollectionKey("p", "c"), [prepare(f"{n}.md", [f"apple number{n}"]) for n in range(count)])


def asked_often(store: SqliteStore, times: int = words_derived.PATIENCE) -> set[int]:
    """Return how many chunks each of several searches found."""
    return {len(store.search_words(HERE, ["appl"], limit=99)) for _ in range(times)}


def derived(store: SqliteStore) -> int | None:
    """Return how many chunks the derived index finds, None where FTS5 has to answer."""
    with store._database.reading() as db:
        found = store._words.search(db, words_search.Within(None, None), ["appl"], 99)
    return None if found is None else len(found)


def test_a_long_tail_is_brought_in_while_searches_are_answered(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, 30)
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert asked_often(store, 1) == {30}
        assert derived(store) is None
        assert store._words._beside is None, "who asks once is not kept waiting for it"
        assert asked_often(store) == {30}
        assert store._words._beside
        store._words._beside.join()
        assert derived(store) == 30
        assert asked_often(store, 9) == {30}


def test_a_store_that_is_closed_does_not_wait_until_all_of_it_is_built(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, 40)
        store._words._closing = True  # as if closed in between
        assert asked_often(store) == {40}
        assert store._words._beside
        store._words._beside.join()
        assert derived(store) is None
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert asked_often(store) == {40}
        assert store._words._beside
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert asked_often(store, 9) == {40}


def test_a_store_that_can_only_be_read_builds_nothing(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, 30)
        store._database.read_only = True
        assert asked_often(store, 9) == {30}
        assert store._words._beside is None
        store._database.read_only = False
