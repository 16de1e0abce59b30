"""A vector is kept only of a text that is there and the project's, whether or not there is another project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.errors import InputError, NotFound
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope, Space


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(CollectionKey("p", "c"), [prepare("a.md", ["one", "two", "three", "four"])])
        yield store
        assert all(finding.ok for finding in store.check())


def texts_of(store: SqliteStore, project: str, space: int) -> list[int]:
    return [text.text_id for text in store.vectors.pending(Scope(project), space)]


def test_texts_that_are_not_there_get_no_vector(store: SqliteStore) -> None:
    space = store.vectors.ensure_space(CollectionKey("p", "c"), Space("fake", "m", 4)).id
    first, second, third, fourth = texts_of(store, "p", space)
    rows = [(text, b"1234") for text in (first, second, fourth, fourth + 1)]
    assert store.vectors.put("p", space, rows) == 3
    assert [row.text_id for row in store.vectors.rows("p", space).after(0, 9)] == [
        first,
        second,
        fourth,
    ]
    assert (
        store.vectors.put("p", space, [(text, b"1234") for text in (second, third, fourth)])
        == 1
    )


def test_texts_of_another_project_get_none_in_this_one(store: SqliteStore) -> None:
    store.ensure_collection(CollectionKey("q", "c"))
    store.put(CollectionKey("q", "c"), [prepare("b.md", ["five", "six"])])
    spaces = {
        project: store.vectors.ensure_space(
            CollectionKey(project, "c"), Space("fake", "m", 4)
        ).id
        for project in "pq"
    }
    ours, theirs = (texts_of(store, project, spaces[project]) for project in "pq")
    assert theirs[0] == ours[-1] + 1, "they come in one row"
    rows = [(text, b"1234") for text in (*ours, *theirs)]
    assert store.vectors.put("p", spaces["p"], rows) == 4
    assert store.vectors.put("q", spaces["q"], rows) == 2
    assert [row.text_id for row in store.vectors.rows("q", spaces["q"]).after(0, 9)] == theirs


def test_refused_vectors_leave_the_store_intact(
    store: SqliteStore,
) -> None:
    space = store.vectors.ensure_space(CollectionKey("p", "c"), Space("fake", "m", 4)).id
    texts = texts_of(store, "p", space)
    with pytest.raises(InputError, match="one length"):
        store.vectors.put("p", space, [(texts[0], b"1234"), (texts[1], b"12345")])
    with pytest.raises(NotFound):
        store.vectors.put("p", space + 1, [(text, b"1234") for text in texts])
    assert store.vectors.put("p", space, [(text, b"1234") for text in texts]) == 4
    assert store.remove(CollectionKey("p", "c"), ["a.md"]) == 1
    store.compact()
    assert store.vectors.rows("p", space).after(0, 9) == []
