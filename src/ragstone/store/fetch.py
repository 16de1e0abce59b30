"""Short forms of queries that return one value or one column, and their limits."""

from __future__ import annotations

import sqlite3
from typing import Any, Final, TypeAlias

_LARGEST_LIMIT: Final = 1 << 31

Row: TypeAlias = tuple[Any, ...]
"""A row of a statement; the caller knows the types of its columns."""


def fetch_value(db: sqlite3.Connection, statement: str, *parameters: object) -> Any:  # noqa: ANN401 - any column
    """Return the first column of the first row, None if there is no row."""
    row = db.execute(statement, parameters).fetchone()
    return None if row is None else row[0]


def fetch_column(db: sqlite3.Connection, statement: str, *parameters: object) -> list[Any]:
    """Return the first column of all rows."""
    return [row[0] for row in db.execute(statement, parameters)]


def row_limit(limit: int) -> int:
    """Return a limit that SQLite can hold, 0 for a negative one."""
    return max(0, min(limit, _LARGEST_LIMIT))
