"""A home that version 0.1 wrote is migrated, with a copy first, and gives the same answers."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.errors import InputError, StoreError, StoreTooNew
from ragstone.indexing.ownership import mark_own
from ragstone.store import migration_5_to_6, schema
from ragstone.store.sqlite import SqliteStore
from ragstone.types import CollectionKey, CollectionState, Scope, SessionState

FIXTURES = Path(__file__).parent / "version_5"
HOME = json.loads((FIXTURES / "home.json").read_text(encoding="utf-8"))
CONFIG = {"rag.embedding_provider": "fake", "search.watch": "off", "events.log": False}
DEFAULT, SHELL = CollectionKey("default", "default"), CollectionKey("default", "shell", "agent")
MONDAY, DOCS = (
    CollectionKey("default", "monday", "session"),
    CollectionKey("default", "docs", "session"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the files and the database that version 0.1 left."""
    for name, text in HOME["files"].items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    home = tmp_path / ".ragstone"
    home.mkdir(mode=0o700)
    with closing(sqlite3.connect(home / "ragstone.db")) as db:
        db.executescript((FIXTURES / "store.sql").read_text(encoding="utf-8"))
    (home / "ragstone.db").chmod(0o600)
    mark_own(home)
    return tmp_path


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / ".ragstone" / "ragstone.db"


