"""Connections to one SQLite file: any number of readers, one writer, and rules for the write-ahead log.

SQLite before 3.51.3 can lose commits if a checkpoint races a write of another connection. So automatic checkpoints
are off, and our own lock between processes is held for every write, checkpoint and close.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from ragstone.errors import StoreError
from ragstone.store import filters, home_folder
from ragstone.store.failures import DiskFailed, NoRoom, explain, translated
from ragstone.store.fetch import fetch_value, limit_time
from ragstone.store.lock import WAIT_SECONDS, FileLock

MEMORY: Final = ":memory:"
CHECKPOINT_BYTES: Final = 16 << 20  # a longer log slows readers; a shorter one means more syncs
MAX_READ_SECONDS: Final = 120.0
"""A damaged or foreign file must not keep a reader for ever."""
_MAX_VALUE_BYTES: Final = 256 << 20
_IDLE_READERS: Final = 16
"""A busy server reads with two connections for each of its 8 requests; opening one takes longer than a read."""
_PRAGMAS: Final = (
    "PRAGMA page_size = 8192",  # texts of 800 characters leave a seventh of smaller pages unused
    "PRAGMA trusted_schema = OFF",
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA secure_delete = OFF",  # compact(secure=True) overwrites removed rows
)
_LEAST_CACHE_KIB: Final = 512
_CACHE: Final = "PRAGMA cache_size = -{:d}"
_BUSY: Final = "PRAGMA busy_timeout = {:d}"
_GENERATION: Final = "SELECT value FROM meta WHERE key = 'generation'"
_NEXT_GENERATION: Final = "UPDATE meta SET value = value + 1 WHERE key = 'generation'"
_OPENING: Final = threading.Lock()  # a file is created and opened by one thread at a time


class ReadSource(Protocol):
    """Gives connections for reading: the database, or one snapshot of it."""

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Return a context manager that gives a connection in a read transaction."""


