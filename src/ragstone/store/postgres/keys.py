"""Keys and plans of projects in PostgreSQL."""

from __future__ import annotations

import json
from typing import Final

from ragstone.errors import Conflict
from ragstone.store.catalog import check_name
from ragstone.store.fetch import fetch_value
from ragstone.store.keys import key_from
from ragstone.store.postgres import catalog
from ragstone.store.postgres.connection import PostgresDatabase
from ragstone.types import StoredKey

_KEYS: Final = """
    SELECT k.id, p.name, k.name, k.scopes, k.digest, k.created_at, k.expires_at, k.revoked_at
    FROM api_keys k JOIN projects p ON p.id = k.project"""
_ONE: Final = _KEYS + " WHERE k.id = %s"
_OF_PROJECT: Final = _KEYS + " WHERE p.name = %s ORDER BY k.created_at, k.id"
_ADD: Final = """
    INSERT INTO api_keys (id, project, name, scopes, digest, created_at, expires_at, revoked_at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO NOTHING"""
_REVOKE: Final = """
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, %s)
    WHERE id = %s AND project = (SELECT id FROM projects WHERE name = %s)"""
_PLAN: Final = """
    SELECT l.name FROM project_plans l JOIN projects p ON p.id = l.project WHERE p.name = %s"""
_SET_PLAN: Final = """
    INSERT INTO project_plans (project, name) VALUES (%s, %s)
    ON CONFLICT (project) DO UPDATE SET name = excluded.name"""


class PostgresKeyStore:
    """Implements `KeyStore` on the database. A key is looked up before its project is known."""

    def __init__(self, database: PostgresDatabase) -> None:
        """Take the database."""
        self._database = database

    def any(self) -> bool:
        """Return whether a key was ever made, also if it is revoked by now."""
        with self._database.reading(None) as db:
            return bool(fetch_value(db, "SELECT 1 FROM api_keys LIMIT 1"))

    def add(self, key: StoredKey) -> None:
        """Store a new key; the project is created if it is missing. `Conflict` if the id is taken."""
        check_name(key.project, "project")
        with self._database.writing(key.project, create=True) as db:
            project = catalog.project_id(db, key.project)
            scopes = json.dumps(key.scopes)
            times = (key.created_at, key.expires_at, key.revoked_at)
            fields = (key.id, project, key.name, scopes, key.digest, *times)
            if not db.execute(_ADD, fields).rowcount:
                raise Conflict(f"there is a key {key.id!r} already", hint="make another one")

    def get(self, key_id: str) -> StoredKey | None:
        """Return a key by its id, or None."""
        with self._database.reading(None) as db:
            row = db.execute(_ONE, (key_id,)).fetchone()
        if row:
            return key_from(row)
        return None

    def list(self, project: str) -> list[StoredKey]:
        """Return the keys of a project, revoked ones included, oldest first."""
        with self._database.reading(project) as db:
            return [key_from(row) for row in db.execute(_OF_PROJECT, (project,))]

    def revoke(self, project: str, key_id: str, at: float) -> bool:
        """Revoke a key of a project; return whether there is such a key. The first time of revocation is kept."""
        with self._database.writing(project) as db:
            return db.execute(_REVOKE, (at, key_id, project)).rowcount > 0

    def plan(self, project: str) -> str | None:
        """Return the name of the project's plan, or None."""
        with self._database.reading(project) as db:
            name: str | None = fetch_value(db, _PLAN, project)
            return name

    def set_plan(self, project: str, plan: str) -> None:
        """Store the name of the project's plan; the project is created if it is missing."""
        check_name(project, "project")
        with self._database.writing(project, create=True) as db:
            db.execute(_SET_PLAN, (catalog.project_id(db, project), plan))
