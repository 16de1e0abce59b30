"""Short forms of queries that return one value or one column, their limits, and the ids of rows."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol, TypeAlias

_LARGEST_LIMIT: Final = 1 << 31
_LARGEST_ID: Final = (1 << 63) - 1
_STEPS: Final = 100_000
"""Steps of SQLite between two looks at the clock: about a millisecond."""

Row: TypeAlias = tuple[Any, ...]
"""A row of a statement; the caller knows the types of its columns."""


class Rows(Protocol):
    """The rows of a statement that ran."""

    def fetchone(self) -> Row | None:
        """Return the next row, None if there is none."""

    def __iter__(self) -> Iterator[Row]:
        """Return an iterator of the rows."""


class Executor(Protocol):
    """A connection to SQLite or a transaction of PostgreSQL."""

    def execute(self, statement: str, parameters: Sequence[object], /) -> Rows:
        """Run a statement and return its rows."""


def fetch_value(db: Executor, statement: str, *parameters: object) -> Any:  # noqa: ANN401 - any column
    """Return the first column of the first row, None if there is no row."""
    row = db.execute(statement, parameters).fetchone()
    return None if row is None else row[0]


def fetch_column(db: Executor, statement: str, *parameters: object) -> list[Any]:
    """Return the first column of all rows."""
    return [row[0] for row in db.execute(statement, parameters)]


def row_limit(limit: int) -> int:
    """Return a limit that SQLite can hold, 0 for a negative one."""
    return max(0, min(limit, _LARGEST_LIMIT))


def storable_id(number: int) -> int:
    """Return a row id that a store can hold; any other id becomes -1, which no row has."""
    if -_LARGEST_ID <= number <= _LARGEST_ID:
        return number
    return -1


def limit_time(db: sqlite3.Connection, seconds: float | None) -> None:
    """Interrupt statements of a connection that run for longer than this from now on; None: no limit."""
    if seconds is None:
        db.set_progress_handler(None, _STEPS)
        return
    deadline = time.monotonic() + seconds
    db.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
