"""The store in one SQLite file, or in memory."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Self

from ragstone.errors import StoreError
from ragstone.protocols import DocumentReader
from ragstone.store import catalog, document_writer, maintenance, schema, state
from ragstone.store.catalog import check_growth, check_new_collection, counts
from ragstone.store.connection import MEMORY, Database
from ragstone.store.graph.writer import SqliteGraphStore
from ragstone.store.home_folder import WRITABLE_HINT
from ragstone.store.keys import SqliteKeyStore
from ragstone.store.known_schema import require_known_schema
from ragstone.store.lock import WAIT_SECONDS
from ragstone.store.reader import SqliteReader
from ragstone.store.state import SqliteStateStore
from ragstone.store.vectors import SqliteVectorStore
from ragstone.store.words import WordIndex, derived_index, fts5
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


def open_store(settings: StoreSettings) -> SqliteStore:
    """Return the store at the path of the settings, or one in memory."""
    cache_mb = settings.options.get("cache_mb", 32)
    if not isinstance(cache_mb, int):
        raise TypeError(f"cache_mb is a number, not {cache_mb!r}")
    return SqliteStore(settings.path or MEMORY, cache_mb=cache_mb)


class SqliteStore(SqliteReader):
    """Implements `DocumentStore` in one SQLite file (`path=":memory:"`: in none).

    Several threads and several processes may use it at once. `cache_mb` limits the page caches of the writer and of the readers;
    `wait` is how long a writer queues.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        cache_mb: int = 32,
        wait: float = WAIT_SECONDS,
        allow_network: bool = False,
    ) -> None:
        """Open the file; create or migrate it if necessary."""
        self._database = Database(
            path, cache_mb=cache_mb, wait=wait, allow_network=allow_network
        )
        self.location = self._database.location
        self._vector_store = SqliteVectorStore(self._database)
        self._graph_store = SqliteGraphStore(self._database)
        self._state_store = SqliteStateStore(self._database)
        self._key_store = SqliteKeyStore(self._database)
        super().__init__(
            self._database, self._vector_store, self._graph_store, WordIndex(self._database)
        )
        try:
            self._prepare_file()
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._words.derived.close()
        self._database.close()

    @property
    def vectors(self) -> SqliteVectorStore:
        """Return the store of vectors."""
        return self._vector_store

    @property
    def graph(self) -> SqliteGraphStore:
        """Return the store of the code graph."""
        return self._graph_store

    @property
    def state(self) -> SqliteStateStore:
        """Return the store of collection and session state."""
        return self._state_store

    @property
    def keys(self) -> SqliteKeyStore:
        """Return the store of keys and plans."""
        return self._key_store

    @contextmanager
    def snapshot(self) -> Iterator[DocumentReader]:
        """Give a read-only view of this moment, for any thread, while the `with` block runs."""
        with self._database.snapshot() as source:
            yield self.reader_of(source)

    def rows(self) -> AbstractContextManager[sqlite3.Connection]:
        """Give a connection for reading rows, for a copy to another store."""
        return self._database.reading()

    def lock_timeout(self, seconds: float | None) -> AbstractContextManager[None]:
        """Limit how long writes of this thread wait for other writers; None changes nothing."""
        return self._database.lock.timeout(seconds)

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
        with self._database.reading() as db:
            collection = catalog.get_collection(db, key)
            if collection is not None:
                return collection
        with self._database.writing() as db:
            if catalog.find(db, key) is None:
                check_new_collection(db, key, limits)
            return catalog.ensure_collection(db, key, description, settings)

    def drop_collection(self, key: CollectionKey) -> int:
        """Remove a collection with all its documents and state; return how many documents it had."""
        with self._database.writing() as db:
            fts5.require_current(db)
            ids = catalog.find_existing(db, key)
            catalog.mark_changed(db, [ids.collection])
            if key.kind == "session":
                state.forget_session(db, ids.project, key.name)
            dropped = document_writer.drop_collection(db, ids)
        self._words.derived.after_write()
        return dropped

    def put(
        self,
        key: CollectionKey,
        documents: Sequence[PreparedDocument],
        *,
        limits: Limits = NO_LIMITS,
    ) -> list[PutResult]:
        """Store or replace documents in one transaction; unchanged chunks keep their ids."""
        with catalog.changing(self._database, key) as (db, ids):
            fts5.require_current(db)
            before = counts(db, ids.collection)
            put = document_writer.DocumentPut(db, ids, time.time())
            results = put.run(documents)
            check_growth(db, key, ids.collection, before, limits)
        if (
            put.last_chunk >= derived_index.EXTEND_AT
        ):  # a smaller store has no derived index to extend
            self._words.derived.after_write()
        return results

    def touch(
        self, key: CollectionKey, source: str, stamps: Mapping[str, Stamp | None]
    ) -> None:
        """Store new stamps of documents whose content did not change."""
        with catalog.changing(self._database, key) as (db, ids):
            document_writer.touch(db, ids.collection, source, stamps)

    def remove(self, key: CollectionKey, uris: Sequence[str]) -> int:
        """Remove documents and return how many existed."""
        with self._database.reading() as db:
            if catalog.find(db, key) is None:
                return 0
        with catalog.changing(self._database, key) as (db, ids):
            fts5.require_current(db)
            removed = document_writer.remove_documents(db, ids, uris, time.time())
        self._words.derived.after_write()
        return removed

    # ── maintenance ───────────────────────────────────────────────────────────────────────────────

    def check(self) -> list[Finding]:
        """Check every invariant and return the findings."""
        return [*maintenance.check(self._database), *self._words.derived.check()]

    def compact(self, *, secure: bool = False) -> int:
        """Free the space of removed rows and return the bytes freed. `secure` also overwrites them."""
        freed = maintenance.compact(self._database, secure=secure)
        self._words.derived.after_compact(secure=secure)
        return freed

    def backup(self, target: Path) -> Path:
        """Write a verified copy to a new file and return its path."""
        return maintenance.backup(self._database, Path(target))

    def _prepare_file(self) -> None:
        """Create the tables, migrate an older file, and rebuild a word index of another version."""
        with self._database.reading() as db:
            version = schema.version_of(db)
            schema.refuse_newer(version)
            require_known_schema(db)
            if version == schema.NEWEST and fts5.is_current(db) and self._database.uses_wal(db):
                return  # the usual case needs no lock
        if self._database.read_only:
            reason = "was written by an older Ragstone" if version else "has nothing in it"
            raise StoreError(
                f"{self.location} {reason} and can only be read", hint=WRITABLE_HINT
            )
        with self._database.exclusive() as db:
            self._database.use_wal()
            schema.upgrade(db, save=partial(_save_before_migration, self._database))
            if not fts5.is_current(db):
                with self._database.writing():
                    fts5.rebuild(db)


def _save_before_migration(database: Database, version: int) -> None:
    """Copy the file to a name that is free, such as `ragstone.db.v5.bak`."""
    path = database.path
    if path is None:
        return
    target, number = path.with_name(f"{path.name}.v{version}.bak"), 1
    while target.exists():
        number += 1
        target = path.with_name(f"{path.name}.v{version}-{number}.bak")
    with database.exclusive() as db:
        maintenance.copy(db, target)
