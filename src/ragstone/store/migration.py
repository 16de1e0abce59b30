"""From version 5 to 6: collections get a kind, and state gets tables of its own."""

from __future__ import annotations

import sqlite3
from typing import Final

COLLECTIONS: Final = """CREATE TABLE collections (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uuid TEXT NOT NULL UNIQUE,
        project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        description TEXT NOT NULL,
        settings TEXT NOT NULL,
        documents INTEGER NOT NULL DEFAULT 0,
        chunks INTEGER NOT NULL DEFAULT 0,
        updated_at REAL,
        UNIQUE (project, kind, name)
    )"""
STATE_TABLES: Final = (
    # The last write to a collection, or to any collection of a kind if the name is empty; see `catalog.mark_changed`.
    """CREATE TABLE generations (
        project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        value INTEGER NOT NULL,
        PRIMARY KEY (project, kind, name)
    ) WITHOUT ROWID""",
    """CREATE TABLE collection_state (
        collection INTEGER PRIMARY KEY REFERENCES collections (id) ON DELETE CASCADE,
        synced_at REAL,
        follows_folder INTEGER NOT NULL,
        fingerprint TEXT,
        root,
        relative_root,
        needs_vectors INTEGER NOT NULL,
        graph_seconds REAL,
        graph_remarks TEXT NOT NULL
    )""",
    """CREATE TABLE unread_recipes (
        collection INTEGER PRIMARY KEY REFERENCES collections (id) ON DELETE CASCADE,
        recipe NOT NULL
    )""",
    """CREATE TABLE unread_files (
        collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
        uri NOT NULL,
        stamp TEXT NOT NULL,
        reason NOT NULL,
        failed INTEGER NOT NULL,
        PRIMARY KEY (collection, uri)
    ) WITHOUT ROWID""",
    """CREATE TABLE session_state (
        collection INTEGER PRIMARY KEY REFERENCES collections (id) ON DELETE CASCADE,
        next_turn INTEGER,
        version TEXT
    )""",
    """CREATE TABLE shown_passages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
        session NOT NULL,
        mark NOT NULL,
        UNIQUE (project, session, mark)
    )""",
)


def run(db: sqlite3.Connection) -> None:
    """Change the tables and move the rows, inside the transaction of the caller."""
    raise NotImplementedError
