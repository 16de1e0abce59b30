from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ragstone import text as words
from ragstone.store.sqlite import SqliteStore
from ragstone.store.words import terms
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_another_number_of_the_analysis_is_another_analysis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(CollectionKey("p", "c"), [prepare("a.md", ["apple"])])
        store._database._writer.execute("INSERT INTO words (words) VALUES ('delete-all')")
    monkeypatch.setattr(words, "VERSION", words.VERSION + 1)
    terms.version.cache_clear()
    try:
        with SqliteStore(path) as store:
            assert len(store.search_words(Scope("p"), ["appl"], limit=5)) == 1
    finally:
        terms.version.cache_clear()


def test_words_made_by_another_analysis_are_made_again(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(CollectionKey("p", "c"), [prepare("a.md", ["apple"])])
    db = _connect(path)
    db.execute("INSERT INTO words (words) VALUES ('delete-all')")
    db.execute("INSERT INTO words (rowid, body) VALUES (1, 'oldterm')")
    db.execute("UPDATE meta SET value = 'old' WHERE key = 'words_version'")
    db.close()
    with SqliteStore(path) as store:
        assert store.search_words(Scope("p"), ["oldterm"], limit=5) == []
        assert len(store.search_words(Scope("p"), ["appl"], limit=5)) == 1
        assert all(finding.ok for finding in store.check())
