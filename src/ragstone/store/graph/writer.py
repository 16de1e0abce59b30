"""Writes the graphs of owners: only rows that differ from the stored ones are written."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from ragstone import types
from ragstone.store import catalog
from ragstone.store.codec import pack, unpack
from ragstone.store.connection import Database
from ragstone.store.fetch import Row, fetch_value
from ragstone.store.graph.reader import SqliteGraphReader
from ragstone.store.graph.rows import NODES, TABLES, GraphTable, graph_rows
from ragstone.types import CollectionKey

_OWNERS: Final = "SELECT owner, id FROM graph_owners WHERE collection = ?"
_REMOVE_OWNER: Final = "DELETE FROM graph_owners WHERE id = ?"
_ADD_OWNER: Final = "INSERT INTO graph_owners (collection, owner, stamp) VALUES (?, ?, ?)"
_SET_STAMP: Final = "UPDATE graph_owners SET stamp = ? WHERE id = ? AND stamp != ?"
_SET_DATA: Final = """
    INSERT INTO graph_kept (owner, data) VALUES (?1, ?2)
    ON CONFLICT (owner) DO UPDATE SET data = excluded.data WHERE data != excluded.data"""
# Rows in another collection than their owner, and rows that cannot be read.
_STRAY: Final = """
    SELECT count(*) FROM (
        SELECT owner, collection FROM graph_nodes UNION ALL SELECT owner, collection FROM graph_links
        UNION ALL SELECT owner, collection FROM graph_aliases UNION ALL SELECT owner, collection FROM graph_unresolved
    ) r LEFT JOIN graph_owners o ON o.id = r.owner WHERE o.collection IS NOT r.collection"""
_UNREADABLE: Final = """
    SELECT (SELECT count(*) FROM graph_nodes WHERE NOT json_valid(attributes))
         + (SELECT count(*) FROM graph_links WHERE NOT json_valid(attributes)
            OR confidence NOT IN ('runtime', 'evaluated', 'declared', 'convention', 'heuristic'))"""


class SqliteGraphStore(SqliteGraphReader):
    """Implements `GraphStore` on a SQLite database."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        super().__init__(database)
        self._database = database

    def put(
        self,
        key: CollectionKey,
        parts: Mapping[str, types.Graph],
        *,
        stamps: Mapping[str, str] | None = None,
        data: Mapping[str, bytes] | None = None,
    ) -> dict[str, int]:
        """Replace the graph of each owner in `parts`; return how many rows changed, and nodes also by `kind:…`."""
        with catalog.changing(self._database, key) as (db, ids):
            return _GraphPut(db, ids.collection).run(parts, stamps or {}, data or {})


class _GraphPut:
    """Replaces the graphs of owners in one collection, inside the transaction of the caller."""

    def __init__(self, db: sqlite3.Connection, collection: int) -> None:
        self._db = db
        self._collection = collection
        self._changed = Counter({table.name: 0 for table in TABLES})
        rows = db.execute(_OWNERS, (collection,))
        self._owner_ids = {unpack(owner): number for owner, number in rows}

    def run(
        self,
        parts: Mapping[str, types.Graph],
        stamps: Mapping[str, str],
        data: Mapping[str, bytes],
    ) -> dict[str, int]:
        """Replace the graph of each owner; return how many rows of each table changed, and nodes also by `kind:…`."""
        for owner, graph in parts.items():
            rows = graph_rows(graph)
            if owner in stamps or any(rows.values()):
                self._replace(owner, rows, stamps.get(owner, ""))
                if owner in data:
                    self._db.execute(_SET_DATA, (self._owner_ids[owner], data[owner]))
            elif owner in self._owner_ids:
                self._remove(owner)
        return dict(self._changed)

    def _replace(
        self, owner: str, rows: Mapping[GraphTable, Sequence[Row]], stamp: str
    ) -> None:
        packed = pack(stamp)
        number = self._owner_ids.get(owner)
        if number is None:
            cursor = self._db.execute(_ADD_OWNER, (self._collection, pack(owner), packed))
            number = self._owner_ids[owner] = cursor.lastrowid or 0
        else:
            self._db.execute(_SET_STAMP, (packed, number, packed))
        for table, new_rows in rows.items():
            self._replace_rows(table, number, new_rows)

    def _remove(self, owner: str) -> None:
        number = self._owner_ids.pop(owner)
        for table in TABLES:
            self._replace_rows(table, number, ())
        self._db.execute(_REMOVE_OWNER, (number,))

    def _replace_rows(self, table: GraphTable, owner: int, new_rows: Sequence[Row]) -> None:
        """Make the rows of an owner be these, and count the rows that were removed or added."""
        cursor = self._db.execute(table.find, (owner,))
        stored = {tuple(columns): number for *columns, number in cursor}
        added = [row for row in new_rows if row not in stored]
        removed = stored.keys() - set(new_rows)
        removed_ids = [(stored[row],) for row in removed]
        self._db.executemany(table.remove, removed_ids)
        self._db.executemany(table.add, [(*row, self._collection, owner) for row in added])
        self._changed.update(count_changes(table, [*removed, *added]))


def count_changes(table: GraphTable, rows: Sequence[Row]) -> dict[str, int]:
    """Return how many rows changed; a node counts once, whatever changed in it, and also under its kind."""
    if table is not NODES:
        return {table.name: len(rows)}
    kinds = {key: unpack(kind) for key, kind, *_ in rows}
    by_kind = Counter(f"kind:{kind}" for kind in kinds.values())
    return {table.name: len(kinds), **by_kind}


def find_problem(db: sqlite3.Connection) -> str:
    """Return a message if rows have no owner or cannot be read. A link to a missing node is no problem."""
    stray = fetch_value(db, _STRAY)
    unreadable = fetch_value(db, _UNREADABLE)
    if not stray and not unreadable:
        return ""
    return f"{stray} rows have no owner, {unreadable} cannot be read"
