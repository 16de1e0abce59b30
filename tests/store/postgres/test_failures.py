"""A server that is down, refuses the login or is lost in the middle: a clear error, and no password in it."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator

import psycopg
import pytest

from ragstone.errors import ConfigError, StoreBusy, StoreError, StoreOffline, StoreTooNew
from ragstone.store.postgres.schema import NEWEST
from ragstone.store.postgres.store import PostgresStore
from ragstone.testing.store_case import HERE, KEY, put_text
from tests.support.postgres_server import PASSWORD, PostgresServer


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """Give a server that only these tests stop and start."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def own_url(own_server: PostgresServer) -> str:
    return own_server.url(own_server.new_database())


def show(error: BaseException) -> str:
    """Return everything that a log could print about an error."""
    return "".join(traceback.format_exception(error)) + repr(error)


def test_a_server_that_is_down_is_an_error_that_says_so(
    own_server: PostgresServer, own_url: str
) -> None:
    own_server.stop()
    try:
        with pytest.raises(StoreOffline, match="does not answer") as caught:
            PostgresStore(own_url)
    finally:
        own_server.start()
    assert caught.value.retryable
    assert "start the server" in caught.value.hint
    assert PASSWORD.replace(" ", "%20") not in show(caught.value)


def test_an_open_store_works_again_after_the_server_was_restarted(
    own_server: PostgresServer, own_url: str
) -> None:
    with PostgresStore(own_url) as store:
        store.ensure_collection(KEY)
        put_text(store, "a.md", "apple")
        own_server.stop()
        with pytest.raises(StoreOffline):
            store.documents(HERE)
        own_server.start()
        put_text(store, "b.md", "banana")
        assert [document.uri for document in store.documents(HERE)] == ["a.md", "b.md"]


def test_a_connection_that_is_lost_in_the_middle_stores_nothing(
    own_server: PostgresServer, own_url: str
) -> None:
    with PostgresStore(own_url) as store:
        store.ensure_collection(KEY)
        generation = store.generation(HERE)
        with store.snapshot() as view:
            assert view.documents(HERE) == []
            own_server.stop()
            own_server.start()
            with pytest.raises(StoreOffline):
                view.documents(HERE)
        assert store.generation(HERE) == generation
        put_text(store, "a.md", "apple")
        assert store.text(KEY, "a.md") == "apple"


def test_a_wrong_password_is_refused_and_not_shown(
    postgres_server: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = postgres_server.url("postgres", password="hunter2")
    with pytest.raises(StoreError, match="refused the login") as caught:
        PostgresStore(url)
    assert not caught.value.retryable
    assert "hunter2" not in show(caught.value) + caplog.text


def test_a_database_that_is_missing_is_named(postgres_server: PostgresServer) -> None:
    with pytest.raises(StoreError, match="nowhere") as caught:
        PostgresStore(postgres_server.url("nowhere"))
    assert "createdb" in caught.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:hunter2@[bad",
        "postgresql://u:hunter2@127.0.0.1:port/x",
        "host=x hunter2",
        "hunter2",
    ],
)
def test_an_address_that_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        PostgresStore(url)
    assert "hunter2" not in str(caught.value) + repr(caught.value)


def test_the_location_has_no_password(database_url: str) -> None:
    with PostgresStore(database_url) as store:
        assert store.location.startswith("postgresql://127.0.0.1:")
        assert "sesame" not in store.location


def test_a_database_without_pgvector_says_what_to_run(
    postgres_server: PostgresServer,
) -> None:
    name = postgres_server.new_database()
    postgres_server.run_as_admin(name, "DROP EXTENSION vector")
    with pytest.raises(StoreError, match="no pgvector") as caught:
        PostgresStore(postgres_server.url(name))
    assert "CREATE EXTENSION vector" in caught.value.hint
    postgres_server.run_as_admin(name, "CREATE EXTENSION vector")
    PostgresStore(postgres_server.url(name)).close()


def test_a_writer_that_waits_too_long_is_told_that_the_store_is_busy(database_url: str) -> None:
    with PostgresStore(database_url, wait=0.1) as store:
        store.ensure_collection(KEY)
        with psycopg.connect(database_url) as other:
            other.execute("SET ragstone.project = 0")
            other.execute("SELECT 1 FROM projects FOR UPDATE")
            with pytest.raises(StoreBusy):
                put_text(store, "a.md", "apple")
            with store.lock_timeout(0.01), pytest.raises(StoreBusy):
                put_text(store, "a.md", "apple")
        put_text(store, "a.md", "apple")


# ── versions of the tables ────────────────────────────────────────────────────────────────────────


def test_an_older_program_refuses_newer_tables(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    try:
        with pytest.raises(StoreTooNew):
            PostgresStore(database_url)
    finally:
        with psycopg.connect(database_url) as connection:
            newest = "UPDATE meta SET value = %s WHERE key = 'schema_version'"
            connection.execute(newest, (str(NEWEST),))
