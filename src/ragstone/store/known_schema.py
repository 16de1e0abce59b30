"""Compares the tables of a file with those that Ragstone creates.

A foreign file may have views instead of tables, triggers, or columns that compute: each of them lets a plain query run
for hours. So nothing is read from a file with another schema.
"""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from typing import Final

from ragstone.errors import StoreError
from ragstone.store.tables import table_statements

_OBJECTS: Final = (
    "SELECT type, name, substr(sql, 1, 10000) FROM sqlite_master WHERE name LIKE ?"
)
_OWN_TABLES: Final = ("sqlite_sequence", "sqlite_stat1", "sqlite_stat4")
"""Tables of SQLite itself, which only SQLite can create."""
_FULL_TEXT_TABLES: Final = (
    "create table words_config(k primary key, v) without rowid",
    "create table words_data(id integer primary key, block blob)",
    "create table words_docsize(id integer primary key, sz blob)",
    "create table words_idx(segid, term, pgno, primary key(segid, term)) without rowid",
)
"""Tables that FTS5 creates for the table `words`."""
_VERSION_5_TABLES: Final = (
    """CREATE TABLE collections (id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE,
       project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE, name TEXT NOT NULL,
       description TEXT NOT NULL, settings TEXT NOT NULL, documents INTEGER NOT NULL DEFAULT 0,
       chunks INTEGER NOT NULL DEFAULT 0, updated_at REAL, UNIQUE (project, name))""",
    """CREATE TABLE notes (project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
       key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (project, key)) WITHOUT ROWID""",
)
"""Tables that only version 0.1 wrote."""
_SPACE: Final = re.compile(r"\s+")
_SPACE_AT_BRACKET: Final = re.compile(r"\s*([(),])\s*")


def require_known_schema(db: sqlite3.Connection, table: str = "%") -> None:
    """Raise `StoreError` if a file has a table, view or trigger that Ragstone does not create."""
    known = _known_statements()
    for kind, name, statement in db.execute(_OBJECTS, (table,)):
        if name in _OWN_TABLES or (kind == "index" and statement is None):
            continue
        if not isinstance(statement, str) or _normalise(statement) not in known:
            raise StoreError(
                f"the database has something that Ragstone does not make: the {kind} {str(name)[:80]!r}",
                hint="move the file away, then `ragstone sync` makes a new index",
            )


@cache
def _known_statements() -> frozenset[str]:
    statements = (*table_statements(), *_FULL_TEXT_TABLES, *_VERSION_5_TABLES)
    return frozenset(map(_normalise, statements))


def _normalise(statement: str) -> str:
    """Return a statement without the differences that SQLite and a migration make: quotes, spaces, case."""
    plain = statement.replace('"', "").replace("'", "").lower()
    return _SPACE_AT_BRACKET.sub(r"\1", _SPACE.sub(" ", plain)).strip(" ;")
