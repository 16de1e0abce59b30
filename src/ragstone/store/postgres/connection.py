"""Connections to a PostgreSQL database, each transaction limited to the rows of one project.

Reads see one moment of the database (REPEATABLE READ). A write locks the row of its project first, so the writers of
one project queue, and those of other projects do not. Row-level security shows only rows of the project that the
transaction has set, whatever its statements ask for.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Final, Protocol, Self, TypeAlias

import psycopg
from psycopg.abc import Params
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ragstone.errors import ConfigError, StoreError
from ragstone.store.fetch import Row
from ragstone.store.lock import WAIT_SECONDS
from ragstone.store.postgres import text_type
from ragstone.store.postgres.failures import translated

ALL_PROJECTS: Final = 0
"""The value of `ragstone.project` that shows the rows of every project; only maintenance and keys use it."""
NO_PROJECT: Final = -1
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
_WRITE: Final = (
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL ragstone.project = {:d};"
    " SET LOCAL lock_timeout = {:d}"
)
_SET_PROJECT: Final = "SET LOCAL ragstone.project = {:d}"
_SESSION: Final = f"SET jit = off; SET statement_timeout = {_READ_SECONDS * 1000}"
_PROJECT_ID: Final = "SELECT id FROM projects WHERE name = %s"
_LOCK_PROJECT: Final = "SELECT id FROM projects WHERE name = %s FOR NO KEY UPDATE"
_CHANGES: Final = ("INSERT", "UPDATE", "DELETE")

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


class Transaction:
    """One open transaction, which counts the rows that it changes."""

    def __init__(self, connection: Connection) -> None:
        """Take a connection in a transaction."""
        self._connection = connection
        self.total_changes = 0

    def execute(self, statement: str, parameters: Params | None = None) -> psycopg.Cursor[Row]:
        """Run a statement and return its cursor."""
        cursor = self._connection.cursor()
        cursor.execute(statement, parameters)
        self._count(cursor)
        return cursor

    def executemany(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row, without waiting for each answer."""
        if rows:
            cursor = self._connection.cursor()
            cursor.executemany(statement, rows)
            self._count(cursor)

    @contextmanager
    def paged(self, statement: str, size: int) -> Iterator[Iterable[Row]]:
        """Give the rows of a statement, which the server sends in pages of this size."""
        with self._connection.cursor("ragstone_pages") as cursor:
            cursor.itersize = size
            cursor.execute(statement, binary=True)
            yield cursor

    def _count(self, cursor: psycopg.Cursor[Row]) -> None:
        if (cursor.statusmessage or "").startswith(_CHANGES):
            self.total_changes += max(0, cursor.rowcount)


class TransactionSource(Protocol):
    """Gives transactions for reading: the database, or one snapshot of it."""

    def reading(self, project: str | None) -> AbstractContextManager[Transaction]:
        """Return a context manager that gives a transaction with the rows of a project; None: of all."""


