"""The tables, as numbered migrations, and how a file is brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.errors import StoreDamaged, StoreError, StoreTooNew
from ragstone.store.codec import fresh_uuid
from ragstone.store.failures import RESTORE

APPLICATION_ID: Final = 0x52414753  # "RAGS": tells our files from other programs' databases
_SIGN: Final = "PRAGMA application_id = 1380009811"


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a version to the next."""

    version: int
    name: str
    statements: tuple[str, ...]


MIGRATIONS: Final = (
    Migration(
        1,
        "the first tables",
        (
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
            "CREATE TABLE projects (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)",
            """CREATE TABLE collections (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                uuid TEXT NOT NULL UNIQUE,
                project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
                name TEXT NOT NULL,
                description TEXT NOT NULL,
                settings TEXT NOT NULL,
                documents INTEGER NOT NULL DEFAULT 0,
                chunks INTEGER NOT NULL DEFAULT 0,
                updated_at REAL,
                UNIQUE (project, name)
            )""",
            # Text columns hold bytes where the text has lone surrogates, which UTF-8 cannot carry.
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
                UNIQUE (collection, uri)
            )""",
            # What an embedder is given, once per project; a chunk says how much of it is its header.
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
                symbol NOT NULL
            )""",
            "CREATE INDEX chunks_of_document ON chunks (document, ord)",
            "CREATE INDEX chunks_of_text ON chunks (text_id, collection)",
            "CREATE INDEX chunks_of_collection ON chunks (collection, text_id)",
            """CREATE VIRTUAL TABLE words USING fts5 (
                symbol, header, path, body, content='', tokenize="ascii tokenchars '_'"
            )""",
            "CREATE VIRTUAL TABLE words_terms USING fts5vocab (words, row)",
            # Fewer, larger pieces while much is put in: a fifth to a third quicker, for 8 MB of memory.
            "INSERT INTO words (words, rank) VALUES ('hashsize', 8388608)",
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
            """CREATE TABLE notes (
                project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
                key TEXT NOT NULL,
                value TEXT NOT NULL,
                PRIMARY KEY (project, key)
            ) WITHOUT ROWID""",
        ),
    ),
    Migration(
        2,
        "what pages are called, and what stands beside a text",
        (
            "ALTER TABLE documents ADD COLUMN beside NOT NULL DEFAULT ''",
            "ALTER TABLE chunks ADD COLUMN unit NOT NULL DEFAULT ''",
        ),
    ),
    Migration(
        3,
        "the words of the body first: FTS5 marks every row of a term that is not of its first column",
        (
            "DROP TABLE words_terms",
            "DROP TABLE words",
            """CREATE VIRTUAL TABLE words USING fts5 (
                body, symbol, header, path, content='', tokenize="ascii tokenchars '_'"
            )""",
            "CREATE VIRTUAL TABLE words_terms USING fts5vocab (words, row)",
            "INSERT INTO words (words, rank) VALUES ('hashsize', 8388608)",
            "UPDATE meta SET value = '' WHERE key = 'words_version'",  # they are indexed anew
        ),
    ),
    Migration(
        4,
        "what code means: nodes, links, names and what is not known, by the pass that gave them",
        (
            """CREATE TABLE graph_owners (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
                owner NOT NULL,
                stamp NOT NULL,
                UNIQUE (collection, owner)
            )""",
            # What a pass wants to be given back when it runs again, such as what it read in a file.
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
            # The name as it is compared: in small letters, by Unicode's rules.
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
        ),
    ),
    # No table changes: the number keeps those out who would not know a text by its first bytes, nor how to unpack it.
    Migration(5, "texts are squeezed, and found by the beginning of their hash", ()),
)

NEWEST: Final = MIGRATIONS[-1].version
READABLE: Final = 4
"""The oldest version whose rows are read as they are: enough for a file that can only be read."""


def version_of(db: sqlite3.Connection) -> int:
    """Return the schema version a file is at: 0 for an empty one; `StoreError` if it is not ours."""
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        if db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise StoreError("the file is a database of another program", hint="choose another path for the store")
        return 0
    row = db.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if row is None or not isinstance(row[0], int):
        raise StoreDamaged("the store does not say which version it has", hint=RESTORE)
    return row[0]


def refuse_newer(version: int, newest: int = NEWEST) -> None:
    """Raise `StoreTooNew` for a file that a later Ragstone has written."""
    if version > newest:
        raise StoreTooNew(
            f"the store has version {version}, and this Ragstone knows versions up to {newest}",
            hint="update Ragstone: pip install --upgrade ragstone",
        )


def upgrade(
    db: sqlite3.Connection, *, migrations: Sequence[Migration] = MIGRATIONS, save: Callable[[int], None] | None = None
) -> int:
    """Bring a file up to date in one transaction and return its version; the caller holds the write lock.

    `save` is called with the old version before an existing file is changed.
    """
    newest = migrations[-1].version
    version = version_of(db)
    refuse_newer(version, newest)
    if version == newest:
        return version
    if version and save:
        save(version)
    db.execute("BEGIN IMMEDIATE")
    try:
        for migration in migrations:
            if migration.version > version:
                for statement in migration.statements:
                    db.execute(statement)
        if version == 0:
            _first_values(db)
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (newest,))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return newest


def _first_values(db: sqlite3.Connection) -> None:
    db.execute(_SIGN)
    db.executemany(
        "INSERT INTO meta (key, value) VALUES (?, ?)",
        [("uuid", fresh_uuid()), ("generation", 0), ("words_version", ""), ("schema_version", 0)],
    )
