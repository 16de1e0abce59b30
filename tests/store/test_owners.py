"""A vector is kept only of a text that is there and the project's, whether or not there is another project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store import prepare
from ragstone.types import Scope, Space


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.ensure_collection("p", "c")
        store.put("p", "c", [prepare("a.md", ["one", "two", "three", "four"])])
        yield store


def texts_of(store: SqliteStore, project: str, space: int) -> list[int]:
    return [text.text_id for text in store.pending(Scope(project), space)]


def test_texts_that_are_not_there_get_no_vector(store: SqliteStore) -> None:
    space = store.ensure_space("p", "c", Space("fake", "m", 4)).id
    first, second, third, fourth = texts_of(store, "p", space)
    given = [(text, b"1234") for text in (first, second, fourth, fourth + 1)]
    assert store.put_vectors("p", space, given) == 3
    assert [row.text_id for row in store.vector_rows("p", space).after(0, 9)] == [first, second, fourth]
    assert store.put_vectors("p", space, [(text, b"1234") for text in (second, third, fourth)]) == 1


def test_texts_of_another_project_get_none_in_this_one(store: SqliteStore) -> None:
    store.ensure_collection("q", "c")
    store.put("q", "c", [prepare("b.md", ["five", "six"])])
    spaces = {project: store.ensure_space(project, "c", Space("fake", "m", 4)).id for project in "pq"}
    ours, theirs = (texts_of(store, project, spaces[project]) for project in "pq")
    assert theirs[0] == ours[-1] + 1, "they come in one row"
    given = [(text, b"1234") for text in (*ours, *theirs)]
    assert store.put_vectors("p", spaces["p"], given) == 4
    assert store.put_vectors("q", spaces["q"], given) == 2
    assert [row.text_id for row in store.vector_rows("q", spaces["q"]).after(0, 9)] == theirs
