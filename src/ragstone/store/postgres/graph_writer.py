"""Writes the graphs of owners to PostgreSQL: only rows that differ from the stored ones are written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from ragstone import types
from ragstone.store.catalog import CollectionIds
from ragstone.store.codec import unpack
from ragstone.store.fetch import Row, fetch_value
from ragstone.store.graph.rows import TABLES, GraphTable, graph_rows
from ragstone.store.graph.writer import count_changes
from ragstone.store.postgres import catalog
from ragstone.store.postgres.connection import PostgresDatabase, Transaction
from ragstone.store.postgres.graph_reader import PostgresGraphReader
from ragstone.types import CollectionKey

_OWNERS: Final = (
    "SELECT owner, id FROM graph_owners WHERE collection = %s AND owner = ANY(%s::text[])"
)
_REMOVE_OWNERS: Final = "DELETE FROM graph_owners WHERE id = ANY(%s)"
_ADD_OWNER: Final = """
    INSERT INTO graph_owners (project, collection, owner, stamp) VALUES (%s, %s, %s, %s) RETURNING id"""
_SET_STAMP: Final = "UPDATE graph_owners SET stamp = %s WHERE id = %s AND stamp != %s"
_SET_DATA: Final = (
    "UPDATE graph_owners SET data = %s WHERE id = %s AND data IS DISTINCT FROM %s"
)
_FIND: Final = "SELECT owner, {columns}, id FROM graph_{table} WHERE owner = ANY(%s)"
_ADD: Final = (
    "INSERT INTO graph_{table} ({columns}, project, collection, owner) VALUES ({values})"
)
_REMOVE: Final = "DELETE FROM graph_{table} WHERE id = ANY(%s)"


class PostgresGraphStore(PostgresGraphReader):
    """Implements `GraphStore` on the database."""

    def __init__(self, database: PostgresDatabase) -> None:
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
            return _GraphPut(db, ids).run(parts, stamps or {}, data or {})


class _GraphPut:
    """Replaces the graphs of owners in one collection, inside the transaction of the caller."""

    def __init__(self, db: Transaction, ids: CollectionIds) -> None:
        self._db = db
        self._ids = ids
        self._changed = Counter({table.name: 0 for table in TABLES})
        self._owner_ids: dict[str, int] = {}

    def run(
        self,
        parts: Mapping[str, types.Graph],
        stamps: Mapping[str, str],
        data: Mapping[str, bytes],
    ) -> dict[str, int]:
        """Replace the graph of each owner; return how many rows of each table changed, and nodes also by `kind:…`."""
        rows_by_owner = {owner: graph_rows(graph) for owner, graph in parts.items()}
        self._owner_ids = dict(
            self._db.execute(_OWNERS, (self._ids.collection, list(parts))).fetchall()
        )
        filled = {owner for owner, rows in rows_by_owner.items() if any(rows.values())}
        kept = filled | (parts.keys() & stamps.keys())
        for owner in kept:
            self._write_owner(owner, stamps.get(owner, ""), data)
        for table in TABLES:
            new_rows = {owner: rows[table] for owner, rows in rows_by_owner.items()}
            self._replace_rows(table, new_rows)
        removed = [number for owner, number in self._owner_ids.items() if owner not in kept]
        if removed:
            self._db.execute(_REMOVE_OWNERS, (removed,))
        return dict(self._changed)

    def _write_owner(self, owner: str, stamp: str, data: Mapping[str, bytes]) -> None:
        number = self._owner_ids.get(owner)
        if number is None:
            fields = (self._ids.project, self._ids.collection, owner, stamp)
            number = self._owner_ids[owner] = fetch_value(self._db, _ADD_OWNER, *fields)
        else:
            self._db.execute(_SET_STAMP, (stamp, number, stamp))
        if owner in data:
            self._db.execute(_SET_DATA, (data[owner], number, data[owner]))

    def _replace_rows(self, table: GraphTable, new_rows: Mapping[str, Sequence[Row]]) -> None:
        """Make the rows of each owner be these, and count the rows that were removed or added."""
        stored: defaultdict[int, dict[Row, int]] = defaultdict(dict)
        columns = ", ".join(table.columns)
        statement = _FIND.format(columns=columns, table=table.name)
        numbers = list(self._owner_ids.values())
        for owner, *fields, number in self._db.execute(statement, (numbers,)):
            stored[owner][tuple(fields)] = number
        added: list[Row] = []
        removed_ids: list[int] = []
        for owner, rows in new_rows.items():
            if owner not in self._owner_ids:
                continue
            owner_id = self._owner_ids[owner]
            plain_rows = [_plain(row) for row in rows]
            before = stored[owner_id]
            new = [row for row in plain_rows if row not in before]
            removed = before.keys() - set(plain_rows)
            removed_ids += [before[row] for row in removed]
            ids = (self._ids.project, self._ids.collection, owner_id)
            added += [(*row, *ids) for row in new]
            self._changed.update(count_changes(table, [*removed, *new]))
        if removed_ids:
            self._db.execute(_REMOVE.format(table=table.name), (removed_ids,))
        values = ", ".join(["%s"] * (len(table.columns) + 3))
        self._db.executemany(
            _ADD.format(table=table.name, columns=columns, values=values), added
        )


def _plain(row: Row) -> Row:
    """Return a row with texts in place of the bytes that SQLite stores for lone surrogates."""
    return tuple(unpack(value) if isinstance(value, bytes) else value for value in row)
