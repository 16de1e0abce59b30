"""The schema version of a file, and how it is brought to the newest one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from ragstone.errors import StoreDamaged, StoreError, StoreTooNew
from ragstone.store import migration_5_to_6
from ragstone.store.codec import fresh_uuid
from ragstone.store.failures import RESTORE
from ragstone.store.fetch import fetch_value
from ragstone.store.known_schema import require_known_schema
from ragstone.store.tables import create_statement, table_statements

APPLICATION_ID: Final = 0x52414753  # "RAGS": marks a file as ours
_SIGN: Final = "PRAGMA application_id = 1380009811"
NEWEST: Final = 7
"""The version of the tables in `schema.sql`."""
_NEW_IN_7: Final = ("api_keys", "project_plans")
OLDEST: Final = 5
"""The oldest version that can be migrated: the one that Ragstone 0.1 wrote."""


def version_of(db: sqlite3.Connection) -> int:
    """Return the schema version of a file, 0 for an empty file; `StoreError` if the file is not ours."""
    if fetch_value(db, "PRAGMA application_id") != APPLICATION_ID:
        if fetch_value(db, "SELECT 1 FROM sqlite_master LIMIT 1"):
            raise StoreError(
                "the file is a database of another program",
                hint="choose another path for the store",
            )
        return 0
    require_known_schema(db, table="meta")
    version = fetch_value(db, "SELECT value FROM meta WHERE key = 'schema_version'")
    if not isinstance(version, int):
        raise StoreDamaged("the store does not say which version it has", hint=RESTORE)
    return version


def refuse_newer(version: int) -> None:
    """Raise `StoreTooNew` for a file that a later Ragstone has written."""
    if version > NEWEST:
        raise StoreTooNew(
            f"the store has version {version}, and this Ragstone knows versions up to {NEWEST}",
            hint="update Ragstone: pip install --upgrade ragstone",
        )


def upgrade(db: sqlite3.Connection, *, save: Callable[[int], None] | None = None) -> None:
    """Bring a file to the newest version in one transaction. The caller holds the write lock.

    `save` is called with the old version before an existing file is changed. An interrupted upgrade changes nothing,
    so the next open starts again.
    """
    version = version_of(db)
    refuse_newer(version)
    if version == NEWEST:
        return
    if 0 < version < OLDEST:
        raise StoreError(
            f"the store has version {version}, which only a development version of Ragstone wrote",
            hint="move the file away, then `ragstone sync` makes a new index",
        )
    if version and save:
        save(version)
    # Rebuilding a table that others refer to would delete their rows. SQLite ignores this inside of a transaction.
    db.execute("PRAGMA foreign_keys = OFF")
    try:
        _upgrade_tables(db, version)
    finally:
        db.execute("PRAGMA foreign_keys = ON")


def _upgrade_tables(db: sqlite3.Connection, version: int) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        if version:
            _migrate(db, version)
        else:
            _create_tables(db)
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (NEWEST,))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring existing tables to the newest version, one version after the other."""
    if version == 5:
        migration_5_to_6.run(db)
    for table in _NEW_IN_7:
        db.execute(create_statement(table))


def _create_tables(db: sqlite3.Connection) -> None:
    for statement in table_statements():
        db.execute(statement)
    db.execute(_SIGN)
    db.executemany(
        "INSERT INTO meta (key, value) VALUES (?, ?)",
        [
            ("uuid", fresh_uuid()),
            ("generation", 0),
            ("words_version", ""),
            ("schema_version", 0),
        ],
    )
