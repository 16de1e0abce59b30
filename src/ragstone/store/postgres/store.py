"""The store in a PostgreSQL database."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Self

from ragstone.errors import ConfigError
from ragstone.protocols import DocumentReader
from ragstone.store.catalog import require_growth, require_room
from ragstone.store.fetch import fetch_value
from ragstone.store.lock import WAIT_SECONDS
from ragstone.store.postgres import (
    backup,
    catalog,
    document_writer,
    filters,
    locks,
    maintenance,
    schema,
    state,
)
from ragstone.store.postgres.connection import PostgresDatabase, Transaction
from ragstone.store.postgres.graph_writer import PostgresGraphStore
from ragstone.store.postgres.jobs import PostgresJobQueue
from ragstone.store.postgres.keys import PostgresKeyStore
from ragstone.store.postgres.reader import PostgresReader
from ragstone.store.postgres.state import PostgresStateStore
from ragstone.store.postgres.vectors import PostgresVectorStore
from ragstone.types import (
    NO_LIMITS,
    Collection,
    CollectionKey,
    Finding,
    Limits,
    PreparedDocument,
    PutResult,
    Scalar,
    Stamp,
    StoreSettings,
)

_COUNTS: Final = "SELECT documents, chunks FROM collections WHERE id = %s"
_COLLECTIONS: Final = """
    SELECT count(*) FROM collections c JOIN projects p ON p.id = c.project
    WHERE p.name = %s AND c.kind != 'session'"""


def open_store(settings: StoreSettings) -> PostgresStore:
    """Return the store at the address of the settings."""
    if not settings.url:
        raise ConfigError(
            "The store 'postgres' needs an address.",
            hint="set RAGSTONE_STORE_URL=postgresql://user:password@host:5432/database",
        )
    replica = settings.options.get("replica_url") or ""
    return PostgresStore(settings.url, replica_url=str(replica))


class PostgresStore(PostgresReader):
    """Implements `DocumentStore` in a PostgreSQL database with pgvector.

    Any number of threads, processes and machines may use it at once. `wait` is how long a writer queues. Searches
    read from the replica if there is one.
    """

    def __init__(self, url: str, *, replica_url: str = "", wait: float = WAIT_SECONDS) -> None:
        """Connect; create or migrate the tables if necessary."""
        self._database = PostgresDatabase(url, replica_url=replica_url, wait=wait)
        self.location = self._database.location
        self.database = self._database
        """The connections, for a copy from another store."""
        passing = filters.new_cache()
        self._vector_store = PostgresVectorStore(self._database, passing)
        self._graph_store = PostgresGraphStore(self._database)
        self._state_store = PostgresStateStore(self._database)
        self._key_store = PostgresKeyStore(self._database)
        self.jobs = PostgresJobQueue(self._database)
        super().__init__(self._database, self._vector_store, self._graph_store, passing)
        try:
            schema.prepare(self._database)
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._database.close()

    @property
    def vectors(self) -> PostgresVectorStore:
        """Return the store of vectors."""
        return self._vector_store

    @property
    def graph(self) -> PostgresGraphStore:
        """Return the store of the code graph."""
        return self._graph_store

    @property
    def state(self) -> PostgresStateStore:
        """Return the store of collection and session state."""
        return self._state_store

    @property
    def keys(self) -> PostgresKeyStore:
        """Return the store of keys and plans."""
        return self._key_store

    @contextmanager
    def snapshot(self) -> Iterator[DocumentReader]:
        """Give a read-only view of this moment, for any thread, while the `with` block runs."""
        with self._database.snapshot() as source:
            yield self.reader_of(source)

    def describe_replica(self) -> str:
        """Return a sentence about the replica as it is now; empty if there is none."""
        if self._database.replica is None:
            return ""
        return self._database.replica.describe()

    def lock_timeout(self, seconds: float | None) -> AbstractContextManager[None]:
        """Limit how long writes of this thread wait for other writers; None changes nothing."""
        return self._database.timeout(seconds)

    def named_lock(self, name: str, *, wait: float | None) -> AbstractContextManager[None]:
        """Hold a lock that all processes share while the `with` block runs; `StoreBusy` after `wait` seconds."""
        return locks.named_lock(self._database, name, wait=wait)

    # ── collections and documents ─────────────────────────────────────────────────────────────────

    def ensure_collection(
        self,
        key: CollectionKey,
        *,
        description: str = "",
        settings: Mapping[str, Scalar] | None = None,
        limits: Limits = NO_LIMITS,
    ) -> Collection:
        """Return a collection; create it if it is missing and the limits allow it."""
        with self._database.reading(key.project) as db:
            collection = catalog.get_collection(db, key)
            if collection is not None:
                return collection
        catalog.check_key(key)
        with self._database.writing(key.project, create=True) as db:
            if catalog.find(db, key) is None:
                _check_new_collection(db, key, limits)
                catalog.add_collection(db, key, description, settings)
            collection = catalog.get_collection(db, key)
        assert collection is not None  # noqa: S101 - it was just made
        return collection

    def drop_collection(self, key: CollectionKey) -> int:
        """Remove a collection with all its documents and state; return how many documents it had."""
        with self._database.writing(key.project) as db:
            ids = catalog.find_existing(db, key)
            catalog.mark_changed(db, [ids.collection])
            if key.kind == "session":
                state.forget_session(db, ids.project, key.name)
            return document_writer.drop_collection(db, ids)

    def put(
        self,
        key: CollectionKey,
        documents: Sequence[PreparedDocument],
        *,
        limits: Limits = NO_LIMITS,
    ) -> list[PutResult]:
        """Store or replace documents in one transaction; unchanged chunks keep their ids."""
        with catalog.changing(self._database, key) as (db, ids):
            before = _counts(db, ids.collection)
            results = document_writer.DocumentBatch(db, ids, time.time()).run(documents)
            require_growth(key, before, _counts(db, ids.collection), limits)
            return results

    def touch(
        self, key: CollectionKey, source: str, stamps: Mapping[str, Stamp | None]
    ) -> None:
        """Store new stamps of documents whose content did not change."""
        with catalog.changing(self._database, key) as (db, ids):
            document_writer.touch(db, ids.collection, source, stamps)

    def remove(self, key: CollectionKey, uris: Sequence[str]) -> int:
        """Remove documents and return how many existed."""
        with self._database.reading(key.project) as db:
            if catalog.find(db, key) is None:
                return 0
        with catalog.changing(self._database, key) as (db, ids):
            return document_writer.remove_documents(db, ids, uris, time.time())

    # ── maintenance ───────────────────────────────────────────────────────────────────────────────

    def check(self) -> list[Finding]:
        """Check every invariant and return the findings."""
        return maintenance.check(self._database)

    def compact(self, *, secure: bool = False) -> int:
        """Free the space of removed rows and return the bytes freed. `secure` also rewrites the tables."""
        return maintenance.compact(self._database, secure=secure)

    def backup(self, target: Path) -> Path:
        """Write a verified copy to a new SQLite file and return its path."""
        return backup.write(self._database, Path(target))


def _counts(db: Transaction, collection: int) -> tuple[int, int]:
    """Return how many documents and chunks a collection has."""
    ((documents, chunks),) = db.execute(_COUNTS, (collection,)).fetchall()
    return documents, chunks


def _check_new_collection(db: Transaction, key: CollectionKey, limits: Limits) -> None:
    """Raise `QuotaError` if a project may not have one more collection. Sessions are not counted."""
    if key.kind != "session" and limits.collections is not None:
        require_room(key, fetch_value(db, _COLLECTIONS, key.project), limits)
