"""A streaming replica that answers searches, as long as it has replayed enough of the primary's log.

A search on the replica sees every write of this process, and the writes of other processes after a second at most.
If the replica is down or behind, the search reads from the primary.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from ragstone.errors import StoreBusy, StoreOffline
from ragstone.store.postgres.failures import explain
from ragstone.store.postgres.pool import Connection, ConnectionPool

_CHECK_SECONDS: Final = 0.5
"""How often the position of the primary is read; the replica must have reached the one before."""
_AVOID_SECONDS: Final = 5.0
"""How long a replica that failed is not asked again."""
_UNKNOWN: Final = 1 << 63
_WRITTEN: Final = "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
_REPLAYED: Final = """
    SELECT CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint END"""
_BEHIND: Final = "it is behind"
_NO_REPLICA: Final = "it is no replica: it accepts writes of its own"


class ReadReplica:
    """Chooses between the replica and the primary for each search."""

    def __init__(self, replica: ConnectionPool, primary: ConnectionPool) -> None:
        """Take both pools. Nothing is opened yet."""
        self._replica = replica
        self._primary = primary
        self._lock = threading.Lock()
        self._written = 0
        self._floor = 0
        self._position = 0
        self._checked = 0.0
        self._avoided_until = 0.0
        self._problem = ""
        primary.on_commit = self._note_commit

    @property
    def problem(self) -> str:
        """Return why the last search read from the primary; empty if it did not."""
        return self._problem

    def describe(self) -> str:
        """Return a sentence about the replica as it is now."""
        self._avoided_until = 0.0
        if self._is_ready():
            return f"{self._replica.location} answers searches"
        return f"{self._replica.location} is not used, searches read from the primary: {self._problem}"

    @contextmanager
    def reader(self) -> Iterator[Connection]:
        """Give a connection in a read-only transaction, of the replica if it is up to date.

        `StoreOffline` if the replica fails in the middle; the next call uses the primary.
        """
        if not self._is_ready():
            with self._primary.reader() as connection:
                yield connection
            return
        with self._replica.reader() as connection:
            try:
                yield connection
            except (StoreBusy, StoreOffline) as error:
                # A replica cancels a query that delays the replay of the log. Another call may have failed elsewhere.
                if not (connection.broken or connection.closed or isinstance(error, StoreBusy)):
                    raise
                self._avoid("it failed in the middle of a search")
                raise StoreOffline(
                    f"the replica {self._replica.location} failed in the middle of a search",
                    hint="try again: the next search reads from the primary",
                ) from error

    def close(self) -> None:
        """Close idle connections."""
        self._replica.close()

    def _is_ready(self) -> bool:
        """Return whether the replica has replayed the writes that a search must see."""
        if time.monotonic() < self._avoided_until:
            return False
        try:
            self._read_position()
            # The snapshot of the search is taken after this check, so it is at least as new.
            with self._replica.reader() as connection:
                ((replayed,),) = connection.execute(_REPLAYED).fetchall()
        except psycopg.Error as error:
            self._avoid(str(explain(error, self._replica.location)))
            return False
        if replayed is None:
            self._avoid(_NO_REPLICA)
            return False
        is_behind = replayed < max(self._written, self._floor)
        self._problem = _BEHIND * is_behind
        return not is_behind

    def _read_position(self) -> None:
        """Read the position of the primary now and then. If the primary is down, the replica answers alone."""
        with self._lock:
            if time.monotonic() < self._checked + _CHECK_SECONDS:
                return
            self._checked = time.monotonic()
        try:
            with self._primary.reader() as connection:
                ((position,),) = connection.execute(_WRITTEN).fetchall()
        except psycopg.OperationalError:
            self._checked = time.monotonic() + _AVOID_SECONDS
            return
        with self._lock:
            self._floor = self._position
            self._position = position
            if self._written == _UNKNOWN:
                self._written = position

    def _note_commit(self, connection: Connection) -> None:
        """Remember the position after a write. If the connection was lost, the primary is asked for it later."""
        try:
            ((position,),) = connection.execute(_WRITTEN).fetchall()
        except psycopg.Error:
            position = _UNKNOWN
        with self._lock:
            self._written = max(self._written, position)

    def _avoid(self, problem: str) -> None:
        self._problem = problem
        self._avoided_until = time.monotonic() + _AVOID_SECONDS
