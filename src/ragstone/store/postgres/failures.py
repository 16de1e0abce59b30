"""Errors of PostgreSQL as errors of Ragstone. No message has a password or a whole address in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg import errors

from ragstone.errors import StoreBusy, StoreError, StoreOffline

_WRONG_LOGIN: Final = ("28P01", "28000")
_NO_DATABASE: Final = "3D000"
_SLOW: Final = (errors.QueryCanceled,)
_BUSY: Final = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)
_FULL: Final = (errors.DiskFull, errors.OutOfMemory)
_NOT_ALLOWED: Final = (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction)
_LOGIN_WORDS: Final = ("password", "pg_hba.conf", "authentication", "role ")


@contextmanager
def translated(location: str) -> Iterator[None]:
    """Raise a Ragstone error for every error of PostgreSQL inside of the block."""
    try:
        yield
    except psycopg.Error as error:
        raise explain(error, location) from error


def explain(error: psycopg.Error, location: str) -> StoreError:
    """Return the Ragstone error for an error of PostgreSQL."""
    reason = _reason(error)
    if isinstance(error, _BUSY):
        return StoreBusy(
            f"another writer holds {location}: {reason}", hint="try again when it is done"
        )
    if isinstance(error, errors.TooManyConnections):
        return StoreBusy(
            f"{location} has no free connection: {reason}",
            hint="try again, or raise max_connections of the server",
        )
    if isinstance(error, _SLOW):
        return StoreError(
            f"{location} took too long to read and was stopped", hint="run `ragstone doctor`"
        )
    if isinstance(error, _FULL):
        return StoreError(
            f"the server of {location} has no room left: {reason}",
            hint="free some disk space on it; nothing stored was lost",
        )
    if isinstance(error, _NOT_ALLOWED):
        return StoreError(
            f"{location} does not allow that: {reason}",
            hint="the role needs to own the tables; docs/guides/shared.md says how",
        )
    if isinstance(error, psycopg.OperationalError):
        return _connection_error(error, location, reason)
    return StoreError(f"{location} cannot be used: {reason}", hint="run `ragstone doctor`")


def _connection_error(
    error: psycopg.OperationalError, location: str, reason: str
) -> StoreError:
    """Return the error for a server that refuses a connection, or has lost it."""
    if error.sqlstate in _WRONG_LOGIN or any(word in reason for word in _LOGIN_WORDS):
        return StoreError(
            f"{location} refused the login: {reason}",
            hint="check the user and the password in store.url or RAGSTONE_STORE_URL",
        )
    if error.sqlstate == _NO_DATABASE or 'database "' in reason:
        return StoreError(
            f"{location} is not there: {reason}",
            hint="create it with `createdb`, or check the name in store.url",
        )
    return StoreOffline(
        f"{location} does not answer: {reason}",
        hint="start the server or check the network, then try again; nothing stored was lost",
    )


def _reason(error: psycopg.Error) -> str:
    """Return the last part of the server's message in one line."""
    message = error.diag.message_primary or str(error)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[0].removeprefix("connection failed: ")