def change(path: Path, *statements: str) -> None:
    """Change the old database before it is migrated."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def answers(folder: Path) -> dict[str, Any]:
    """Return the answers that `make.py.txt` asked version 0.1 for."""
    answers: dict[str, Any] = {}
    with Engine.open(folder, config=CONFIG) as engine:
        for query in ("lease", "river valley", "quote variable", "cat"):
            answers[f"search {query}"] = [hit.source_doc_id for hit in engine.search(query)]
        answers["agent"] = [
            hit.source_doc_id for hit in engine.agents.corpus("shell").search("quote variable")
        ]
        for session in ("monday", "docs", "unknown"):
            answers[f"turns {session}"] = [
                [turn.index, turn.role, turn.content] for turn in engine.turns(session)
            ]
        answers["recall"] = [
            recalled.turn.content
            for recalled in engine.recall("monday", "what is the cat called")
        ]
        answers["nodes"] = sorted(
            node.key for node in engine.graph.nodes(kinds=("class", "method"))
        )
        answers["context again"] = [
            cited.doc_id for cited in engine.context("river valley", 200, session="docs").cited
        ]
    with Engine.open(folder, config=CONFIG, project="beta") as engine:
        answers["beta"] = [hit.source_doc_id for hit in engine.search("valley")]
        answers["beta turns"] = [turn.content for turn in engine.turns("monday")]
    return answers


def test_a_home_of_version_0_1_gives_the_same_answers(folder: Path, path: Path) -> None:
    assert answers(folder) == HOME["answers"]
    assert answers(folder) == HOME["answers"]
    with closing(sqlite3.connect(path.with_name("ragstone.db.v5.bak"))) as db:
        assert schema.version_of(db) == 5
        assert db.execute("SELECT count(*) FROM notes").fetchone()[0] > 0


def test_hidden_projects_become_sessions_and_agents_of_their_project(path: Path) -> None:
    with SqliteStore(path) as store:
        assert [collection.name for collection in store.collections("default")] == ["default"]
        assert [collection.name for collection in store.collections("default", "session")] == [
            "docs",
            "monday",
        ]
        assert [collection.name for collection in store.collections("default", "agent")] == [
            "shell"
        ]
        assert [collection.name for collection in store.collections("beta", "session")] == [
            "monday"
        ]
        assert store.collections("default\x1fmemory") == []
        assert [finding for finding in store.check() if not finding.ok] == []


def test_text_keys_become_state(path: Path) -> None:
    with SqliteStore(path) as store:
        state = store.state.collection_state(DEFAULT)
        assert (state.follows_folder, state.root, state.relative_root) == (
            True,
            "/srv/project",
            "..",
        )
        assert state.synced_at is not None
        assert state.fingerprint
        assert store.state.session_state(MONDAY).next_turn == 3
        assert store.state.session_state(DOCS).version
        assert len(store.state.shown_passages("default", "docs")) == 2


def test_unread_files_and_remarks_are_kept_and_unreadable_values_are_dropped(
    path: Path,
) -> None:
    unread = json.dumps(["recipe", {"a.bin": [[1, 2, 3, 4], "binary file", False]}])
    change(
        path,
        f"INSERT INTO notes VALUES (1, 'unread:default', '{unread}')",
        "INSERT INTO notes VALUES (1, 'behind:default', '1')",
        "INSERT INTO notes VALUES (1, 'graph_remarks:default', '[\"one\"]')",
        "UPDATE notes SET value = 'soon' WHERE key = 'last_sync:default' AND project = 1",
    )
    with SqliteStore(path) as store:
        state = store.state.collection_state(DEFAULT)
        assert (state.needs_vectors, state.graph_remarks, state.synced_at) == (
            True,
            ("one",),
            None,
        )
        files = store.state.unread_files(DEFAULT)
        assert files.recipe == "recipe"
        assert [(uri, file.reason, file.failed) for uri, file in files.files.items()] == [
            ("a.bin", "binary file", False)
        ]


def test_a_text_that_two_projects_had_is_stored_once_with_one_vector(path: Path) -> None:
    with SqliteStore(path) as store:
        (first,) = store.document_chunks(DEFAULT, "guide/shell.md")
        (second,) = store.document_chunks(SHELL, "guide/shell.md")
        assert first.text_id == second.text_id
        (space,) = store.vectors.spaces(Scope("default"))
        assert len(store.vectors.rows("default", space.id).by_text([first.text_id])) == 1
        for scope in (Scope("default"), MONDAY.scope, SHELL.scope):
            assert store.vectors.pending(scope, space.id) == []


def test_another_text_with_the_same_key_gets_a_longer_key(path: Path) -> None:
    change(
        path,
        "UPDATE texts SET hash = (SELECT hash FROM texts WHERE project = 1 LIMIT 1)"
        " WHERE id = (SELECT min(id) FROM texts WHERE project = 3)",
    )
    with SqliteStore(path) as store:
        assert store.text(MONDAY, "turn:000000000") == "user: My cat is called Olivander."
        assert store.text(DEFAULT, "docs/rivers.md") == HOME["files"]["docs/rivers.md"]
        assert [finding for finding in store.check() if not finding.ok] == []


def test_all_documents_of_an_agent_with_several_collections_are_kept(path: Path) -> None:
    change(
        path,
        "INSERT INTO collections (id, uuid, project, name, description, settings)"
        " VALUES (90, 'u', 2, 'more', '', '{}')",
        "INSERT INTO documents SELECT 900 + id, 90, uri, kind, language, title, metadata, marks, source, hash,"
        " content_hash, recipe, stamp, characters, chunks, gaps, added_at, beside"
        " FROM documents WHERE collection = 2",
        'INSERT INTO chunks SELECT 900 + id, 90, 900 + document, ord, text_id, header, start, "end", byte_start,'
        " byte_end, line_start, line_end, page, page_label, kind, symbol, unit FROM chunks WHERE collection = 2",
        "UPDATE collections SET documents = 1, chunks = 1 WHERE id = 90",
    )
    with SqliteStore(path) as store:
        assert [
            collection.documents for collection in store.collections("default", "agent")
        ] == [2]
        uris = [document.uri for document in store.documents(SHELL.scope)]
        assert uris == ["guide/shell.md", "more/guide/shell.md"]
        assert store.text(SHELL, "more/guide/shell.md") == store.text(SHELL, "guide/shell.md")
        assert len(store.search_words(SHELL.scope, ["pipe"], limit=9)) == 2
        assert [finding for finding in store.check() if not finding.ok] == []


def test_names_with_control_characters_are_replaced(path: Path) -> None:
    change(
        path,
        "INSERT INTO projects (name) VALUES ('mine' || char(31) || 'own')",
        "UPDATE collections SET name = 'mon' || char(9) || 'day' WHERE id = 3",
    )
    with SqliteStore(path) as store:
        assert [collection.name for collection in store.collections("default", "session")] == [
            "docs",
            "mon_day",
        ]
        assert store.ensure_collection(CollectionKey("mine_own", "c")).project == "mine_own"


def test_a_migration_that_is_interrupted_changes_nothing_and_is_done_at_the_next_open(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(migration_5_to_6, "_rename_control_characters", interrupted)
        SqliteStore(path)
    with closing(sqlite3.connect(path)) as db:
        assert schema.version_of(db) == 5
        assert db.execute("SELECT count(*) FROM notes").fetchone()[0] > 0
    assert answers(folder) == HOME["answers"]
    assert path.with_name("ragstone.db.v5-2.bak").exists()


def test_a_store_of_a_later_version_is_refused_and_left_alone(path: Path) -> None:
    change(path, f"UPDATE meta SET value = {schema.NEWEST + 1} WHERE key = 'schema_version'")
    with pytest.raises(StoreTooNew):
        SqliteStore(path)
    change(path, "UPDATE meta SET value = 2 WHERE key = 'schema_version'")
    with pytest.raises(StoreError, match="version 2"):
        SqliteStore(path)
    assert list(path.parent.glob("*.bak")) == []


def test_a_project_cannot_be_opened_by_the_old_name_of_its_conversations(folder: Path) -> None:
    with pytest.raises(InputError, match="control characters"):
        Engine.open(folder, config=CONFIG, project="default\x1fmemory")


def test_state_of_a_collection_that_had_none_is_the_default(path: Path) -> None:
    with SqliteStore(path) as store:
        assert (
            store.state.collection_state(CollectionKey("beta", "default")) == CollectionState()
        )
        assert store.state.session_state(DEFAULT) == SessionState()


def test_a_file_of_version_6_gets_the_tables_of_keys_and_plans(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(DEFAULT)
    change(
        path,
        "DROP TABLE api_keys",
        "DROP TABLE project_plans",
        "UPDATE meta SET value = 6 WHERE key = 'schema_version'",
    )
    with SqliteStore(path) as store:
        assert not store.keys.any()
        store.keys.set_plan("default", "pro")
        assert store.keys.plan("default") == "pro"
        assert [collection.name for collection in store.collections("default")] == ["default"]
        assert [finding for finding in store.check() if not finding.ok] == []
    assert path.with_name("ragstone.db.v6.bak").exists()
