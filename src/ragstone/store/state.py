"""The state of collections and sessions between runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Unpack

from ragstone.store import catalog
from ragstone.store.codec import dump_stamp, load_stamp, pack, unpack
from ragstone.store.connection import Database
from ragstone.types import (
    CollectionKey,
    CollectionState,
    CollectionStateChanges,
    SessionState,
    SessionStateChanges,
    UnreadFile,
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
_UNREAD_FILES: Final = "SELECT uri, stamp, reason, failed FROM unread_files WHERE collection = ?"
_ADD_UNREAD_FILE: Final = """
    INSERT INTO unread_files (collection, uri, stamp, reason, failed) VALUES (?, ?, ?, ?, ?)"""
_SHOWN: Final = "SELECT mark FROM shown_passages WHERE project = ? AND session = ? ORDER BY id"
_ADD_SHOWN: Final = "INSERT OR IGNORE INTO shown_passages (project, session, mark) VALUES (?, ?, ?)"
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
            return _read_collection_state(db, catalog.find(db, key))

    def update_collection_state(
        self, key: CollectionKey, **changes: Unpack[CollectionStateChanges]
    ) -> None:
        """Change some fields of a collection's state. `NotFound` if there is no such collection."""
        with catalog.changing(self._database, key) as (db, ids):
            before = _read_collection_state(db, ids)
            state = replace(before, **changes)
            if state != before:
                db.execute(_SET_COLLECTION_STATE, (*_collection_row(state), ids.collection))

    def unread_files(self, key: CollectionKey) -> UnreadFiles:
        """Return the files of a collection that gave no text."""
        with self._database.reading() as db:
            return _read_unread_files(db, catalog.find(db, key))

    def set_unread_files(self, key: CollectionKey, unread: UnreadFiles) -> None:
        """Replace the files of a collection that gave no text. `NotFound` if there is no such collection."""
        with catalog.changing(self._database, key) as (db, ids):
            before = _read_unread_files(db, ids)
            if before.recipe == unread.recipe and before.files == dict(unread.files):
                return
            db.execute("DELETE FROM unread_files WHERE collection = ?", (ids.collection,))
            db.execute(_SET_UNREAD_RECIPE, (ids.collection, pack(unread.recipe)))
            db.executemany(_ADD_UNREAD_FILE, unread_rows(ids.collection, unread.files))

    def session_state(self, key: CollectionKey) -> SessionState:
        """Return the state of a conversation, with defaults if nothing was stored."""
        with self._database.reading() as db:
            return _read_session_state(db, catalog.find(db, key))

    def update_session_state(
        self, key: CollectionKey, **changes: Unpack[SessionStateChanges]
    ) -> None:
        """Change some fields of a conversation's state. `NotFound` if there is no such collection."""
        with catalog.changing(self._database, key) as (db, ids):
            before = _read_session_state(db, ids)
            state = SessionState(
                changes.get("next_turn", before.next_turn),
                changes.get("version", before.version),
            )
            if state != before:
                db.execute(_SET_SESSION_STATE, (state.next_turn, state.version, ids.collection))

    def shown_passages(self, project: str, session: str) -> list[str]:
        """Return the marks of the passages that a session was already shown, oldest first."""
        with self._database.reading() as db:
            rows = db.execute(_SHOWN, (catalog.project_id(db, project), pack(session)))
            return [unpack(mark) for (mark,) in rows]

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


def unread_rows(collection: int, files: Mapping[str, UnreadFile]) -> list[tuple[Any, ...]]:
    """Return unread files as rows of their table."""
    return [
        (collection, pack(uri), dump_stamp(file.stamp), pack(file.reason), file.failed)
        for uri, file in files.items()
    ]


def _read_collection_state(
    db: sqlite3.Connection, ids: catalog.CollectionIds | None
) -> CollectionState:
    row = db.execute(_COLLECTION_STATE, (ids.collection,)).fetchone() if ids else None
    if row is None:
        return CollectionState()
    (
        synced_at,
        follows_folder,
        fingerprint,
        root,
        relative_root,
        needs_vectors,
        graph_seconds,
        graph_remarks,
    ) = row
    return CollectionState(
        synced_at=synced_at,
        follows_folder=bool(follows_folder),
        fingerprint=fingerprint,
        root=None if root is None else unpack(root),
        relative_root=None if relative_root is None else unpack(relative_root),
        needs_vectors=bool(needs_vectors),
        graph_seconds=graph_seconds,
        graph_remarks=tuple(json.loads(graph_remarks)),
    )


def _collection_row(state: CollectionState) -> tuple[Any, ...]:
    return (
        state.synced_at,
        state.follows_folder,
        state.fingerprint,
        None if state.root is None else pack(state.root),
        None if state.relative_root is None else pack(state.relative_root),
        state.needs_vectors,
        state.graph_seconds,
        json.dumps(state.graph_remarks),
    )


def _read_session_state(db: sqlite3.Connection, ids: catalog.CollectionIds | None) -> SessionState:
    row = db.execute(_SESSION_STATE, (ids.collection,)).fetchone() if ids else None
    return SessionState(*row) if row else SessionState()


def _read_unread_files(db: sqlite3.Connection, ids: catalog.CollectionIds | None) -> UnreadFiles:
    recipe = db.execute(_UNREAD_RECIPE, (ids.collection,)).fetchone() if ids else None
    if ids is None or recipe is None:
        return UnreadFiles()
    files = {}
    for uri, stamp, reason, failed in db.execute(_UNREAD_FILES, (ids.collection,)):
        loaded = load_stamp(stamp)
        if loaded is not None:
            files[unpack(uri)] = UnreadFile(loaded, unpack(reason), bool(failed))
    return UnreadFiles(unpack(recipe[0]), files)
