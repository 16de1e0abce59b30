"""Embedding spaces: which collections use them, and how much of each collection has vectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from ragstone.errors import NotFound, StaleSpace
from ragstone.store.catalog import CollectionIds
from ragstone.store.codec import fresh_uuid
from ragstone.store.fetch import Row, fetch_value
from ragstone.store.postgres import catalog
from ragstone.store.postgres.connection import Transaction
from ragstone.store.vectors import OTHER_MODEL, REEMBED, load_space
from ragstone.types import DEFAULT_STORAGE, Scope, Space, SpaceInfo, SpaceState

_FIND_SPACE: Final = (
    "SELECT id FROM spaces WHERE project = %s AND fingerprint = %s AND storage = %s"
)
_STORAGE_IN_USE: Final = """
    SELECT s.storage FROM spaces s JOIN collection_spaces cs ON cs.space = s.id
    WHERE s.project = %s AND s.fingerprint = %s AND cs.state != 'retired'
    ORDER BY cs.collection = %s DESC, cs.state = 'active' DESC LIMIT 1"""
_STORAGE_OF_UNUSED: Final = """
    SELECT s.storage FROM spaces s JOIN vectors v ON v.space = s.id
    WHERE s.project = %s AND s.fingerprint = %s GROUP BY s.id ORDER BY count(*) DESC LIMIT 1"""
_ADD_SPACE: Final = """
    INSERT INTO spaces (project, fingerprint, spec, storage, epoch) VALUES (%s, %s, %s, %s, %s) RETURNING id"""
_ATTACH: Final = """
    INSERT INTO collection_spaces (project, collection, space, state) VALUES (%s, %s, %s, %s)
    ON CONFLICT (collection, space) DO UPDATE SET state = excluded.state
    WHERE collection_spaces.state != excluded.state"""
_RETIRE_OTHERS: Final = """
    UPDATE collection_spaces SET state = 'retired' WHERE collection = %s AND space != %s AND state = 'active'"""
_ACTIVE_SPACE: Final = (
    "SELECT space FROM collection_spaces WHERE collection = %s AND state = 'active'"
)
_STATE: Final = "SELECT state FROM collection_spaces WHERE collection = %s AND space = %s"
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


def ensure_space(
    db: Transaction,
    ids: CollectionIds,
    space: Space,
    *,
    storage: str | None,
    state: SpaceState,
) -> int:
    """Return the id of a collection's space; create it if it is missing. `StaleSpace` if another space is active."""
    storage = storage or _existing_storage(db, ids, space)
    number: int | None = fetch_value(db, _FIND_SPACE, ids.project, space.fingerprint, storage)
    active: int | None = fetch_value(db, _ACTIVE_SPACE, ids.collection)
    if state == "active" and active not in (None, number):
        raise StaleSpace(OTHER_MODEL, hint=REEMBED)
    if number is None:
        spec = json.dumps(asdict(space))
        fields = (ids.project, space.fingerprint, spec, storage, fresh_uuid())
        number = int(fetch_value(db, _ADD_SPACE, *fields))
    if number != active:
        db.execute(_ATTACH, (ids.project, ids.collection, number, state))
    return number


def _existing_storage(db: Transaction, ids: CollectionIds, space: Space) -> str:
    """Return the storage of existing vectors of a space, so that they can be used; else the default."""
    fingerprint = space.fingerprint
    in_use = fetch_value(db, _STORAGE_IN_USE, ids.project, fingerprint, ids.collection)
    # After a change of model or a drop, a space that no collection uses may still have vectors of these texts.
    return (
        in_use
        or fetch_value(db, _STORAGE_OF_UNUSED, ids.project, fingerprint)
        or DEFAULT_STORAGE
    )


def activate_space(db: Transaction, ids: CollectionIds, space_id: int) -> None:
    """Make a space the active one of a collection, and retire the one that was active before."""
    if fetch_value(db, _STATE, ids.collection, space_id) is None:
        raise NotFound(f"the collection has no space {space_id}", hint="make it first")
    db.execute(_RETIRE_OTHERS, (ids.collection, space_id))
    db.execute(_ATTACH, (ids.project, ids.collection, space_id, "active"))


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
