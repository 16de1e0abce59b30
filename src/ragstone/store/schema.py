"""The tables of the database, and how a file gets them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from ragstone.errors import StoreDamaged, StoreError, StoreTooNew
from ragstone.store import migration
from ragstone.store.codec import fresh_uuid
from ragstone.store.failures import RESTORE

APPLICATION_ID: Final = 0x52414753  # "RAGS": marks a file as ours
_SIGN: Final = "PRAGMA application_id = 1380009811"
NEWEST: Final = 6
"""The version of the tables below."""
OLDEST: Final = 4
"""The oldest version that can be migrated. Version 5 changed no table, only how texts are packed."""

DOCUMENT_TABLES: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE projects (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)",
    migration.COLLECTIONS,
    # Text columns hold bytes if the text has lone surrogates, which UTF-8 cannot represent.
    """CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
        uri NOT NULL,
        kind NOT NULL,
        language NOT NULL,
        title NOT NULL,
        metadata TEXT NOT NULL,
        marks TEXT,
        source NOT NULL,
        hash TEXT NOT NULL,
        content_hash NOT NULL,
        recipe NOT NULL,
        stamp TEXT,
        characters INTEGER NOT NULL,
        chunks INTEGER NOT NULL,
        gaps NOT NULL,
        added_at REAL NOT NULL,
        beside NOT NULL DEFAULT '',
        UNIQUE (collection, uri)
    )""",
    # The text that an embedder gets, stored once per project; a chunk knows how long its header is.
    """CREATE TABLE texts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
        hash BLOB NOT NULL,
        body NOT NULL,
        UNIQUE (project, hash)
    )""",
    """CREATE TABLE chunks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        collection INTEGER NOT NULL,
        document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
        ord INTEGER NOT NULL,
        text_id INTEGER NOT NULL REFERENCES texts (id),
        header INTEGER NOT NULL,
        start INTEGER NOT NULL,
        "end" INTEGER NOT NULL,
        byte_start INTEGER NOT NULL,
        byte_end INTEGER NOT NULL,
        line_start INTEGER NOT NULL,
        line_end INTEGER NOT NULL,
        page INTEGER,
        page_label NOT NULL,
        kind NOT NULL,
        symbol NOT NULL,
        unit NOT NULL DEFAULT ''
    )""",
    "CREATE INDEX chunks_of_document ON chunks (document, ord)",
    "CREATE INDEX chunks_of_text ON chunks (text_id, collection)",
    "CREATE INDEX chunks_of_collection ON chunks (collection, text_id)",
    # The body comes first: FTS5 needs more room for terms of other columns.
    """CREATE VIRTUAL TABLE words USING fts5 (
        body, symbol, header, path, content='', tokenize="ascii tokenchars '_'"
    )""",
    "CREATE VIRTUAL TABLE words_terms USING fts5vocab (words, row)",
    # Fewer and larger segments while much is added: 20 to 30 % faster, for 8 MB of memory.
    "INSERT INTO words (words, rank) VALUES ('hashsize', 8388608)",
)
VECTOR_TABLES: Final = (
    """CREATE TABLE spaces (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
        fingerprint TEXT NOT NULL,
        spec TEXT NOT NULL,
        storage TEXT NOT NULL,
        width INTEGER,
        epoch TEXT NOT NULL,
        UNIQUE (project, fingerprint, storage)
    )""",
    """CREATE TABLE collection_spaces (
        collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
        space INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
        state TEXT NOT NULL,
        PRIMARY KEY (collection, space)
    ) WITHOUT ROWID""",
    """CREATE TABLE vectors (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        space INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
        text_id INTEGER NOT NULL REFERENCES texts (id) ON DELETE CASCADE,
        data BLOB NOT NULL,
        UNIQUE (text_id, space)
    )""",
    "CREATE INDEX vectors_of_space ON vectors (space)",
)
GRAPH_TABLES: Final = (
    """CREATE TABLE graph_owners (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
        owner NOT NULL,
        stamp NOT NULL,
        UNIQUE (collection, owner)
    )""",
    # Data that an owner wants back when it runs again, such as the facts it read from a file.
    """CREATE TABLE graph_kept (
        owner INTEGER PRIMARY KEY REFERENCES graph_owners (id) ON DELETE CASCADE,
        data BLOB NOT NULL
    )""",
    """CREATE TABLE graph_nodes (
        id INTEGER PRIMARY KEY,
        collection INTEGER NOT NULL,
        owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
        key NOT NULL,
        kind NOT NULL,
        name NOT NULL,
        uri NOT NULL,
        line INTEGER NOT NULL,
        line_end INTEGER NOT NULL,
        signature NOT NULL,
        doc NOT NULL,
        language NOT NULL,
        framework NOT NULL,
        attributes TEXT NOT NULL,
        UNIQUE (owner, key)
    )""",
    "CREATE INDEX graph_nodes_by_key ON graph_nodes (collection, key)",
    "CREATE INDEX graph_nodes_by_kind ON graph_nodes (collection, kind, key)",
    "CREATE INDEX graph_nodes_by_uri ON graph_nodes (collection, uri, key)",
    """CREATE TABLE graph_links (
        id INTEGER PRIMARY KEY,
        collection INTEGER NOT NULL,
        owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
        kind NOT NULL,
        source NOT NULL,
        target NOT NULL,
        uri NOT NULL,
        line INTEGER NOT NULL,
        confidence TEXT NOT NULL,
        conditional INTEGER NOT NULL,
        ord INTEGER NOT NULL,
        attributes TEXT NOT NULL
    )""",
    "CREATE INDEX graph_links_of_owner ON graph_links (owner)",
    "CREATE INDEX graph_links_from ON graph_links (collection, source, kind, ord)",
    "CREATE INDEX graph_links_to ON graph_links (collection, target, kind, ord)",
    # `folded` is the name in lower case by the rules of Unicode.
    """CREATE TABLE graph_aliases (
        id INTEGER PRIMARY KEY,
        collection INTEGER NOT NULL,
        owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
        folded NOT NULL,
        name NOT NULL,
        key NOT NULL,
        kind NOT NULL,
        uri NOT NULL
    )""",
    "CREATE INDEX graph_aliases_of_owner ON graph_aliases (owner)",
    "CREATE INDEX graph_aliases_by_name ON graph_aliases (collection, folded)",
    """CREATE TABLE graph_unresolved (
        id INTEGER PRIMARY KEY,
        collection INTEGER NOT NULL,
        owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
        kind NOT NULL,
        source NOT NULL,
        name NOT NULL,
        receiver NOT NULL,
        uri NOT NULL,
        line INTEGER NOT NULL,
        reason NOT NULL
    )""",
    "CREATE INDEX graph_unresolved_of_owner ON graph_unresolved (owner)",
    "CREATE INDEX graph_unresolved_by_name ON graph_unresolved (collection, name)",
    "CREATE INDEX graph_unresolved_by_source ON graph_unresolved (collection, source)",
)
TABLES: Final = (*DOCUMENT_TABLES, *VECTOR_TABLES, *GRAPH_TABLES, *migration.STATE_TABLES)


def version_of(db: sqlite3.Connection) -> int:
    """Return the schema version of a file, 0 for an empty file; `StoreError` if the file is not ours."""
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        if db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise StoreError("the file is a database of another program", hint="choose another path for the store")
        return 0
    row = db.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if row is None or not isinstance(row[0], int):
        raise StoreDamaged("the store does not say which version it has", hint=RESTORE)
    return row[0]


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
            migration.run(db)
        else:
            _create_tables(db)
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (NEWEST,))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _create_tables(db: sqlite3.Connection) -> None:
    for statement in TABLES:
        db.execute(statement)
    db.execute(_SIGN)
    db.executemany(
        "INSERT INTO meta (key, value) VALUES (?, ?)",
        [("uuid", fresh_uuid()), ("generation", 0), ("words_version", ""), ("schema_version", 0)],
    )
