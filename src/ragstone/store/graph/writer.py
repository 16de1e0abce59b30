"""Writes the graphs of owners: only rows that differ from the stored ones are written."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.store.catalog import CollectionIds
from ragstone.store.codec import pack, unpack
from ragstone.store.graph.rows import ALIASES, LINKS, NODES, UNRESOLVED, GraphTable, Row, graph_rows
from ragstone.types import Graph

_OWNERS: Final = "SELECT owner, id, stamp FROM graph_owners WHERE collection = ?"
_ONE_OWNER: Final = _OWNERS + " AND owner = ?"
_ADD_OWNER: Final = "INSERT INTO graph_owners (collection, owner, stamp) VALUES (?, ?, ?)"
_SET_STAMP: Final = "UPDATE graph_owners SET stamp = ? WHERE id = ? AND stamp != ?"
_SET_DATA: Final = """
    INSERT INTO graph_kept (owner, data) VALUES (?1, ?2)
    ON CONFLICT (owner) DO UPDATE SET data = excluded.data WHERE data != excluded.data"""
_DATA: Final = """
    SELECT o.owner, k.data FROM graph_owners o JOIN graph_kept k ON k.owner = o.id WHERE o.collection = ?"""
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


def put_graphs(
    db: sqlite3.Connection,
    ids: CollectionIds,
    parts: Mapping[str, Graph],
    stamps: Mapping[str, str],
    data: Mapping[str, bytes],
) -> dict[str, int]:
    """Replace the graph of each owner; return how many rows of each table changed, and nodes also by `kind:…`."""
    changed = Counter({table.name: 0 for table in (NODES, LINKS, ALIASES, UNRESOLVED)})
    owners = {unpack(owner): number for owner, number, _ in db.execute(_OWNERS, (ids.collection,))}
    for owner, graph in parts.items():
        rows = graph_rows(graph)
        is_empty = owner not in stamps and not any(rows.values())
        number = owners.get(owner)
        if number is None and is_empty:
            continue
        stamp = pack(stamps.get(owner, ""))
        if number is None:
            number = db.execute(_ADD_OWNER, (ids.collection, pack(owner), stamp)).lastrowid or 0
        db.execute(_SET_STAMP, (stamp, number, stamp))
        for table, new_rows in rows.items():
            differing = _replace_rows(db, table, (ids.collection, number), new_rows)
            changed.update(_count_changes(table, differing))
        if owner in data:
            db.execute(_SET_DATA, (number, data[owner]))
        if is_empty:
            db.execute("DELETE FROM graph_owners WHERE id = ?", (number,))
    return dict(changed)


def _replace_rows(
    db: sqlite3.Connection, table: GraphTable, owner: tuple[int, int], new_rows: Sequence[Row]
) -> list[Row]:
    """Make the rows of an owner be these, and return the rows that were removed or added."""
    stored = {tuple(columns): number for *columns, number in db.execute(table.find, owner[1:])}
    added = [row for row in new_rows if row not in stored]
    removed = stored.keys() - set(new_rows)
    db.executemany(table.remove, [(stored[row],) for row in removed])
    db.executemany(table.add, [row + owner for row in added])
    return [*removed, *added]


def _count_changes(table: GraphTable, rows: Sequence[Row]) -> dict[str, int]:
    """Return how many rows changed; a node counts once, whatever changed in it, and also under its kind."""
    if table is not NODES:
        return {table.name: len(rows)}
    kinds = {key: unpack(kind) for key, kind, *_ in rows}
    by_kind = Counter(f"kind:{kind}" for kind in kinds.values())
    return {table.name: len(kinds), **by_kind}


def owner_stamps(
    db: sqlite3.Connection, ids: CollectionIds, owners: Sequence[str] | None = None
) -> dict[str, str]:
    """Return the stamp of each owner of a collection, or of some owners."""
    if owners is None:
        rows = db.execute(_OWNERS, (ids.collection,)).fetchall()
    else:
        rows = []
        for owner in owners:
            rows += db.execute(_ONE_OWNER, (ids.collection, pack(owner)))
    return {unpack(owner): unpack(stamp) for owner, _, stamp in rows}


def owner_data(db: sqlite3.Connection, ids: CollectionIds) -> dict[str, bytes]:
    """Return the data that each owner of a collection asked to keep."""
    return {unpack(owner): data for owner, data in db.execute(_DATA, (ids.collection,))}


def find_problem(db: sqlite3.Connection) -> str:
    """Return a message if rows have no owner or cannot be read. A link to a missing node is no problem."""
    stray = db.execute(_STRAY).fetchone()[0]
    unreadable = db.execute(_UNREADABLE).fetchone()[0]
    return f"{stray} rows have no owner, {unreadable} cannot be read" if stray or unreadable else ""
