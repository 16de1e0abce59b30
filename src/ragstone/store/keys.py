"""Keys and plans of projects."""

from __future__ import annotations

import json
from typing import Final

from ragstone.errors import Conflict
from ragstone.store import catalog
from ragstone.store.connection import Database
from ragstone.store.fetch import Row, fetch_value
from ragstone.types import StoredKey

_KEYS: Final = """
    SELECT k.id, p.name, k.name, k.scopes, k.digest, k.created_at, k.expires_at, k.revoked_at
    FROM api_keys k JOIN projects p ON p.id = k.project"""
_ONE: Final = _KEYS + " WHERE k.id = ?"
_OF_PROJECT: Final = _KEYS + " WHERE p.name = ? ORDER BY k.created_at, k.id"
_ADD: Final = """
    INSERT INTO api_keys (id, project, name, scopes, digest, created_at, expires_at, revoked_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_REVOKE: Final = """
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?)
    WHERE id = ? AND project = (SELECT id FROM projects WHERE name = ?)"""
_PLAN: Final = (
    "SELECT l.name FROM project_plans l JOIN projects p ON p.id = l.project WHERE p.name = ?"
)
_SET_PLAN: Final = """
    INSERT INTO project_plans (project, name) VALUES (?, ?)
    ON CONFLICT (project) DO UPDATE SET name = excluded.name"""


class SqliteKeyStore:
    """Implements `KeyStore` on a SQLite database."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self._database = database

    def any(self) -> bool:
        """Return whether a key was ever made, also if it is revoked by now."""
        with self._database.reading() as db:
            return bool(fetch_value(db, "SELECT 1 FROM api_keys LIMIT 1"))

    def add(self, key: StoredKey) -> None:
        """Store a new key; the project is created if it is missing. `Conflict` if the id is taken."""
        with self._database.writing() as db:
            if fetch_value(db, "SELECT 1 FROM api_keys WHERE id = ?", key.id):
                raise Conflict(f"there is a key {key.id!r} already", hint="make another one")
            project = catalog.ensure_project(db, key.project)
            scopes = json.dumps(key.scopes)
            times = (key.created_at, key.expires_at, key.revoked_at)
            db.execute(_ADD, (key.id, project, key.name, scopes, key.digest, *times))

    def get(self, key_id: str) -> StoredKey | None:
        """Return a key by its id, or None."""
        if not catalog.is_storable(key_id):
            return None
        with self._database.reading() as db:
            row = db.execute(_ONE, (key_id,)).fetchone()
        return key_from(row) if row else None

    def list(self, project: str) -> list[StoredKey]:
        """Return the keys of a project, revoked ones included, oldest first."""
        with self._database.reading() as db:
            return [key_from(row) for row in db.execute(_OF_PROJECT, (project,))]

    def revoke(self, project: str, key_id: str, at: float) -> bool:
        """Revoke a key of a project; return whether there is such a key. The first time of revocation is kept."""
        if not catalog.is_storable(key_id):
            return False
        with self._database.writing() as db:
            return db.execute(_REVOKE, (at, key_id, project)).rowcount > 0

    def plan(self, project: str) -> str | None:
        """Return the name of the project's plan, or None."""
        with self._database.reading() as db:
            name: str | None = fetch_value(db, _PLAN, project)
            return name

    def set_plan(self, project: str, plan: str) -> None:
        """Store the name of the project's plan; the project is created if it is missing."""
        with self._database.writing() as db:
            db.execute(_SET_PLAN, (catalog.ensure_project(db, project), plan))


def key_from(row: Row) -> StoredKey:
    """Return the key of a row."""
    key_id, project, name, scopes, digest, created_at, expires_at, revoked_at = row
    return StoredKey(
        key_id,
        project,
        name,
        tuple(json.loads(scopes)),
        bytes(digest),
        created_at,
        expires_at,
        revoked_at,
    )
