"""Connections to a PostgreSQL database, each transaction limited to the rows of one project.

Reads see one moment of the database (REPEATABLE READ). A write locks the row of its project first, so the writers of
one project queue, and those of other projects do not. Row-level security shows only rows of the project that the
transaction has set, whatever its statements ask for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol, TypeVar, cast

import psycopg
from psycopg.abc import Params

from ragstone.errors import StoreError
from ragstone.store.fetch import Row
from ragstone.store.lock import WAIT_SECONDS
from ragstone.store.postgres.failures import translated
from ragstone.store.postgres.pool import ALL_PROJECTS, SESSION, Connection, ConnectionPool
from ragstone.store.postgres.replica import ReadReplica

Answer = TypeVar("Answer")
NO_PROJECT: Final = -1
_WRITE: Final = (
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL ragstone.project = {:d};"
    " SET LOCAL lock_timeout = {:d}"
)
_SET_PROJECT: Final = "SET LOCAL ragstone.project = {:d}"
_PROJECT_ID: Final = "SELECT id FROM projects WHERE name = %s"
_LOCK_PROJECT: Final = "SELECT id FROM projects WHERE name = %s FOR NO KEY UPDATE"
_CHANGES: Final = ("INSERT", "UPDATE", "DELETE")


class Transaction:
    """One open transaction, which counts the rows that it changes."""

    def __init__(self, connection: Connection, *, is_snapshot: bool = False) -> None:
        """Take a connection in a transaction; in a snapshot, the same question has the same answer."""
        self._connection = connection
        self._answers: dict[Hashable, object] | None = {} if is_snapshot else None
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

    def ask_once(self, question: Hashable, ask: Callable[[], Answer]) -> Answer:
        """Return the answer to a question; a snapshot asks each question once."""
        if self._answers is None:
            return ask()
        if question not in self._answers:
            self._answers[question] = ask()
        return cast(Answer, self._answers[question])

    def fetch_each(self, statement: str, rows: Sequence[Sequence[object]]) -> list[Row]:
        """Run a query once for each row of parameters, without waiting for each answer; return all rows."""
        fetched: list[Row] = []
        if rows:
            cursor = self._connection.cursor()
            cursor.executemany(statement, rows, returning=True)
            has_more: bool | None = True
            while has_more:
                fetched += cursor.fetchall()
                has_more = cursor.nextset()
        return fetched

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
        self.replica: ReadReplica | None = None
        if replica_url:
            self.replica = ReadReplica(ConnectionPool(replica_url), self._primary)
        self.location = self._primary.location
        self._wait = wait
        self._timeout = threading.local()
        self._project_ids: dict[str, int] = {}

    def close(self) -> None:
        """Close every idle connection; others are closed when they are done."""
        self._primary.close()
        if self.replica is not None:
            self.replica.close()

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self, project: str | None) -> Iterator[Transaction]:
        """Give a read-only transaction with the rows of one project, or of all if it is None."""
        number = ALL_PROJECTS if project is None else self._project_ids.get(project)
        with (
            translated(self.location),
            self._primary.reader(number or ALL_PROJECTS) as connection,
        ):
            transaction = Transaction(connection)
            if number is None:
                self.enter(transaction, project)
            yield transaction

    @contextmanager
    def searching(self, project: str) -> Iterator[Transaction]:
        """Give a read-only transaction for a search: on the replica, if there is one that is up to date."""
        with self.snapshot() as snapshot, snapshot.reading(project) as transaction:
            yield transaction

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        """Give a view of this moment for as long as the `with` block runs; of the replica if it is up to date."""
        if self.replica is None:
            source = self._primary.reader()
        else:
            source = self.replica.reader()
        with translated(self.location), source as connection:
            snapshot = PostgresSnapshot(self, Transaction(connection, is_snapshot=True))
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
        with translated(self.location), self._primary.writer(SESSION) as connection:
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