class Snapshot:
    """One open read transaction. Several threads may use it, one at a time."""

    def __init__(
        self, connection: sqlite3.Connection, location: str, lock: AbstractContextManager[bool]
    ) -> None:
        """Take the connection and the lock that guards it."""
        self._connection: sqlite3.Connection | None = connection
        self._location = location
        self._lock = lock

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection of this snapshot to one thread at a time."""
        with self._lock:
            if self._connection is None:
                raise StoreError("the snapshot has ended", hint="read inside its `with` block")
            with translated(self._location):
                limit_time(self._connection, MAX_READ_SECONDS)
                yield self._connection

    def end(self) -> None:
        """Wait for a thread that reads, and refuse later reads."""
        with self._lock:
            self._connection = None


class Database:
    """The connections to one file, or to one database in memory."""

    def __init__(
        self,
        path: str | Path,
        *,
        cache_mb: int = 32,
        wait: float = WAIT_SECONDS,
        allow_network: bool,
    ) -> None:
        """Open the file; create it with private permissions if it is missing."""
        self.location = str(path)
        self.path = None if self.location == MEMORY else Path(path)
        self.lock = FileLock(
            self.path and self.path.with_name(self.path.name + ".lock"), wait=wait
        )
        self.closed = False
        self.read_only = False
        self._cache_kib = max(1, cache_mb) << 9  # half for the writer, half for the readers
        self._wait = wait
        self._idle: deque[sqlite3.Connection] = deque()
        self._writer_in_use = threading.RLock()
        self._process = os.getpid()
        self._write_failure = ""
        self._checkpoint_at = CHECKPOINT_BYTES
        self._no_room: NoRoom | None = None
        self._file_signature: home_folder.Signature | None = None
        with _OPENING:
            if self.path:
                self.read_only = not home_folder.prepare(self.path, allow_network=allow_network)
            self._writer = self._open_writer()

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection in a separate read transaction."""
        self._require_usable()
        if self.path is None:
            with self._writer_in_use, translated(self.location):
                self._require_usable()
                yield self._writer
            return
        with translated(self.location), self._reader() as db:
            limit_time(db, MAX_READ_SECONDS)
            db.execute("BEGIN")
            yield db

    @contextmanager
    def snapshot(self) -> Iterator[ReadSource]:
        """Give a view of this moment for as long as the `with` block runs."""
        self._require_usable()
        if self.path is None:
            # All threads share one connection here. Writers of other threads wait until the snapshot ends.
            with (
                self.lock,
                self._ending(
                    Snapshot(self._writer, self.location, self._writer_in_use)
                ) as snapshot,
            ):
                yield snapshot
            return
        with translated(self.location), self._reader() as db:
            db.execute("BEGIN")
            db.execute(_GENERATION).fetchone()  # SQLite chooses the moment at the first read
            with self._ending(Snapshot(db, self.location, threading.RLock())) as snapshot:
                yield snapshot

    @contextmanager
    def _ending(self, snapshot: Snapshot) -> Iterator[Snapshot]:
        try:
            yield snapshot
        finally:
            snapshot.end()

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """Give an idle connection, or a new one, and keep it for the next reader.

        A connection is not reused if `BaseException` such as Ctrl-C interrupts: a thread may still read from it.
        """
        db = self._take_idle()
        try:
            yield db
        except Exception:
            self._keep_idle(db)
            raise
        self._keep_idle(db)

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the writer in a transaction. It is durable after the block; without changes nothing is written."""
        with self.exclusive() as db:
            changes_before = db.total_changes
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                if db.total_changes == changes_before:
                    db.execute("ROLLBACK")
                else:
                    db.execute(_NEXT_GENERATION)
                    db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    with suppress(sqlite3.Error):
                        db.execute("ROLLBACK")
                raise
            self._checkpoint_if_long(db)

    @contextmanager
    def exclusive(self) -> Iterator[sqlite3.Connection]:
        """Give the writer outside of a transaction, with all other writers of the host locked out."""
        self._require_usable()
        if self._no_room:
            raise NoRoom(self._no_room.message, hint=self._no_room.hint)
        if self.read_only:
            raise StoreError(
                f"{self.location} can only be read", hint=home_folder.WRITABLE_HINT
            )
        if self._write_failure:
            raise StoreError(
                f"writing has stopped: {self._write_failure}",
                hint="check the disk, then open the store again",
            )
        with self.lock, self._writer_in_use:
            self._require_usable()
            try:
                with translated(self.location):
                    yield self._writer
            except DiskFailed as error:
                self._write_failure = error.message
                raise

    def checkpoint(self, db: sqlite3.Connection, *, wait: float = 0.0) -> bool:
        """Move the log into the file and return whether all of it was moved. The caller holds the lock."""
        if self.path is None:
            return True
        db.execute(_BUSY.format(int(wait * 1000)))
        try:
            busy = fetch_value(db, "PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            db.execute(_BUSY.format(int(self._wait * 1000)))
        return not busy

    def _checkpoint_if_long(self, db: sqlite3.Connection) -> None:
        size = self.log_bytes
        if size < self._checkpoint_at:
            return
        # If a reader is in the way, do not wait: the next attempt comes after as many bytes again.
        self._checkpoint_at = size + CHECKPOINT_BYTES
        try:
            if self.checkpoint(db):
                self._checkpoint_at = CHECKPOINT_BYTES
        except sqlite3.Error as error:
            # The write is durable in the log, so it must not look failed. The next write reports the reason.
            failure = explain(error, self.location)
            if isinstance(failure, DiskFailed):
                self._write_failure = failure.message

    def use_wal(self) -> None:
        """Switch the file to WAL mode. The caller holds the lock."""
        if self.path is None:
            return
        if fetch_value(self._writer, "PRAGMA journal_mode = WAL") != "wal":
            raise StoreError(
                f"{self.location} cannot use a write-ahead log here",
                hint="choose a path on a local disk",
            )

    def uses_wal(self, db: sqlite3.Connection) -> bool:
        """Return whether the file is in WAL mode already, or need not be."""
        if self.path is None or self.read_only:
            return True
        return bool(fetch_value(db, "PRAGMA journal_mode") == "wal")

    @property
    def log_bytes(self) -> int:
        """Return the size of the write-ahead log; 0 if there is none."""
        if self.path is None:
            return 0
        try:
            return os.stat(f"{self.location}-wal").st_size
        except OSError:
            return 0

    # ── connections ───────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Close every connection; one that is still reading is closed when it is done."""
        if self.closed or self._process != os.getpid():
            return
        self.closed = True
        with self._lock_if_free(), self._writer_in_use, suppress(sqlite3.Error):
            self._close_idle()
            self._writer.close()

    def _open_writer(self) -> sqlite3.Connection:
        """Return the first connection.

        SQLite needs disk space for the index of a log even to read. If the disk is full and there is no log, the file
        is opened as one that never changes.
        """
        try:
            with translated(self.location):
                return self._connect(self._cache_kib)
        except NoRoom as error:
            if self.path is None or self.log_bytes:
                raise
            self.read_only, self._no_room = True, error
        with translated(self.location):
            return self._connect(self._cache_kib)

    def _connect(self, cache_kib: int) -> sqlite3.Connection:
        read_only = self.path is not None and self.read_only
        target = self.location
        if self.path and read_only:
            target = home_folder.read_only_uri(self.path, alone=self._no_room is not None)
        db = sqlite3.connect(
            target,
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=read_only,
        )
        try:
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
            for pragma in _PRAGMAS:
                db.execute(pragma)
            db.execute(_CACHE.format(cache_kib))
            if read_only:
                db.execute("PRAGMA query_only = ON")
            filters.register(db)
        except BaseException:
            db.close()
            raise
        return db

    def _take_idle(self) -> sqlite3.Connection:
        if self.read_only and self.path:
            signature = home_folder.signature(self.path)
            if self._file_signature != signature:
                # Another process has written: connections that were opened as immutable are out of date.
                self._file_signature = signature
                self._close_idle()
        try:
            return self._idle.pop()
        except IndexError:
            # The system caches the file too, so a search of 100,000 chunks takes as long with 1 MB as with 32.
            return self._connect(max(_LEAST_CACHE_KIB, self._cache_kib // _IDLE_READERS))

    def _keep_idle(self, db: sqlite3.Connection) -> None:
        if db.in_transaction:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
        if self.closed:
            with self._lock_if_free():
                db.close()
        elif len(self._idle) >= _IDLE_READERS:
            db.close()  # never the last connection: the writer stays open
        else:
            self._idle.append(db)

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _lock_if_free(self) -> Iterator[None]:
        """Hold the lock while closing, since the last close of a file moves its log.

        If the lock is taken, its holder has the file open, so this close is not the last one.
        """
        try:
            self.lock.acquire(0.0)
        except StoreError:
            yield
            return
        try:
            yield
        finally:
            self.lock.release()

    def _require_usable(self) -> None:
        if self.closed:
            raise StoreError("the store is closed", hint="open it again")
        if self._process != os.getpid():
            raise StoreError(
                "the store was opened before this process was forked",
                hint="open it again in the child",
            )
