from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ragstone import text as words
from ragstone.store import schema, sqlite, words_index
from ragstone.store.schema import MIGRATIONS, NEWEST, Migration, upgrade, version_of
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store import prepare
from ragstone.types import Graph, Node, Scope

NEXT = Migration(NEWEST + 1, "a column more", ("ALTER TABLE documents ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'",))
BROKEN = Migration(NEWEST + 2, "one that fails", ("CREATE TABLE half (x)", "INSERT INTO nowhere VALUES (1)"))


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_versions_are_numbered_without_holes() -> None:
    assert [migration.version for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_an_older_store_is_saved_then_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection("p", "c")
        store.put("p", "c", [prepare("a.md", ["apple"])])
    saved: list[int] = []
    db = _connect(path)
    assert upgrade(db, migrations=(*MIGRATIONS, NEXT), save=saved.append) == NEXT.version
    assert saved == [NEWEST]
    assert db.execute("SELECT mood FROM documents").fetchall() == [("calm",)]
    assert upgrade(db, migrations=(*MIGRATIONS, NEXT), save=saved.append) == NEXT.version
    assert saved == [NEWEST]
    db.close()


def test_words_of_a_store_whose_body_came_last_are_found_by_the_same_weights(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection("p", "c")
        store.put("p", "c", [prepare("pear/a.md", ["apple"]), prepare("b.md", ["pear pear plum"])])
        expected = store.search_words(Scope("p"), ["pear", "plum"], limit=5)
    old = next(text for text in MIGRATIONS[0].statements if "fts5 (" in text)
    db = _connect(path)
    graph = [f"DROP TABLE graph_{name}" for name in ("nodes", "links", "aliases", "unresolved", "kept", "owners")]
    for statement in ("DROP TABLE words_terms", "DROP TABLE words", old, *graph):
        db.execute(statement)
    db.execute("CREATE VIRTUAL TABLE words_terms USING fts5vocab (words, row)")
    words_index.rebuild(db)
    db.execute("UPDATE meta SET value = 2 WHERE key = 'schema_version'")
    db.close()
    with SqliteStore(path) as store:
        assert store.search_words(Scope("p"), ["pear", "plum"], limit=5) == expected
        assert len(expected) == 2
        assert all(finding.ok for finding in store.check())
    assert (tmp_path / "ragstone.db.v2.bak").exists()


def test_a_store_without_a_graph_is_given_tables_for_one(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    db = _connect(path)
    assert upgrade(db, migrations=MIGRATIONS[:3]) == 3
    words_index.rebuild(db)
    db.close()
    path.chmod(0o600)
    with SqliteStore(path) as store:
        store.ensure_collection("p", "c")
        store.put_graph("p", "c", {"file:a.py": Graph(nodes=(Node("class:A", "class", "A"),))})
        assert [node.name for node in store.nodes(Scope("p"))] == ["A"]
        assert all(finding.ok for finding in store.check())
    assert (tmp_path / "ragstone.db.v3.bak").exists()


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    SqliteStore(path).close()
    db = _connect(path)
    with pytest.raises(sqlite3.Error):
        upgrade(db, migrations=(*MIGRATIONS, NEXT, BROKEN))
    assert version_of(db) == NEWEST
    assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchone()
    assert "mood" not in [row[1] for row in db.execute("PRAGMA table_info(documents)")]
    db.close()
    SqliteStore(path).close()


def test_opening_an_older_store_leaves_a_copy_of_it_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection("p", "c")
        store.put("p", "c", [prepare("a.md", ["apple"])])
    later = (*MIGRATIONS, NEXT)
    monkeypatch.setattr(schema, "NEWEST", NEXT.version)
    monkeypatch.setattr(schema.upgrade, "__kwdefaults__", {"migrations": later, "save": None})
    monkeypatch.setattr(schema.refuse_newer, "__defaults__", (NEXT.version,))
    with sqlite.SqliteStore(path) as store:
        assert store.text("p", "c", "a.md") == "apple"
    monkeypatch.undo()
    copy = tmp_path / f"ragstone.db.v{NEWEST}.bak"
    with SqliteStore(copy) as store:
        assert store.text("p", "c", "a.md") == "apple"


def test_another_number_of_the_analysis_is_another_analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection("p", "c")
        store.put("p", "c", [prepare("a.md", ["apple"])])
        store._database._writer.execute("INSERT INTO words (words) VALUES ('delete-all')")
    monkeypatch.setattr(words, "VERSION", words.VERSION + 1)
    words_index.version.cache_clear()
    try:
        with SqliteStore(path) as store:
            assert len(store.search_words(Scope("p"), ["appl"], limit=5)) == 1
    finally:
        words_index.version.cache_clear()


def test_words_made_by_another_analysis_are_made_again(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection("p", "c")
        store.put("p", "c", [prepare("a.md", ["apple"])])
    db = _connect(path)
    db.execute("INSERT INTO words (words) VALUES ('delete-all')")
    db.execute("INSERT INTO words (rowid, body) VALUES (1, 'oldterm')")
    db.execute("UPDATE meta SET value = 'old' WHERE key = 'words_version'")
    db.close()
    with SqliteStore(path) as store:
        assert store.search_words(Scope("p"), ["oldterm"], limit=5) == []
        assert len(store.search_words(Scope("p"), ["appl"], limit=5)) == 1
        assert all(finding.ok for finding in store.check())
