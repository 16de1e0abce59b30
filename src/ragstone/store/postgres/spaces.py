"""Embedding spaces: which collections use them, and how much of each collection has vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.store.catalog import CollectionIds
from ragstone.store.fetch import Row, fetch_value
from ragstone.store.postgres import catalog
from ragstone.store.postgres.connection import Transaction
from ragstone.store.vectors import SpaceStatements, load_space
from ragstone.types import Scope, SpaceInfo

STATEMENTS: Final = SpaceStatements(
    find="SELECT id FROM spaces WHERE project = %s AND fingerprint = %s AND storage = %s",
    active="SELECT space FROM collection_spaces WHERE collection = %s AND state = 'active'",
    state="SELECT state FROM collection_spaces WHERE collection = %s AND space = %s",
    storage_in_use="""
        SELECT s.storage FROM spaces s JOIN collection_spaces cs ON cs.space = s.id
        WHERE s.project = %s AND s.fingerprint = %s AND cs.state != 'retired'
        ORDER BY cs.collection = %s DESC, cs.state = 'active' DESC LIMIT 1""",
    storage_of_unused="""
        SELECT s.storage FROM spaces s JOIN vectors v ON v.space = s.id
        WHERE s.project = %s AND s.fingerprint = %s GROUP BY s.id ORDER BY count(*) DESC LIMIT 1""",
    add="""
        INSERT INTO spaces (project, fingerprint, spec, storage, epoch) VALUES (%s, %s, %s, %s, %s) RETURNING id""",
    attach="""
        INSERT INTO collection_spaces (project, collection, space, state) VALUES (%s, %s, %s, %s)
        ON CONFLICT (collection, space) DO UPDATE SET state = excluded.state
        WHERE collection_spaces.state != excluded.state""",
    retire_others="""
        UPDATE collection_spaces SET state = 'retired' WHERE collection = %s AND space != %s AND state = 'active'""",
)
_ONE: Final = """
    SELECT s.id, s.spec, s.storage, cs.state FROM spaces s JOIN collection_spaces cs ON cs.space = s.id
    WHERE s.id = %s AND cs.collection = %s"""
_IN_USE: Final = """
    SELECT s.id, s.spec, s.storage, CASE WHEN bool_or(cs.state = 'active') THEN 'active' ELSE 'building' END
    FROM collection_spaces cs JOIN spaces s ON s.id = cs.space
    WHERE cs.collection = ANY(%s) AND cs.state != 'retired' GROUP BY s.id ORDER BY s.id"""
_TEXTS: Final = "SELECT count(DISTINCT text_id) FROM chunks WHERE collection = ANY(%s)"
_EMBEDDED: Final = """
    SELECT count(*) FROM (SELECT DISTINCT text_id FROM chunks WHERE collection = ANY(%s)) held
    JOIN vectors v ON v.text_id = held.text_id AND v.space = %s"""


def space_of(db: Transaction, ids: CollectionIds, space_id: int) -> SpaceInfo:
    """Return one space of a collection with its coverage."""
    (row,) = db.execute(_ONE, (space_id, ids.collection)).fetchall()
    return _info(db, row, [ids.collection])


def spaces_in(db: Transaction, scope: Scope) -> list[SpaceInfo]:
    """Return the spaces that collections in scope use, each with its coverage of the scope."""
    collections = catalog.scope_ids(db, scope)
    rows = db.execute(_IN_USE, (collections,)).fetchall()
    return [_info(db, row, collections) for row in rows]


def _info(db: Transaction, row: Row, collections: Sequence[int]) -> SpaceInfo:
    number, spec, storage, state = row
    texts = fetch_value(db, _TEXTS, list(collections))
    embedded = fetch_value(db, _EMBEDDED, list(collections), number)
    return SpaceInfo(number, load_space(spec), storage, state, texts, embedded)
