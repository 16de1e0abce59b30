"""A copy of the database as one SQLite file: it opens like any home, and `ragstone migrate` moves it back."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ragstone.store import schema as sqlite_schema
from ragstone.store.codec import dump_gaps, pack, pack_body
from ragstone.store.failures import translated
from ragstone.store.fetch import Row
from ragstone.store.maintenance import new_copy
from ragstone.store.postgres.connection import PostgresDatabase, Transaction
from ragstone.store.words import fts5

_PAGE: Final = 2000
_SELECT: Final = "SELECT {columns} FROM {table}{condition}"
_INSERT: Final = "INSERT INTO {table} ({columns}) VALUES ({values})"
_SET_GENERATION: Final = """
    UPDATE meta SET value = (SELECT coalesce(max(value), 0) FROM generations) WHERE key = 'generation'"""

Convert = Callable[..., object]


@dataclass(frozen=True, slots=True)
class TableCopy:
    """A table of the copy, its columns, and the names and forms that differ in PostgreSQL."""

    table: str
    columns: tuple[str, ...]
    source: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    converted: Mapping[str, Convert] = field(default_factory=dict)
    condition: str = ""

    @property
    def select(self) -> str:
        """Return the statement that reads the rows from PostgreSQL."""
        columns = ", ".join(self.renamed.get(column, column) for column in self.columns)
        return _SELECT.format(
            columns=columns, table=self.source or self.table, condition=self.condition
        )

    @property
    def insert(self) -> str:
        """Return the statement that adds a row to the copy."""
        columns = ", ".join(f'"{column}"' for column in self.columns)
        values = ", ".join("?" * len(self.columns))
        return _INSERT.format(table=self.table, columns=columns, values=values)

    def row(self, values: Row) -> Row:
        """Return a row as SQLite stores it."""
        return tuple(
            self._value(column, value)
            for column, value in zip(self.columns, values, strict=True)
        )

    def _value(self, column: str, value: object) -> object:
        if column in self.converted:
            return self.converted[column](value)
        if isinstance(value, str):
            return pack(value)
        return value


def _columns(names: str) -> tuple[str, ...]:
    return tuple(names.split())


_COPIES: Final = (
    TableCopy("projects", _columns("id name")),
    TableCopy(
        "collections",
        _columns("id uuid project kind name description settings documents chunks updated_at"),
    ),
    TableCopy(
        "documents",
        _columns(
            "id collection uri kind language title metadata marks source hash content_hash recipe stamp characters"
            " chunks gaps added_at beside"
        ),
        converted={"gaps": dump_gaps},
    ),
    TableCopy("texts", _columns("id project hash body"), converted={"body": pack_body}),
    TableCopy(
        "chunks",
        _columns(
            "id collection document ord text_id header start end byte_start byte_end line_start line_end page"
            " page_label kind symbol unit"
        ),
        renamed={"start": "span_start", "end": "span_end"},
    ),
    TableCopy("spaces", _columns("id project fingerprint spec storage width epoch")),
    TableCopy("collection_spaces", _columns("collection space state")),
    TableCopy("vectors", _columns("id space text_id data")),
    TableCopy("graph_owners", _columns("id collection owner stamp")),
    TableCopy(
        "graph_kept",
        _columns("owner data"),
        source="graph_owners",
        renamed={"owner": "id"},
        condition=" WHERE data IS NOT NULL",
    ),
    TableCopy(
        "graph_nodes",
        _columns(
            "id collection owner key kind name uri line line_end signature doc language framework attributes"
        ),
    ),
    TableCopy(
        "graph_links",
        _columns(
            "id collection owner kind source target uri line confidence conditional ord attributes"
        ),
    ),
    TableCopy("graph_aliases", _columns("id collection owner folded name key kind uri")),
    TableCopy(
        "graph_unresolved",
        _columns("id collection owner kind source name receiver uri line reason"),
    ),
    TableCopy(
        "api_keys",
        _columns("id project name scopes digest created_at expires_at revoked_at"),
    ),
    TableCopy("project_plans", _columns("project name")),
    TableCopy("generations", _columns("project kind name value")),
    TableCopy(
        "collection_state",
        _columns(
            "collection synced_at follows_folder fingerprint root relative_root needs_vectors graph_seconds"
            " graph_remarks"
        ),
    ),
    TableCopy("unread_recipes", _columns("collection recipe")),
    TableCopy("unread_files", _columns("collection uri stamp reason failed")),
    TableCopy("session_state", _columns("collection next_turn version")),
    TableCopy("shown_passages", _columns("id project session mark")),
)


def write(database: PostgresDatabase, target: Path) -> Path:
    """Write a copy of one moment to a new file, verify it, and return its path."""
    with new_copy(target) as draft:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with (
            translated(str(target)),
            closing(sqlite3.connect(draft, isolation_level=None)) as copy,
            database.reading(None) as db,
        ):
            sqlite_schema.upgrade(copy)
            copy.execute("PRAGMA foreign_keys = OFF")
            copy.execute("BEGIN IMMEDIATE")
            for table in _COPIES:
                copy.executemany(table.insert, _rows(db, table))
            copy.execute(_SET_GENERATION)
            fts5.rebuild(copy)
            copy.execute("COMMIT")
    return target


def _rows(db: Transaction, table: TableCopy) -> Iterator[Row]:
    """Yield the rows of a table, a page at a time."""
    with db.paged(table.select, _PAGE) as rows:
        for row in rows:
            yield table.row(row)
