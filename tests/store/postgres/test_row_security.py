"""The server itself keeps projects apart: a transaction of one project sees no row of another."""

from __future__ import annotations

import io
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import errors, sql

from ragstone.store.postgres import schema
from ragstone.store.postgres.store import PostgresStore
from ragstone.testing.example_graph import FILE
from ragstone.testing.store_case import KEY, OTHER, OTHER_KEY, PROJECT, SPACE, prepare
from ragstone.types import (
    CollectionKey,
    IncomingFile,
    JobRequest,
    Stamp,
    StoredKey,
    UnreadFile,
    UnreadFiles,
)
from ragstone.vectors.pgvector_index import PgvectorIndex

Connection = psycopg.Connection[tuple[object, ...]]
TABLES = [table for table in schema.tables() if table != "meta"]


def fill(store: PostgresStore, key: CollectionKey) -> None:
    """Store at least one row of the project in every table."""
    store.ensure_collection(key)
    store.put(key, [prepare("a.md", ["apple pie"])])
    space = store.vectors.ensure_space(key, SPACE).id
    (text,) = store.vectors.pending(key.scope, space)
    store.vectors.put(key.project, space, [(text.text_id, b"abcd")])
    rows = store.vectors.rows(key.project, space)
    index = PgvectorIndex(rows.embeddings(4), 4)  # type: ignore[attr-defined]  # of this store
    index.upsert(rows.ids_after(0), [[1.0, 0.0, 0.0, 0.0]])  # type: ignore[arg-type]
    store.graph.put(key, {"a": FILE}, data={"a": b"data"})
    store.keys.add(StoredKey(f"k-{key.project}", key.project, "", ("read",), b"d", 1.0))
    store.keys.set_plan(key.project, "pro")
    store.state.update_collection_state(key, synced_at=1.0)
    unread = UnreadFile(Stamp(1, 1, 1, 1), "binary")
    store.state.set_unread_files(key, UnreadFiles("r", {"x": unread}))
    session = CollectionKey(key.project, "talk", "session")
    store.ensure_collection(session)
    store.state.update_session_state(session, next_turn=1)
    store.state.add_shown_passages(key.project, "talk", ["m"], keep=9)
    files = [IncomingFile("a.md", 5, io.BytesIO(b"apple"))]
    store.jobs.add(key.project, JobRequest("upload", key.name), files)


@pytest.fixture
def connection(database_url: str) -> Iterator[Connection]:
    """Give a plain connection of the role that stores use, to a database with two filled projects."""
    with PostgresStore(database_url) as store:
        fill(store, KEY)
        fill(store, OTHER_KEY)
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


def count(connection: Connection, table: str) -> int:
    statement = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
    ((number,),) = connection.execute(statement).fetchall()
    assert isinstance(number, int)
    return number


def enter(connection: Connection, project: str) -> None:
    """Let the connection see a project, as every transaction of a store does."""
    connection.execute("SET ragstone.project = 0")
    ((number,),) = connection.execute(
        "SELECT id FROM projects WHERE name = %s", (project,)
    ).fetchall()
    connection.execute(sql.SQL("SET ragstone.project = {}").format(sql.Literal(number)))


def test_a_project_sees_its_own_rows_in_every_table(connection: Connection) -> None:
    connection.execute("SET ragstone.project = 0")
    all_rows = {table: count(connection, table) for table in TABLES}
    enter(connection, PROJECT)
    own_rows = {table: count(connection, table) for table in TABLES}
    assert own_rows == {table: number // 2 for table, number in all_rows.items()}
    assert 0 not in own_rows.values()


def test_no_statement_shows_rows_of_another_project(connection: Connection) -> None:
    enter(connection, PROJECT)
    names = connection.execute("SELECT name FROM projects").fetchall()
    keys = connection.execute("SELECT id FROM api_keys").fetchall()
    joined = connection.execute(
        "SELECT p.name FROM texts t JOIN projects p ON p.id = t.project WHERE p.name = %s",
        (OTHER,),
    )
    assert names == [(PROJECT,)]
    assert keys == [(f"k-{PROJECT}",)]
    assert joined.fetchall() == []


def test_a_connection_without_a_project_sees_nothing(connection: Connection) -> None:
    assert {count(connection, table) for table in TABLES} == {0}


def test_rows_of_another_project_cannot_be_changed_or_added(connection: Connection) -> None:
    connection.execute("SET ragstone.project = 0")
    ((other,),) = connection.execute(
        "SELECT id FROM projects WHERE name = %s", (OTHER,)
    ).fetchall()
    enter(connection, PROJECT)
    changed = connection.execute(
        "UPDATE documents SET title = 'mine' WHERE project = %s", (other,)
    )
    removed = connection.execute("DELETE FROM texts WHERE project = %s", (other,))
    assert (changed.rowcount, removed.rowcount) == (0, 0)
    with pytest.raises(errors.InsufficientPrivilege):
        connection.execute(
            "INSERT INTO texts (project, hash, body) VALUES (%s, 'x', 'planted')", (other,)
        )


def test_a_superuser_is_reported(database_url: str) -> None:
    with PostgresStore(database_url) as store:
        findings = {finding.name: finding.ok for finding in store.check()}
    as_admin = database_url.replace("//ragstone:", "//admin:")
    with PostgresStore(as_admin) as store:
        admin_findings = {finding.name: finding.ok for finding in store.check()}
    assert findings["row security"]
    assert not admin_findings["row security"]