class PostgresDatabase:
    """The connections to one database, and to a replica of it if there is one."""

    def __init__(self, url: str, *, replica_url: str = "", wait: float = WAIT_SECONDS) -> None:
        """Keep the addresses; connections are opened when they are needed."""
        self._primary = ConnectionPool(url)
        self._replica = ConnectionPool(replica_url) if replica_url else self._primary
        self.location = self._primary.location
        self._wait = wait
        self._timeout = threading.local()
        self._project_ids: dict[str, int] = {}

    def close(self) -> None:
        """Close every idle connection; others are closed when they are done."""
        self._primary.close()
        self._replica.close()

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self, project: str | None) -> Iterator[Transaction]:
        """Give a read-only transaction with the rows of one project, or of all if it is None."""
        pool = self._primary
        with (
            translated(self.location),
            pool.reader() as connection,
        ):
            transaction = Transaction(connection)
            self.enter(transaction, project)
            yield transaction

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        """Give a view of this moment for as long as the `with` block runs."""
        pool = self._replica
        with (
            translated(self.location),
            pool.reader() as connection,
        ):
            snapshot = PostgresSnapshot(self, Transaction(connection))
            try:
                yield snapshot
            finally:
                snapshot.end()

    def enter(self, transaction: Transaction, project: str | None) -> None:
        """Let a transaction see the rows of a project only; an unknown project has no rows."""
        if project is None:
            transaction.execute(_SET_PROJECT.format(ALL_PROJECTS))
            return
        number = self._project_ids.get(project)
        if number is None:
            transaction.execute(_SET_PROJECT.format(ALL_PROJECTS))
            number = self._find_project(transaction, project)
        transaction.execute(_SET_PROJECT.format(number))

    def _find_project(self, transaction: Transaction, project: str) -> int:
        row = transaction.execute(_PROJECT_ID, (project,)).fetchone()
        if row is None:
            return NO_PROJECT
        self._project_ids[project] = row[0]
        return int(row[0])

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def writing(self, project: str | None, *, create: bool = False) -> Iterator[Transaction]:
        """Give a write transaction that holds the lock of its project; it is durable after the block.

        `create` makes the project if it is missing. None writes rows of all projects, and locks none.
        """
        begin = _WRITE.format(ALL_PROJECTS, self.wait_milliseconds)
        with translated(self.location), self._primary.writer(begin) as connection:
            transaction = Transaction(connection)
            if project is not None:
                number = self._lock_project(transaction, project, create=create)
                transaction.execute(_SET_PROJECT.format(number))
            transaction.total_changes = 0
            yield transaction

    def _lock_project(self, transaction: Transaction, project: str, *, create: bool) -> int:
        """Wait for other writers of the project and return its id; -1 if there is no such project."""
        row = transaction.execute(_LOCK_PROJECT, (project,)).fetchone()
        if row is None and create:
            transaction.execute(
                "INSERT INTO projects (name) VALUES (%s) ON CONFLICT DO NOTHING", (project,)
            )
            row = transaction.execute(_LOCK_PROJECT, (project,)).fetchone()
        if row is None:
            return NO_PROJECT
        return int(row[0])

    @contextmanager
    def autocommit(self) -> Iterator[Connection]:
        """Give a connection outside of a transaction, for statements that allow none, and for locks of a session."""
        with translated(self.location), self._primary.writer(_SESSION) as connection:
            yield connection

    @contextmanager
    def timeout(self, seconds: float | None) -> Iterator[None]:
        """Limit how long writes of this thread wait for other writers; None changes nothing."""
        before = self._seconds
        if seconds is not None:
            self._timeout.seconds = seconds
        try:
            yield
        finally:
            self._timeout.seconds = before

    @property
    def wait_milliseconds(self) -> int:
        """Return how long a writer waits; PostgreSQL reads 0 as: for ever."""
        return max(1, int(self._seconds * 1000))

    @property
    def _seconds(self) -> float:
        seconds: float = getattr(self._timeout, "seconds", self._wait)
        return seconds


class PostgresSnapshot:
    """One open read transaction. Several threads may use it, one at a time."""

    def __init__(self, database: PostgresDatabase, transaction: Transaction) -> None:
        """Take the transaction."""
        self._database = database
        self._transaction: Transaction | None = transaction
        self._project: str | None = None
        self._lock = threading.RLock()

    @contextmanager
    def reading(self, project: str | None) -> Iterator[Transaction]:
        """Give the transaction to one thread at a time, with the rows of one project."""
        with self._lock:
            if self._transaction is None:
                raise StoreError("the snapshot has ended", hint="read inside its `with` block")
            with translated(self._database.location):
                if project != self._project:
                    self._database.enter(self._transaction, project)
                    self._project = project
                yield self._transaction

    def end(self) -> None:
        """Wait for a thread that reads, and refuse later reads."""
        with self._lock:
            self._transaction = None


class ConnectionPool:
    """Open connections to one address; idle ones are used again.

    It opens a connection in the thread that needs it. So a wrong password or a server that is down is an error of
    that call with its reason, and not a time limit that passes.
    """

    def __init__(self, url: str) -> None:
        """Read the address; `ConfigError` if it is not one."""
        try:
            parts = conninfo_to_dict(url)
            self._conninfo = make_conninfo(url, **{**_DEFAULTS, **parts})
        except psycopg.Error:
            # The driver's message repeats the address, and the password in it.
            raise ConfigError(
                "store.url is not the address of a PostgreSQL database.",
                hint="write it as postgresql://user:password@host:5432/database",
            ) from None
        self.location = location_of(url)
        self._idle: deque[Connection] = deque()
        self._is_closed = False
        self._process = os.getpid()

    @contextmanager
    def reader(self) -> Iterator[Connection]:
        """Give a connection in a read-only transaction that sees the rows of all projects."""
        connection = self._begin(_READ.format(ALL_PROJECTS))
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
        connection.execute(_SESSION)
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


def location_of(url: str) -> str:
    """Return the address of a database without the user and the password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        return "the PostgreSQL database"
    host = parts.get("host") or "localhost"
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{host}{port}/{parts.get('dbname') or ''}"
