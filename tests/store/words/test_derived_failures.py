"""Damage or loss of the derived word index changes no answer."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragstone.store.sqlite import SqliteStore
from ragstone.store.words import derived_index

pytest.importorskip("tantivy")
from tests.support.derived_words import HERE, ask, derived, fill, index


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Let stores of a few chunks have an index."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived_index, "LEAST_CHUNKS", 10)
        patch.setattr(derived_index, "EXTEND_AT", 50)
        yield


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _garble(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


@pytest.mark.parametrize("harm", [_cut, _empty, _garble, Path.unlink])
@pytest.mark.parametrize("kind", ["meta.json", "*.idx", "*.term", "*.fast", "*"])
def test_damaged_files_change_no_answer_and_are_written_again(
    tmp_path: Path, kind: str, harm: Callable[[Path], None]
) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(60))
        folder = index(store)
    assert folder
    for file in list(folder.glob(kind)):
        harm(file)
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert len(store.search_words(HERE, ["appl"], limit=99)) == 60
        assert len(store.search_words(HERE, ["number7"], limit=99)) == 1
        fill(store, range(60, 120))
        assert len(store.search_words(HERE, ["appl"], limit=999)) == 120
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert len(derived(store, ["appl"], 999)) == 120


def test_a_folder_that_vanishes_changes_no_answer_and_is_written_again(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(60))
        assert len(derived(store, ["appl"], 99)) == 60
        shutil.rmtree(tmp_path / "words")
        fill(store, range(60, 70))
        assert len(store.search_words(HERE, ["appl"], limit=99)) == 70
        fill(store, range(70, 130))
        assert len(store.search_words(HERE, ["appl"], limit=999)) == 130
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert len(derived(store, ["appl"], 999)) == 130


def test_a_file_where_the_folder_should_be_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("mine")
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(60))
        store.compact(secure=True)
        assert len(store.search_words(HERE, ["appl"], limit=99)) == 60
    assert (tmp_path / "words").read_text() == "mine"


def test_without_the_package_fts5_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(60))
    monkeypatch.setitem(sys.modules, "tantivy", None)
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert ask(store, ["appl"])[0] is None
        fill(store, range(60, 120))
        assert len(store.search_words(HERE, ["appl"], limit=999)) == 120
        store.compact(secure=True)
    monkeypatch.undo()
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert len(store.search_words(HERE, ["appl"], limit=999)) == 120


def test_an_older_file_put_back_is_not_answered_from_a_later_index(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        fill(store, range(30))
        store.backup(tmp_path / "copy")
        fill(store, range(30, 90), word="pear")
    (tmp_path / "copy").replace(path)
    with SqliteStore(path) as store:
        fill(store, range(30, 90), word="plum")
        assert store.search_words(HERE, ["pear"], limit=99) == []
        assert len(derived(store, ["plum"], 99)) == 60


def test_a_store_in_memory_has_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SqliteStore(":memory:") as store:
        fill(store, range(100))
        store.compact(secure=True)
        assert len(store.search_words(HERE, ["appl"], limit=999)) == 100
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions are told otherwise there")
def test_only_this_user_can_read_the_files(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with SqliteStore(tmp_path / "ragstone.db") as store:
            for start in range(0, 600, 60):
                fill(store, range(start, start + 60))
    finally:
        os.umask(before)
    paths = [tmp_path / "words", *(tmp_path / "words").rglob("*")]
    assert len(paths) > 6
    assert [path for path in paths if path.stat().st_mode & 0o077] == []
