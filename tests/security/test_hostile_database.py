"""A database that another program prepared is refused before it can keep a command busy."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.errors import StoreDamaged, StoreError
from ragstone.store import codec, connection
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope

KEY = CollectionKey("p", "c")
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(KEY)
        store.put(KEY, [prepare("a.md", ["apple"])])
    return path


@pytest.mark.parametrize(
    "script",
    [
        f"DROP TABLE meta; CREATE VIEW meta AS SELECT i AS key, i AS value FROM ({ENDLESS})",
        f"DROP TABLE collections; CREATE VIEW collections AS {ENDLESS}",
        f"CREATE VIEW more AS {ENDLESS}",
        "CREATE TRIGGER t AFTER UPDATE ON documents BEGIN DELETE FROM documents; END",
        "CREATE TABLE more (id INTEGER PRIMARY KEY)",
        "CREATE INDEX more ON documents (length(hex(zeroblob(100000000))))",
        "ALTER TABLE documents ADD COLUMN more AS (length(hex(zeroblob(100000000))))",
    ],
)
def test_a_foreign_schema_is_refused(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.executescript(script)
    with pytest.raises(StoreError, match="that Ragstone does not make"):
        SqliteStore(path)


def test_a_statement_that_runs_too_long_is_stopped(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqliteStore(path) as store:
        monkeypatch.setattr(connection, "MAX_READ_SECONDS", 0.05)
        with (
            pytest.raises(StoreError, match="took too long to read") as caught,
            store.rows() as db,
        ):
            db.execute(f"SELECT count(*) FROM ({ENDLESS})").fetchone()
        assert "ragstone doctor" in caught.value.hint
        assert len(store.search_words(Scope("p"), ["appl"], limit=5)) == 1


def test_a_text_that_unpacks_to_gigabytes_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "_MAX_PLAIN_BYTES", 1000)
    with pytest.raises(StoreDamaged):
        codec.load_gaps(zlib.compress(b"a" * 1001))
    assert codec.load_gaps(zlib.compress(b"a" * 1000)) == "a" * 1000
