"""A pool of connections to one address of PostgreSQL."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Self, TypeAlias

import psycopg
from psycopg.abc import Params
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ragstone.errors import ConfigError, StoreError
from ragstone.store.fetch import Row
from ragstone.store.postgres import text_type

ALL_PROJECTS: Final = 0
"""The value of `ragstone.project` that shows the rows of every project; only maintenance and keys use it."""
_IDLE_CONNECTIONS: Final = 8
_READ_SECONDS: Final = 120
_DEFAULTS: Final = {
    "connect_timeout": "10",
    "application_name": "ragstone",
    "client_encoding": "UTF8",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
_READ: Final = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL ragstone.project = {:d}"
)
SESSION: Final = f"SET jit = off; SET statement_timeout = {_READ_SECONDS * 1000}"

Connection: TypeAlias = psycopg.Connection[Row]


class _BinaryCursor(psycopg.Cursor[Row]):
    """A cursor that gets results in binary form: vectors need half of the bytes."""

    def execute(
        self,
        query: Any,  # noqa: ANN401 - as its parent, which has overloads
        params: Params | None = None,
        *,
        prepare: bool | None = None,
        binary: bool | None = None,
    ) -> Self:
        """Run a statement."""
        if binary is None:
            binary = params is not None
        if params is None:  # it may be several statements, which cannot be prepared
            prepare = False
        return super().execute(query, params, prepare=prepare, binary=binary)


class ConnectionPool:
    """Open connections to one address; idle ones are used again.

    It opens a connection in the thread that needs it. So a wrong password or a server that is down is an error of
    that call with its reason, and not a time limit that passes.
    """

    def __init__(self, url: str) -> None:
        """Read the address; `ConfigError` if it is not one."""
        try:
            parts = conninfo_to_dict(url)
            _check_ports(str(parts.get("port") or ""))
            self._conninfo = make_conninfo(url, **{**_DEFAULTS, **parts})
        except (psycopg.Error, ValueError):
            # The driver's message repeats the address, and the password in it.
            raise ConfigError(
                "store.url is not the address of a PostgreSQL database.",
                hint="write it as postgresql://user:password@host:5432/database",
            ) from None
        self.location = location_of(url)
        self._idle: deque[Connection] = deque()
        self._is_closed = False
        self._process = os.getpid()
        self.on_commit: Callable[[Connection], object] | None = None
        """Called with the connection after each commit."""

    @contextmanager
    def reader(self, project: int = ALL_PROJECTS) -> Iterator[Connection]:
        """Give a connection in a read-only transaction that sees the rows of a project, or of all projects."""
        connection = self._begin(_READ.format(project))
        try:
            yield connection
        except BaseException as error:
            if not isinstance(error, Exception):
                connection.close()  # Ctrl-C: another thread may still use it
            raise
        finally:
            # A reader loses nothing if the connection was lost meanwhile.
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
            self._keep(connection)

    @contextmanager
    def writer(self, begin: str) -> Iterator[Connection]:
        """Give a connection after the statement `begin`; commit, or roll back if the block raises."""
        connection = self._begin(begin)
        try:
            yield connection
            connection.execute("COMMIT")
            if self.on_commit is not None:
                self.on_commit(connection)
        except Exception:
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
            self._keep(connection)
            raise
        except BaseException:
            connection.close()  # Ctrl-C: another thread may still use it
            raise
        self._keep(connection)

    def close(self) -> None:
        """Close idle connections and keep no other one."""
        self._is_closed = True
        while self._idle and self._process == os.getpid():
            self._idle.pop().close()

    def _begin(self, statement: str) -> Connection:
        """Return a connection that has run a statement.

        Idle connections of a server that was restarted fail at that statement, and another one is taken.
        """
        self._require_usable()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            try:
                connection.execute(statement)
                return connection
            except psycopg.OperationalError:
                connection.close()
        connection = self._connect()
        connection.execute(statement)
        return connection

    def _connect(self) -> Connection:
        connection: Connection = psycopg.connect(
            self._conninfo, autocommit=True, cursor_factory=_BinaryCursor
        )
        text_type.register(connection)
        connection.execute(SESSION)
        return connection

    def _keep(self, connection: Connection) -> None:
        is_usable = not connection.closed and not connection.broken
        if self._is_closed or not is_usable or len(self._idle) >= _IDLE_CONNECTIONS:
            connection.close()
        else:
            self._idle.append(connection)

    def _require_usable(self) -> None:
        if self._is_closed:
            raise StoreError("the store is closed", hint="open it again")
        if self._process != os.getpid():
            raise StoreError(
                "the store was opened before this process was forked",
                hint="open it again in the child",
            )


def _check_ports(ports: str) -> None:
    """Raise `ValueError` if a port is not a number; several hosts may have a port each."""
    for port in filter(None, ports.split(",")):
        int(port)


def location_of(url: str) -> str:
    """Return the address of a database without the user and the password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        return "the PostgreSQL database"
    host = parts.get("host") or "localhost"
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{host}{port}/{parts.get('dbname') or ''}"
