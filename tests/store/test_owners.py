"""A vector is kept only of a text that is there and the project's, whether or not there is another project."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ragstone.errors import InputError, NotFound, StoreError
from ragstone.store import vectors
from ragstone.store.connection import Database
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store import prepare
from ragstone.types import Scope, Space


@pytest.fixture(params=[1, vectors.MANY])
def store(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    monkeypatch.setattr(vectors, "MANY", request.param)
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.ensure_collection("p", "c")
        store.put("p", "c", [prepare("a.md", ["one", "two", "three", "four"])])
        yield store
        writer = store._database._writer
        assert writer.execute("PRAGMA foreign_key_check").fetchall() == []
        assert writer.execute("PRAGMA foreign_keys").fetchone() == (1,)


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


def test_what_cannot_be_stored_leaves_texts_and_vectors_bound_to_each_other(store: SqliteStore) -> None:
    space = store.ensure_space("p", "c", Space("fake", "m", 4)).id
    texts = texts_of(store, "p", space)
    with pytest.raises(InputError, match="one length"):
        store.put_vectors("p", space, [(texts[0], b"1234"), (texts[1], b"12345")])
    with pytest.raises(NotFound):
        store.put_vectors("p", space + 1, [(text, b"1234") for text in texts])
    assert store.put_vectors("p", space, [(text, b"1234") for text in texts]) == 4
    assert store.remove("p", "c", ["a.md"]) == 1
    store.compact()
    assert store.vector_rows("p", space).after(0, 9) == []


def test_after_a_ctrl_c_nothing_is_written_before_texts_and_vectors_are_bound_again(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = store.ensure_space("p", "c", Space("fake", "m", 4)).id
    database = store._database

    def interrupted(database: Database) -> None:
        if not database._keys_checked:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(Database, "_check_keys", interrupted)
        store.put_vectors("p", space, [(text, b"1234") for text in texts_of(store, "p", space)])
    loose = database._writer.execute("PRAGMA foreign_keys").fetchone() == (0,)
    assert loose is (4 >= vectors.MANY)
    assert len(store.vector_rows("p", space).after(0, 9)) == 4
    assert store.remove("p", "c", ["a.md"]) == 1
    store.compact()
    assert store.vector_rows("p", space).after(0, 9) == []


def test_nothing_is_written_where_texts_and_vectors_cannot_be_bound_again(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store._database._keys_checked = False
        store._database._writer.execute("PRAGMA foreign_keys = OFF")
        store._database._writer.execute("BEGIN")
        with pytest.raises(StoreError, match="foreign keys"):
            store.ensure_collection("p", "c")
        store._database._writer.execute("ROLLBACK")
        store.ensure_collection("p", "c")
        assert store._database._writer.execute("PRAGMA foreign_keys").fetchone() == (1,)
