"""The tables of the database, their version, and how they are created and brought up to date.

Creation and migration are one transaction under an advisory lock, so several machines may start at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import psycopg
from psycopg import errors

from ragstone.errors import StoreDamaged, StoreError, StoreTooNew
from ragstone.store.codec import fresh_uuid
from ragstone.store.failures import RESTORE
from ragstone.store.postgres.connection import PostgresDatabase, Transaction
from ragstone.store.words.terms import version as words_version

NEWEST: Final = 2
"""The version of the tables in `schema.sql`."""
_JOB_TABLES: Final = ("jobs", "job_files", "job_file_parts")
_LOCK: Final = 0x52414753  # "RAGS"
_LOCK_SCHEMA: Final = "SELECT pg_advisory_xact_lock(%s)"
_HAS_TABLES: Final = "SELECT to_regclass('meta') IS NOT NULL"
_HAS_EXTENSION: Final = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
_VERSION: Final = "SELECT value FROM meta WHERE key = 'schema_version'"
_SET_META: Final = """
    INSERT INTO meta (key, value) VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value"""
# The setting is read once for each statement, because it is in a subquery. 0 shows the rows of all projects.
_VISIBLE: Final = """
    (SELECT coalesce(nullif(current_setting('ragstone.project', true), ''), '-1')::integer) IN (0, {column})"""
_POLICY: Final = "CREATE POLICY one_project ON {table} USING ({visible}) WITH CHECK ({visible})"
_SECURE: Final = "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
_FORCE: Final = "ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
_OLDEST_PGVECTOR: Final = (0, 8)


def prepare(database: PostgresDatabase) -> None:
    """Create the tables in an empty database, or migrate older ones; `StoreTooNew` if they are newer."""
    if _read_version(database) == NEWEST:
        return  # the usual case needs no lock
    with database.writing(None) as db:
        db.execute(_LOCK_SCHEMA, (_LOCK,))
        version = _version(db)
        if version == NEWEST:
            return  # another process was faster
        if version == 0:
            _require_pgvector(db, database.location)
            _create(db)
            version = NEWEST
        for older in range(version, NEWEST):
            MIGRATIONS[older](db)
        db.execute(_SET_META, ("schema_version", str(NEWEST)))


def _read_version(database: PostgresDatabase) -> int:
    with database.reading(None) as db:
        return _version(db)


def _version(db: Transaction) -> int:
    """Return the version of the tables, 0 if there are none; `StoreTooNew` if a later Ragstone made them."""
    row = db.execute(_HAS_TABLES).fetchone()
    if row is None or not row[0]:
        return 0
    stored = db.execute(_VERSION).fetchone()
    if stored is None or not str(stored[0]).isdigit():
        raise StoreDamaged("the database does not say which version it has", hint=RESTORE)
    version = int(stored[0])
    if version > NEWEST:
        raise StoreTooNew(
            f"the database has version {version}, and this Ragstone knows versions up to {NEWEST}",
            hint="update Ragstone: pip install --upgrade ragstone",
        )
    return version


def _create(db: Transaction) -> None:
    for statement in _statements():
        db.execute(statement)
    for table in tables():
        if table != "meta":
            protect(db, table)
    for key, value in (("uuid", fresh_uuid()), ("words_version", words_version())):
        db.execute(_SET_META, (key, value))


def _add_jobs(db: Transaction) -> None:
    """Add the tables of jobs, which version 1 did not have."""
    for statement in _statements():
        if re.search(r"^CREATE (TABLE|INDEX) jobs?_?", statement):
            db.execute(statement)
    for table in _JOB_TABLES:
        protect(db, table)


def protect(db: Transaction, table: str) -> None:
    """Show only the rows of the transaction's project, to the owner of the table too."""
    column = "id" if table == "projects" else "project"
    visible = _VISIBLE.format(column=column)
    db.execute(_SECURE.format(table=table))
    db.execute(_FORCE.format(table=table))
    db.execute(_POLICY.format(table=table, visible=visible))


def tables() -> list[str]:
    """Return the names of all tables."""
    return re.findall(r"^CREATE TABLE (\w+)", "\n".join(_statements()), re.MULTILINE)


def _statements() -> list[str]:
    lines = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8").splitlines()
    script = "\n".join(line for line in lines if not line.startswith("--"))
    return [statement.strip() for statement in script.split(";\n") if statement.strip()]


def _require_pgvector(db: Transaction, location: str) -> None:
    """Raise `StoreError` if the database has no pgvector and this role may not add it."""
    row = db.execute(_HAS_EXTENSION).fetchone()
    if row is None:
        try:
            db.execute("CREATE EXTENSION vector")
        except (
            errors.InsufficientPrivilege,
            errors.UndefinedFile,
            psycopg.NotSupportedError,
        ) as error:
            raise StoreError(
                f"{location} has no pgvector",
                hint="install pgvector 0.8 or later on the server, then run as its administrator in this database: "
                "CREATE EXTENSION vector",
            ) from error
        row = db.execute(_HAS_EXTENSION).fetchone()
    version = str(row[0]) if row else ""
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers < _OLDEST_PGVECTOR:
        raise StoreError(
            f"{location} has pgvector {version}, and 0.8 or later is needed",
            hint="update pgvector on the server, then run: ALTER EXTENSION vector UPDATE",
        )


MIGRATIONS: Final[Mapping[int, Callable[[Transaction], None]]] = {1: _add_jobs}
"""For each older version, the function that changes its tables to the next version."""
