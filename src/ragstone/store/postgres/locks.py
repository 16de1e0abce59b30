"""Locks by name that all processes of all machines share. The server releases a lock if its holder dies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from psycopg import errors

from ragstone.errors import StoreBusy
from ragstone.store.postgres.connection import PostgresDatabase

_LOCK: Final = "SELECT pg_advisory_lock(hashtextextended(%s, 1))"
_UNLOCK: Final = "SELECT pg_advisory_unlock(hashtextextended(%s, 1))"
_SET_WAIT: Final = "SET lock_timeout = {:d}"


@contextmanager
def named_lock(database: PostgresDatabase, name: str, *, wait: float | None) -> Iterator[None]:
    """Hold a lock while the block runs; `StoreBusy` if it was not free after `wait` seconds; None waits for it."""
    milliseconds = 0 if wait is None else max(1, int(wait * 1000))
    with database.autocommit() as connection:
        connection.execute("SET statement_timeout = 0")
        connection.execute(_SET_WAIT.format(milliseconds))
        try:
            connection.execute(_LOCK, (name,))
        except errors.LockNotAvailable as error:
            raise StoreBusy(
                f"another process has held the lock {name!r} for {wait or 0:.0f} seconds",
                hint="try again when it is done",
            ) from error
        finally:
            connection.execute("SET lock_timeout = 0")
        try:
            yield
        finally:
            connection.execute(_UNLOCK, (name,))
