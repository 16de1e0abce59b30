"""The state of collections and sessions between runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Unpack

from ragstone.store import catalog
from ragstone.store.codec import (
    pack,
    pack_row,
    unpack,
)
from ragstone.store.connection import Database
from ragstone.store.fetch import fetch_column, fetch_value
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
    FROM collection_state WHERE collection = ?"""
_SET_COLLECTION_STATE: Final = """
    INSERT INTO collection_state (synced_at, follows_folder, fingerprint, root, relative_root, needs_vectors,
                                  graph_seconds, graph_remarks, collection)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (collection) DO UPDATE SET
        synced_at = excluded.synced_at, follows_folder = excluded.follows_folder, fingerprint = excluded.fingerprint,
        root = excluded.root, relative_root = excluded.relative_root, needs_vectors = excluded.needs_vectors,
        graph_seconds = excluded.graph_seconds, graph_remarks = excluded.graph_remarks"""
_SESSION_STATE: Final = "SELECT next_turn, version FROM session_state WHERE collection = ?"
_SET_SESSION_STATE: Final = """
    INSERT INTO session_state (next_turn, version, collection) VALUES (?, ?, ?)
    ON CONFLICT (collection) DO UPDATE SET next_turn = excluded.next_turn, version = excluded.version"""
_UNREAD_RECIPE: Final = "SELECT recipe FROM unread_recipes WHERE collection = ?"
_SET_UNREAD_RECIPE: Final = """
    INSERT INTO unread_recipes (collection, recipe) VALUES (?, ?)
    ON CONFLICT (collection) DO UPDATE SET recipe = excluded.recipe"""
_UNREAD_FILES: Final = (
    "SELECT uri, stamp, reason, failed FROM unread_files WHERE collection = ?"
)
_ADD_UNREAD_FILE: Final = """
    INSERT INTO unread_files (collection, uri, stamp, reason, failed) VALUES (?, ?, ?, ?, ?)"""
_SHOWN: Final = "SELECT mark FROM shown_passages WHERE project = ? AND session = ? ORDER BY id"
_ADD_SHOWN: Final = (
    "INSERT OR IGNORE INTO shown_passages (project, session, mark) VALUES (?, ?, ?)"
)
_TRIM_SHOWN: Final = """
    DELETE FROM shown_passages WHERE id IN (
        SELECT id FROM shown_passages WHERE project = ? AND session = ? ORDER BY id DESC LIMIT -1 OFFSET ?)"""


class SqliteStateStore:
    """Implements `StateStore` on a SQLite database."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self._database = database

    def collection_state(self, key: CollectionKey) -> CollectionState:
        """Return the state of a collection, with defaults if nothing was stored."""
        with self._database.reading() as db:
            return _read_collection_state(db, catalog.collection_id(db, key))

    def update_collection_state(
        self, key: CollectionKey, **changes: Unpack[CollectionStateChanges]
    ) -> None:
        """Change some fields of a collection's state. `NotFound` if there is no such collection."""
        with catalog.changing(self._database, key) as (db, ids):
            before = _read_collection_state(db, ids.collection)
            state = replace(before, **changes)
            if state != before:
                db.execute(
                    _SET_COLLECTION_STATE,
                    (*pack_row(collection_state_row(state)), ids.collection),
                )

    def unread_files(self, key: CollectionKey) -> UnreadFiles:
        """Return the files of a collection that gave no text."""
        with self._database.reading() as db:
            return _read_unread_files(db, catalog.collection_id(db, key))

    def set_unread_files(self, key: CollectionKey, unread: UnreadFiles) -> None:
        """Replace the files of a collection that gave no text. `NotFound` if there is no such collection."""
        with catalog.changing(self._database, key) as (db, ids):
            before = _read_unread_files(db, ids.collection)
            if before.recipe == unread.recipe and before.files == dict(unread.files):
                return
            db.execute("DELETE FROM unread_files WHERE collection = ?", (ids.collection,))
            db.execute(_SET_UNREAD_RECIPE, (ids.collection, pack(unread.recipe)))
            rows = [
                (ids.collection, *pack_row(unread_row(uri, file)))
                for uri, file in unread.files.items()
            ]
            db.executemany(_ADD_UNREAD_FILE, rows)

    def session_state(self, key: CollectionKey) -> SessionState:
        """Return the state of a conversation, with defaults if nothing was stored."""
        with self._database.reading() as db:
            return _read_session_state(db, catalog.collection_id(db, key))

    def update_session_state(
        self, key: CollectionKey, **changes: Unpack[SessionStateChanges]
    ) -> None:
        """Change some fields of a conversation's state. `NotFound` if there is no such collection."""
        with catalog.changing(self._database, key) as (db, ids):
            before = _read_session_state(db, ids.collection)
            state = replace(before, **changes)
            if state != before:
                db.execute(_SET_SESSION_STATE, (state.next_turn, state.version, ids.collection))

    def shown_passages(self, project: str, session: str) -> list[str]:
        """Return the marks of the passages that a session was already shown, oldest first."""
        with self._database.reading() as db:
            marks = fetch_column(db, _SHOWN, catalog.project_id(db, project), pack(session))
            return [unpack(mark) for mark in marks]

    def add_shown_passages(
        self, project: str, session: str, marks: Sequence[str], *, keep: int
    ) -> None:
        """Add marks of passages that a session was shown; only the newest `keep` marks of it are kept."""
        with self._database.writing() as db:
            owner = (catalog.ensure_project(db, project), pack(session))
            db.executemany(_ADD_SHOWN, [(*owner, pack(mark)) for mark in marks])
            db.execute(_TRIM_SHOWN, (*owner, keep))


def forget_session(db: sqlite3.Connection, project: int, session: str) -> None:
    """Remove the marks of the passages that a session was shown."""
    db.execute(
        "DELETE FROM shown_passages WHERE project = ? AND session = ?", (project, pack(session))
    )


def _read_collection_state(db: sqlite3.Connection, collection: int) -> CollectionState:
    row = db.execute(_COLLECTION_STATE, (collection,)).fetchone()
    return CollectionState() if row is None else collection_state_from(row)


def _read_session_state(db: sqlite3.Connection, collection: int) -> SessionState:
    row = db.execute(_SESSION_STATE, (collection,)).fetchone()
    return SessionState(*row) if row else SessionState()


def _read_unread_files(db: sqlite3.Connection, collection: int) -> UnreadFiles:
    recipe = fetch_value(db, _UNREAD_RECIPE, collection)
    return unread_files_from(recipe, db.execute(_UNREAD_FILES, (collection,)))
