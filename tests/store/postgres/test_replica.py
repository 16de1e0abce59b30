"""A real streaming replica: it answers searches, and never with less than this process has written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ragstone import Engine
from ragstone.errors import StoreOffline
from ragstone.store.postgres import replica as replica_module
from ragstone.store.postgres.store import PostgresStore
from ragstone.surfaces.cli.app import run
from ragstone.testing.store_case import HERE, KEY, put_text
from tests.support.postgres_server import ADMIN, NoServer, PostgresServer
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """Give a server and a replica that follows it."""
    try:
        primary = PostgresServer()
    except NoServer as error:
        pytest.skip(str(error))
    try:
        replica = primary.new_replica()
        yield primary, replica
        replica.close()
    finally:
        primary.close()


@pytest.fixture
def urls(
    servers: tuple[PostgresServer, PostgresServer], monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """Return the addresses of a new database on both servers. A replica that failed is asked again at once."""
    monkeypatch.setattr(replica_module, "_AVOID_SECONDS", 0.0)
    primary, replica = servers
    name = primary.new_database()
    address = replica.url(name)
    assert wait_until(lambda: can_connect(address))
    return primary.url(name), address


def can_connect(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def pause(server: PostgresServer, *, is_paused: bool) -> None:
    """Let the replica stop to replay the log, or go on."""
    call = "pg_wal_replay_pause" if is_paused else "pg_wal_replay_resume"
    with psycopg.connect(server.url("postgres", role=ADMIN), autocommit=True) as connection:
        connection.execute(f"SELECT {call}()")


def answered_by_replica(store: PostgresStore) -> bool:
    """Return whether a snapshot is one of the replica."""
    with store.database.snapshot() as view, view.reading(None) as db:
        row = db.execute("SELECT pg_is_in_recovery()", ()).fetchone()
    return bool(row and row[0])


def uris(store: PostgresStore) -> list[str]:
    with store.snapshot() as view:
        return [document.uri for document in view.documents(HERE)]


def test_a_streaming_replica_answers_searches(urls: tuple[str, str], tmp_path: Path) -> None:
    settings = {
        "rag.embedding_provider": "fake",
        "store.url": urls[0],
        "store.replica_url": urls[1],
    }
    with Engine.open(tmp_path, config=settings) as engine:
        engine.add("The heron stands in the reeds.", uri="heron.md")
        store = engine.workspace.components.store
        assert isinstance(store, PostgresStore)
        assert wait_until(lambda: answered_by_replica(store))
        for mode in ("words", "vectors", "hybrid"):
            (hit,) = engine.search("heron reeds", mode=mode)
            assert hit.source_doc_id == "heron.md"
        shared = engine.status().shared
        assert shared is not None
        assert shared.replica.endswith("answers searches")


def test_a_replica_that_is_behind_never_hides_a_write_of_this_process(
    servers: tuple[PostgresServer, PostgresServer], urls: tuple[str, str]
) -> None:
    with PostgresStore(urls[0], replica_url=urls[1]) as store:
        store.ensure_collection(KEY)
        put_text(store, "a.md", "apple")
        assert wait_until(lambda: answered_by_replica(store))
        pause(servers[1], is_paused=True)
        try:
            for number in range(5):
                put_text(store, f"b{number}.md", "banana")
                assert f"b{number}.md" in uris(store)
                assert not answered_by_replica(store)
            assert "it is behind" in store.describe_replica()
        finally:
            pause(servers[1], is_paused=False)
        assert wait_until(lambda: answered_by_replica(store))
        assert len(uris(store)) == 6


def test_writes_of_other_processes_are_seen_although_the_replica_is_behind(
    servers: tuple[PostgresServer, PostgresServer], urls: tuple[str, str]
) -> None:
    with (
        PostgresStore(urls[0], replica_url=urls[1]) as reader,
        PostgresStore(urls[0]) as writer,
    ):
        writer.ensure_collection(KEY)
        put_text(writer, "a.md", "apple")
        assert wait_until(lambda: uris(reader) == ["a.md"])
        pause(servers[1], is_paused=True)
        try:
            put_text(writer, "b.md", "banana")
            assert wait_until(lambda: uris(reader) == ["a.md", "b.md"])
        finally:
            pause(servers[1], is_paused=False)


def test_a_replica_that_is_down_is_replaced_by_the_primary(
    servers: tuple[PostgresServer, PostgresServer],
    urls: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RAGSTONE_STORE_URL", urls[0])
    monkeypatch.setenv("RAGSTONE_STORE_REPLICA_URL", urls[1])
    settings = {"rag.embedding_provider": "fake"}
    with Engine.open(tmp_path, config=settings) as engine:
        engine.add("The heron stands in the reeds.", uri="heron.md")
        store = engine.workspace.components.store
        assert isinstance(store, PostgresStore)
        assert wait_until(lambda: answered_by_replica(store))
        with pytest.raises(StoreOffline, match="replica"), store.snapshot() as view:
            assert view.documents(HERE) == []
            servers[1].stop()
            view.generation(HERE)
        try:
            assert [hit.source_doc_id for hit in engine.search("heron")] == ["heron.md"]
            assert run(("status", "-C", str(tmp_path), "--json")) == 0
            replica = json.loads(capfd.readouterr().out)["shared"]["replica"]
            assert "searches read from the primary" in replica
            assert "does not answer" in replica
        finally:
            servers[1].start()
        assert wait_until(lambda: answered_by_replica(store))


def test_a_server_that_accepts_writes_is_not_used_as_a_replica(urls: tuple[str, str]) -> None:
    with PostgresStore(urls[0], replica_url=urls[0]) as store:
        store.ensure_collection(KEY)
        assert uris(store) == []
        assert "it is no replica" in store.describe_replica()
