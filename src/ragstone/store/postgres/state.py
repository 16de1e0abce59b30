"""The state of collections and sessions between runs, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Unpack

from ragstone.store.catalog import check_name
from ragstone.store.fetch import fetch_column, fetch_value
from ragstone.store.postgres import catalog
from ragstone.store.postgres.connection import PostgresDatabase, Transaction
from ragstone.store.rows import (
    collection_state_from,
    collection_state_row,
    unread_files_from,
    unread_row,
)
from ragstone.types import (
    CollectionKey,
    CollectionState,
    CollectionStateChanges,
    SessionState,
    SessionStateChanges,
    UnreadFiles,
)

_COLLECTION_STATE: Final = """
    SELECT synced_at, follows_folder, fingerprint, root, relative_root, needs_vectors, graph_seconds, graph_remarks
    FROM collection_state WHERE collection = %s"""
_SET_COLLECTION_STATE: Final = """
    INSERT INTO collection_state (synced_at, follows_folder, fingerprint, root, relative_root, needs_vectors,
                                  graph_seconds, graph_remarks, project, collection)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (collection) DO UPDATE SET
        synced_at = excluded.synced_at, follows_folder = excluded.follows_folder, fingerprint = excluded.fingerprint,
        root = excluded.root, relative_root = excluded.relative_root, needs_vectors = excluded.needs_vectors,
        graph_seconds = excluded.graph_seconds, graph_remarks = excluded.graph_remarks"""
_SESSION_STATE: Final = "SELECT next_turn, version FROM session_state WHERE collection = %s"
_SET_SESSION_STATE: Final = """
    INSERT INTO session_state (next_turn, version, project, collection) VALUES (%s, %s, %s, %s)
    ON CONFLICT (collection) DO UPDATE SET next_turn = excluded.next_turn, version = excluded.version"""
_UNREAD_RECIPE: Final = "SELECT recipe FROM unread_recipes WHERE collection = %s"
_SET_UNREAD_RECIPE: Final = """
    INSERT INTO unread_recipes (project, collection, recipe) VALUES (%s, %s, %s)
    ON CONFLICT (collection) DO UPDATE SET recipe = excluded.recipe"""
_UNREAD_FILES: Final = (
    "SELECT uri, stamp, reason, failed FROM unread_files WHERE collection = %s"
)
_REMOVE_UNREAD_FILES: Final = "DELETE FROM unread_files WHERE collection = %s"
_ADD_UNREAD_FILE: Final = """
    INSERT INTO unread_files (project, collection, uri, stamp, reason, failed) VALUES (%s, %s, %s, %s, %s, %s)"""
_SHOWN: Final = (
    "SELECT mark FROM shown_passages WHERE project = %s AND session = %s ORDER BY id"
)
_ADD_SHOWN: Final = """
    INSERT INTO shown_passages (project, session, mark) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"""
_TRIM_SHOWN: Final = """
    DELETE FROM shown_passages WHERE id IN (
        SELECT id FROM shown_passages WHERE project = %s AND session = %s ORDER BY id DESC OFFSET %s)"""
_FORGET: Final = "DELETE FROM shown_passages WHERE project = %s AND session = %s"


class PostgresStateStore:
    """Implements `StateStore` on the database."""

    def __init__(self, database: PostgresDatabase) -> None:
        """Take the database."""
        self._database = database

    def collection_state(self, key: CollectionKey) -> CollectionState:
        """Return the state of a collection, with defaults if nothing was stored."""
        with self._database.reading(key.project) as db:
            return _read_collection_state(db, catalog.collection_id(db, key))

    def update_collection_state(
        self, key: CollectionKey, **changes: Unpack[CollectionStateChanges]
    ) -> None:
        """Change some fields of a collection's state. `NotFound` if there is no such collection."""
        with catalog.changing(self._database, key) as (db, ids):
            before = _read_collection_state(db, ids.collection)
            state = replace(before, **changes)
            if state != before:
                owner = (ids.project, ids.collection)
                db.execute(_SET_COLLECTION_STATE, (*collection_state_row(state), *owner))

    def unread_files(self, key: CollectionKey) -> UnreadFiles:
        """Return the files of a collection that gave no text."""
        with self._database.reading(key.project) as db:
            return _read_unread_files(db, catalog.collection_id(db, key))

    def set_unread_files(self, key: CollectionKey, unread: UnreadFiles) -> None:
        """Replace the files of a collection that gave no text. `NotFound` if there is no such collection."""
        with catalog.changing(self._database, key) as (db, ids):
            before = _read_unread_files(db, ids.collection)
            if before.recipe == unread.recipe and before.files == dict(unread.files):
                return
            owner = (ids.project, ids.collection)
            db.execute(_REMOVE_UNREAD_FILES, (ids.collection,))
            db.execute(_SET_UNREAD_RECIPE, (*owner, unread.recipe))
            rows = [(*owner, *unread_row(uri, file)) for uri, file in unread.files.items()]
            db.executemany(_ADD_UNREAD_FILE, rows)

    def session_state(self, key: CollectionKey) -> SessionState:
        """Return the state of a conversation, with defaults if nothing was stored."""
        with self._database.reading(key.project) as db:
            return _read_session_state(db, catalog.collection_id(db, key))

    def update_session_state(
        self, key: CollectionKey, **changes: Unpack[SessionStateChanges]
    ) -> None:
        """Change some fields of a conversation's state. `NotFound` if there is no such collection."""
        with catalog.changing(self._database, key) as (db, ids):
            before = _read_session_state(db, ids.collection)
            state = replace(before, **changes)
            if state != before:
                owner = (ids.project, ids.collection)
                db.execute(_SET_SESSION_STATE, (state.next_turn, state.version, *owner))

    def shown_passages(self, project: str, session: str) -> list[str]:
        """Return the marks of the passages that a session was already shown, oldest first."""
        with self._database.reading(project) as db:
            return fetch_column(db, _SHOWN, catalog.project_id(db, project), session)

    def add_shown_passages(
        self, project: str, session: str, marks: Sequence[str], *, keep: int
    ) -> None:
        """Add marks of passages that a session was shown; only the newest `keep` marks of it are kept."""
        check_name(project, "project")
        with self._database.writing(project, create=True) as db:
            owner = (catalog.project_id(db, project), session)
            db.executemany(_ADD_SHOWN, [(*owner, mark) for mark in marks])
            db.execute(_TRIM_SHOWN, (*owner, keep))


def forget_session(db: Transaction, project: int, session: str) -> None:
    """Remove the marks of the passages that a session was shown."""
    db.execute(_FORGET, (project, session))


def _read_collection_state(db: Transaction, collection: int) -> CollectionState:
    row = db.execute(_COLLECTION_STATE, (collection,)).fetchone()
    if row is None:
        return CollectionState()
    return collection_state_from(row)


def _read_session_state(db: Transaction, collection: int) -> SessionState:
    row = db.execute(_SESSION_STATE, (collection,)).fetchone()
    if row:
        return SessionState(*row)
    return SessionState()


def _read_unread_files(db: Transaction, collection: int) -> UnreadFiles:
    recipe = fetch_value(db, _UNREAD_RECIPE, collection)
    return unread_files_from(recipe, db.execute(_UNREAD_FILES, (collection,)))
