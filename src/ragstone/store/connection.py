"""How the file is opened and who may use it when: any number of readers, one writer, and rules for the WAL.

SQLite before 3.51.3 can lose commits when a checkpoint races a write of another connection. So nothing is
checkpointed by itself; our own lock between processes stands around every write, checkpoint and close.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final

from ragstone.errors import StoreError
from ragstone.protocols.store import Given
from ragstone.store import disk, filters
from ragstone.store.failures import DiskFailed, NoRoom, explain, translated
from ragstone.store.lock import WAIT_SECONDS, FileLock

MEMORY: Final = ":memory:"
CHECKPOINT_BYTES: Final = 16 << 20  # a longer WAL slows readers; a shorter one means more syncs
_IDLE_READERS: Final = 8
_LEAN: Final = (1, 0)  # MB of cache and of mapping for reads that hardly meet a page twice: more only costs time
_PRAGMAS: Final = (
    "PRAGMA page_size = 8192",  # texts of 800 characters leave a seventh of smaller pages unused
    "PRAGMA trusted_schema = OFF",
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA secure_delete = OFF",  # what was removed leaves the file with compact(secure=True)
)
_CACHE: Final = "PRAGMA cache_size = -{:d}"
_MMAP: Final = "PRAGMA mmap_size = {:d}"
_BUSY: Final = "PRAGMA busy_timeout = {:d}"
_OPENING: Final = threading.Lock()  # a file is made and opened by one thread at a time


class _Moment:
    """What a thread, or one that does a part of its work, reads by while it is entered."""

    def __init__(self, connection: sqlite3.Connection | None) -> None:
        self.connection = connection  # None in memory, where everybody reads by the one there is
        self.shared = threading.Lock()  # held by another thread that reads in it
        self.over = False

    def end(self) -> None:
        """Let nobody begin to read in it any more, and wait for whoever does, also if Ctrl-C comes again meanwhile."""
        self.over = True
        try:
            with self.shared:
                return
        except KeyboardInterrupt:
            with self.shared:
                raise


class _Held(threading.local):
    """The moment that a thread has entered."""

    moment: _Moment | None = None

    @property
    def connection(self) -> sqlite3.Connection | None:
        """Return the connection of the moment, None outside of one."""
        return None if self.moment is None else self.moment.connection


class Database:
    """The connections to one file, or to one database in memory."""

    def __init__(
        self,
        path: str | Path,
        *,
        cache_mb: int = 32,
        mmap_mb: int = 0,
        wait: float = WAIT_SECONDS,
        allow_network: bool,
    ) -> None:
        """Open the file, made now with private permissions if it was not there."""
        self.location = str(path)
        self.path = None if self.location == MEMORY else Path(path)
        self.lock = FileLock(self.path and self.path.with_name(self.path.name + ".lock"), wait=wait)
        self._limits = (max(1, cache_mb), max(0, mmap_mb))
        self._wait = wait
        self._idle: deque[sqlite3.Connection] = deque()
        self._idle_lean: deque[sqlite3.Connection] = deque()
        self._writing = threading.RLock()  # held while the writer is in use, so that it is not closed then
        self._process = os.getpid()
        self._failed = ""
        self._checkpoint_at = CHECKPOINT_BYTES
        self.closed = False
        self.read_only = False
        self._full: NoRoom | None = None
        self._keys_checked = True
        self._seen: disk.Signature | None = None
        self._held = _Held()
        with _OPENING:
            if self.path:
                self.read_only = not disk.prepare(self.path, allow_network=allow_network)
            self._writer = self._first()

    @contextmanager
    def reading(self, *, lean: bool = False) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one moment of the database from begin to end; a lean one keeps no pages."""
        self._usable()
        if self.path is None:
            with self.lock, self._writing, translated(self.location):
                self._usable()
                yield self._writer
            return
        with translated(self.location):
            if self._held.connection is not None and not lean:
                yield self._held.connection
                return
            idle = self._idle_lean if lean else self._idle
            db = self._borrow(idle, _LEAN if lean else self._limits)
            try:
                db.execute("BEGIN")
                yield db
            finally:
                self._return(db, idle)

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Let everything this thread reads while it is entered be of one moment, and by one connection."""
        if self._held.moment is not None:
            yield
            return
        with nullcontext() if self.path is None else self.reading() as db:
            moment = self._held.moment = _Moment(db)
            try:
                yield
            finally:
                self._held.moment = None
                moment.end()

    def shared(self, work: Callable[[], Given]) -> Callable[[], Given]:
        """Return work that another thread may do in this one's moment, while this one reads nothing."""
        moment = self._held.moment
        if moment is None:
            return work

        def done() -> Given:
            with moment.shared:
                if moment.over:
                    raise StoreError("what was to be read is not wanted any more")
                before, self._held.moment = self._held.moment, moment
                try:
                    return work()
                finally:
                    self._held.moment = before

        return done

    def rows(self, statement: str, parameters: tuple[Any, ...]) -> list[Any]:
        """Return what one statement finds, by a lean connection; by itself it sees one moment without a transaction."""
        if self.path is None:
            with self.reading() as db:
                return db.execute(statement, parameters).fetchall()
        self._usable()
        with translated(self.location):
            db = self._borrow(self._idle_lean, _LEAN)
            try:
                return db.execute(statement, parameters).fetchall()
            finally:
                self._return(db, self._idle_lean)

    @contextmanager
    def writing(self, *, sure: bool = False) -> Iterator[sqlite3.Connection]:
        """Give the one writer, in a transaction that is durable when this ends; nothing changed, nothing written.

        `sure`: what is written refers only to rows that were looked up in the same transaction, so that SQLite need
        not look for each of them again, a fifth of the time where there are many.
        """
        with self.exclusive() as db, self._unchecked() if sure else nullcontext():
            before = db.total_changes
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                if db.total_changes == before:
                    db.execute("ROLLBACK")
                else:
                    db.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
                    db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    with suppress(sqlite3.Error):
                        db.execute("ROLLBACK")
                raise
            self._checkpoint_if_long(db)

    @contextmanager
    def exclusive(self) -> Iterator[sqlite3.Connection]:
        """Give the one writer outside a transaction, with every other writer of the host kept out."""
        self._usable()
        if self._full:
            raise NoRoom(self._full.message, hint=self._full.hint)
        if self.read_only:
            raise StoreError(f"{self.location} can only be read", hint=disk.WRITABLE_HINT)
        if self._failed:
            raise StoreError(f"writing has stopped: {self._failed}", hint="check the disk, then open the store again")
        with self.lock, self._writing:
            self._usable()
            try:
                with translated(self.location):
                    self._check_keys()
                    yield self._writer
            except DiskFailed as error:
                self._failed = error.message
                raise

    @contextmanager
    def _unchecked(self) -> Iterator[None]:
        """Have foreign keys not looked up; outside a transaction, since inside of one SQLite does not hear of it."""
        # Before it is so: wherever Ctrl-C comes, the next to write has them checked again.
        self._keys_checked = False
        self._writer.execute("PRAGMA foreign_keys = OFF")
        try:
            yield
        finally:
            self._check_keys()

    def _check_keys(self) -> None:
        """Have foreign keys looked up, as for everything that is written."""
        if not self._keys_checked:
            self._writer.execute("PRAGMA foreign_keys = ON")
            self._keys_checked = bool(self._writer.execute("PRAGMA foreign_keys").fetchone()[0])
            if not self._keys_checked:
                raise StoreError("foreign keys are not checked", hint="open the store again")

    def generation(self) -> int:
        """Return the number of the last committed write."""
        self._usable()
        with translated(self.location):
            if self.path is None:
                with self.lock, self._writing:
                    return _generation(self._writer)
            if self._held.connection is not None:
                return _generation(self._held.connection)
            db = self._borrow(self._idle, self._limits)
            try:
                return _generation(db)
            finally:
                self._return(db, self._idle)

    def checkpoint(self, db: sqlite3.Connection, *, wait: float = 0.0) -> bool:
        """Move the WAL into the file and return whether all of it went; only under the lock."""
        if self.path is None:
            return True
        db.execute(_BUSY.format(int(wait * 1000)))
        try:
            busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            db.execute(_BUSY.format(int(self._wait * 1000)))
        return not busy

    def close(self) -> None:
        """Let go of every connection; one that is still reading goes when it is done."""
        if self.closed or self._process != os.getpid():
            return
        self.closed = True
        with self._lock_if_free(), self._writing, suppress(sqlite3.Error):
            self._forget_idle()
            self._writer.close()

    def use_wal(self) -> None:
        """Put the file into WAL mode; only under the lock."""
        if self.path is None:
            return
        mode = self._writer.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StoreError(f"{self.location} cannot use a write-ahead log here", hint="choose a path on a local disk")

    def ready(self, db: sqlite3.Connection) -> bool:
        """Return whether the file is in WAL mode already, or need not be."""
        return self.path is None or self.read_only or db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"

    @property
    def wal(self) -> Path | None:
        """Return where the write-ahead log lies."""
        return self.path.with_name(self.path.name + "-wal") if self.path else None

    def _first(self) -> sqlite3.Connection:
        """Return the first connection; SQLite wants room for a log's index even to read, so without any the file is
        read as it is, if there is no log."""
        try:
            with translated(self.location):
                return self._connect(self._limits)
        except NoRoom as full:
            if self.wal is None or disk.size_of(self.wal):
                raise
            self.read_only, self._full = True, full
        with translated(self.location):
            return self._connect(self._limits)

    def _connect(self, limits: tuple[int, int]) -> sqlite3.Connection:
        only_to_read = self.path is not None and self.read_only
        db = sqlite3.connect(
            disk.read_only_uri(self.path, alone=self._full is not None)
            if self.path and only_to_read
            else self.location,
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=only_to_read,
        )
        try:
            for pragma in _PRAGMAS:
                db.execute(pragma)
            cache_mb, mmap_mb = limits
            db.execute(_CACHE.format(cache_mb << 10))
            db.execute(_MMAP.format(mmap_mb << 20))
            if only_to_read:
                db.execute("PRAGMA query_only = ON")
            filters.register(db)
        except BaseException:
            db.close()
            raise
        return db

    def _borrow(self, idle: deque[sqlite3.Connection], limits: tuple[int, int]) -> sqlite3.Connection:
        if self.read_only and self.path and self._seen != (seen := disk.signature(self.path)):
            # Somebody who may write has done so: what was opened as never changing is not to be trusted any more.
            self._seen = seen
            self._forget_idle()
        try:
            return idle.pop()
        except IndexError:
            return self._connect(limits)

    def _return(self, db: sqlite3.Connection, idle: deque[sqlite3.Connection]) -> None:
        if db.in_transaction:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
        if self.closed:
            with self._lock_if_free():
                db.close()
        elif len(idle) >= _IDLE_READERS:
            db.close()  # never the last one: the writer stays
        else:
            idle.append(db)

    def _forget_idle(self) -> None:
        for idle in (self._idle, self._idle_lean):
            while idle:
                idle.pop().close()

    @contextmanager
    def _lock_if_free(self) -> Iterator[None]:
        """Hold the lock while closing: the last close of a file moves its log. Whoever has it now has the file open."""
        try:
            self.lock.acquire(0.0)
        except StoreError:
            yield
            return
        try:
            yield
        finally:
            self.lock.release()

    def _checkpoint_if_long(self, db: sqlite3.Connection) -> None:
        if self.wal is None or (size := disk.size_of(self.wal)) < self._checkpoint_at:
            return
        # A reader in the way is no reason to wait: the next try comes when the log has grown as much again.
        self._checkpoint_at = size + CHECKPOINT_BYTES
        try:
            if self.checkpoint(db):
                self._checkpoint_at = CHECKPOINT_BYTES
        except sqlite3.Error as error:
            # The write itself is durable in the log and must not look failed; the next one meets the reason.
            failure = explain(error, self.location)
            if isinstance(failure, DiskFailed):
                self._failed = failure.message

    def _usable(self) -> None:
        if self.closed:
            raise StoreError("the store is closed", hint="open it again")
        if self._process != os.getpid():
            raise StoreError("the store was opened before this process was forked", hint="open it again in the child")


def _generation(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])
