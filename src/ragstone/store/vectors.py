"""Spaces and vectors: each vector belongs to one text and one space. Vectors of different spaces are never mixed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Final, NamedTuple

from ragstone.errors import NotFound, StaleSpace, StoreDamaged
from ragstone.protocols import VectorRows
from ragstone.store import catalog, filters
from ragstone.store.catalog import CollectionIds
from ragstone.store.codec import fresh_uuid, load
from ragstone.store.connection import Database, ReadSource
from ragstone.store.fetch import Executor, fetch_column, fetch_value, row_limit, storable_id
from ragstone.store.rows import check_widths, no_space, pending_texts
from ragstone.store.vector_rows import SqliteVectorRows
from ragstone.types import (
    DEFAULT_STORAGE,
    CollectionKey,
    Filter,
    PendingText,
    Scope,
    Space,
    SpaceInfo,
    SpaceState,
)
from ragstone.types.bounded_cache import BoundedCache

_PENDING: Final = """
    SELECT t.id, t.hash, CAST(t.body AS BLOB) FROM (
        SELECT DISTINCT c.text_id AS id FROM chunks c
        WHERE c.text_id > ? AND c.collection IN (SELECT value FROM json_each(?))
          AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = c.text_id AND v.space = ?)
        ORDER BY c.text_id LIMIT ?) missing
    CROSS JOIN texts t ON t.id = missing.id ORDER BY t.id"""
# One statement with all vectors in one blob takes a third of the time of one statement for each vector.
_PUT: Final = """
    INSERT INTO vectors (space, text_id, data) SELECT ?3, t.id, substr(?4, 1 + given.key * ?5, ?5)
    FROM json_each(?2) given CROSS JOIN texts t ON t.id = given.value AND t.project = ?1
    WHERE true ON CONFLICT (text_id, space) DO NOTHING"""
_HOLDERS: Final = """
    SELECT DISTINCT c.collection
    FROM json_each(?2) given CROSS JOIN texts t ON t.id = given.value AND t.project = ?1
    CROSS JOIN chunks c ON c.text_id = t.id"""
_USERS: Final = "SELECT collection FROM collection_spaces WHERE space = ?"
_REMOVE: Final = (
    "DELETE FROM vectors WHERE space = ? AND id IN (SELECT value FROM json_each(?))"
)
_FREE_WIDTHS: Final = """
    UPDATE spaces SET width = NULL
    WHERE width IS NOT NULL AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.space = spaces.id)"""
_IDS_IN: Final = """
    SELECT v.id FROM (
        SELECT DISTINCT text_id FROM chunks WHERE collection IN (SELECT value FROM json_each(?))) held
    CROSS JOIN vectors v ON v.text_id = held.text_id AND v.space = ? ORDER BY v.id"""
_IDS_FILTERED: Final = """
    SELECT DISTINCT v.id FROM documents d CROSS JOIN chunks c ON c.document = d.id
    CROSS JOIN vectors v ON v.text_id = c.text_id AND v.space = ?
    WHERE d.collection IN (SELECT value FROM json_each(?)) AND {where} ORDER BY v.id"""
_LOCATE: Final = """
    SELECT v.id, min(c.id) FROM json_each(?) wanted CROSS JOIN vectors v ON v.id = wanted.value AND v.space = ?
    CROSS JOIN chunks c ON c.text_id = v.text_id
    WHERE c.collection IN (SELECT value FROM json_each(?)) GROUP BY v.id"""
_LOCATE_FILTERED: Final = """
    SELECT v.id, min(c.id) FROM json_each(?) wanted CROSS JOIN vectors v ON v.id = wanted.value AND v.space = ?
    CROSS JOIN chunks c ON c.text_id = v.text_id CROSS JOIN documents d ON d.id = c.document
    WHERE c.collection IN (SELECT value FROM json_each(?)) AND {where} GROUP BY v.id"""
_OWNED_SPACE: Final = "SELECT 1 FROM spaces WHERE id = ? AND project = ?"
_REMEMBERED_SCOPES: Final = 64

SpacesCache = BoundedCache[Scope, tuple[int, list[SpaceInfo]]]


class SqliteVectorReader:
    """Implements `VectorReader` on a SQLite database or on a snapshot of it."""

    def __init__(self, source: ReadSource, cache: SpacesCache | None = None) -> None:
        """Take the source of connections; a snapshot shares the cache of its database."""
        self._source = source
        # Counting the coverage of a large scope takes longer than a search.
        self.cache: SpacesCache = BoundedCache(_REMEMBERED_SCOPES) if cache is None else cache

    def spaces(self, scope: Scope) -> list[SpaceInfo]:
        """Return the spaces that collections in scope use, each with its coverage of the scope."""
        with self._source.reading() as db:
            generation = catalog.generation(db, scope)
            cached = self.cache.get(scope)
            if cached is None or cached[0] != generation:
                cached = (generation, spaces_in(db, scope))
                self.cache[scope] = cached
            return list(cached[1])

    def pending(
        self, scope: Scope, space_id: int, *, after: int = 0, limit: int = 1000
    ) -> list[PendingText]:
        """Return texts in scope without a vector in the space, by text id; damaged texts are left out."""
        with self._source.reading() as db:
            if not _is_in_project(db, scope.project, space_id):
                return []
            collections = catalog.scope_ids(db, scope)
            texts: list[PendingText] = []
            while (missing := row_limit(limit) - len(texts)) > 0:
                parameters = (storable_id(after), collections, space_id, missing)
                rows = db.execute(_PENDING, parameters).fetchall()
                texts += pending_texts(rows)
                if len(rows) < missing:
                    break
                after = rows[-1][0]
            return texts

    def rows(self, project: str, space_id: int) -> VectorRows:
        """Return the stored vectors of a space. `NotFound` if the project has no such space."""
        return SqliteVectorRows(self._source, project, space_id)

    def ids_in(self, scope: Scope, space_id: int, *, filter: Filter | None = None) -> list[int]:
        """Return the row ids of all vectors whose text is in scope and passes the filter."""
        condition = filters.where(filter)
        with self._source.reading() as db:
            if not _is_in_project(db, scope.project, space_id):
                return []
            collections = catalog.scope_ids(db, scope)
            if filter is None:
                return fetch_column(db, _IDS_IN, collections, space_id)
            statement = _IDS_FILTERED.format(where=condition.sql)
            return fetch_column(db, statement, space_id, collections, *condition.parameters)

    def locate(
        self,
        scope: Scope,
        space_id: int,
        row_ids: Sequence[int],
        *,
        filter: Filter | None = None,
    ) -> dict[int, int]:
        """Return the first chunk in scope that has the text of each vector row and passes the filter."""
        condition = filters.where(filter)
        statement = _LOCATE
        if filter is not None:
            statement = _LOCATE_FILTERED.format(where=condition.sql)
        with self._source.reading() as db:
            if not _is_in_project(db, scope.project, space_id):
                return {}
            rows = catalog.id_list(row_ids)
            collections = catalog.scope_ids(db, scope)
            parameters = (rows, space_id, collections, *condition.parameters)
            return dict(db.execute(statement, parameters).fetchall())


class SqliteVectorStore(SqliteVectorReader):
    """Implements `VectorStore` on a SQLite database."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        super().__init__(database)
        self._database = database

    def ensure_space(
        self,
        key: CollectionKey,
        space: Space,
        *,
        storage: str | None = None,
        state: SpaceState = "active",
    ) -> SpaceInfo:
        """Return a space of the collection; create it if it is missing. `StaleSpace` if another space is active."""
        with catalog.changing(self._database, key) as (db, ids):
            number = ensure_space(db, _SPACES, ids, space, storage=storage, state=state)
            return space_of(db, ids, number)

    def activate_space(self, key: CollectionKey, space_id: int) -> None:
        """Let searches use this space, and retire the space that was active before."""
        with catalog.changing(self._database, key) as (db, ids):
            activate_space(db, _SPACES, ids, storable_id(space_id))

    def put(self, project: str, space_id: int, rows: Iterable[tuple[int, bytes]]) -> int:
        """Store (text id, encoded vector) rows and return how many were new; texts of other projects are left out."""
        vectors = list(
            rows
        )  # before the lock is acquired: an embedder may still be computing them
        text_ids = catalog.id_list(text_id for text_id, _ in vectors)
        data = b"".join(vector for _, vector in vectors)
        with self._database.writing() as db:
            width_before = _width(db, project, space_id)
            width = check_widths(vectors, width_before)
            texts = (catalog.project_id(db, project), text_ids)
            added = db.execute(_PUT, (*texts, space_id, data, width)).rowcount
            if added and width_before is None:
                db.execute("UPDATE spaces SET width = ? WHERE id = ?", (width, space_id))
            if added:
                catalog.mark_changed(db, fetch_column(db, _HOLDERS, *texts))
            return added

    def remove(self, project: str, space_id: int, row_ids: Sequence[int] | None = None) -> int:
        """Remove vectors of a space, or all of them if `row_ids` is None; return how many were removed."""
        with self._database.writing() as db:
            if not _is_in_project(db, project, space_id):
                raise no_space(project, space_id)
            if row_ids is None:
                removed = db.execute(
                    "DELETE FROM vectors WHERE space = ?", (space_id,)
                ).rowcount
            else:
                removed = db.execute(_REMOVE, (space_id, catalog.id_list(row_ids))).rowcount
            if removed:
                db.execute("UPDATE spaces SET epoch = ? WHERE id = ?", (fresh_uuid(), space_id))
                free_widths(db)
                catalog.mark_changed(db, fetch_column(db, _USERS, space_id))
            return removed


def free_widths(db: sqlite3.Connection) -> None:
    """Forget the vector length of spaces without vectors, so that the next vectors set it."""
    db.execute(_FREE_WIDTHS)


def _width(db: sqlite3.Connection, project: str, space_id: int) -> int | None:
    """Return the length of the vectors in a space, None if it has none. `NotFound` if there is no such space."""
    if not _is_in_project(db, project, space_id):
        raise no_space(project, space_id)
    width: int | None = fetch_value(db, "SELECT width FROM spaces WHERE id = ?", space_id)
    return width


def _is_in_project(db: sqlite3.Connection, project: str, space_id: int) -> bool:
    owner = catalog.project_id(db, project)
    return fetch_value(db, _OWNED_SPACE, storable_id(space_id), owner) is not None


class SpaceStatements(NamedTuple):
    """The statements of a store for its embedding spaces."""

    find: str
    active: str
    state: str
    storage_in_use: str
    storage_of_unused: str
    add: str
    """Returns the id of the new space."""
    attach: str
    """Takes the ids of project, collection and space, and the state."""
    retire_others: str


OTHER_MODEL: Final = "the collection's vectors were made by another model or setting"
REEMBED: Final = (
    "go back to it, or run `ragstone reembed` to build the new vectors beside the old ones"
)
_SPACES: Final = SpaceStatements(
    find="SELECT id FROM spaces WHERE project = ? AND fingerprint = ? AND storage = ?",
    active="SELECT space FROM collection_spaces WHERE collection = ? AND state = 'active'",
    state="SELECT state FROM collection_spaces WHERE collection = ? AND space = ?",
    storage_in_use="""
        SELECT s.storage FROM spaces s JOIN collection_spaces cs ON cs.space = s.id
        WHERE s.project = ? AND s.fingerprint = ? AND cs.state != 'retired'
        ORDER BY cs.collection = ? DESC, cs.state = 'active' DESC LIMIT 1""",
    storage_of_unused="""
        SELECT s.storage FROM spaces s CROSS JOIN vectors v ON v.space = s.id
        WHERE s.project = ? AND s.fingerprint = ? GROUP BY s.id ORDER BY count(*) DESC LIMIT 1""",
    add="""
        INSERT INTO spaces (project, fingerprint, spec, storage, epoch) VALUES (?, ?, ?, ?, ?) RETURNING id""",
    attach="""
        INSERT INTO collection_spaces (collection, space, state) VALUES (?2, ?3, ?4)
        ON CONFLICT (collection, space) DO UPDATE SET state = excluded.state WHERE state != excluded.state""",
    retire_others="""
        UPDATE collection_spaces SET state = 'retired' WHERE collection = ? AND space != ? AND state = 'active'""",
)
_ONE: Final = """
    SELECT s.id, s.spec, s.storage, cs.state FROM spaces s JOIN collection_spaces cs ON cs.space = s.id
    WHERE s.id = ? AND cs.collection = ?"""
_IN_USE: Final = """
    SELECT s.id, s.spec, s.storage, CASE WHEN max(cs.state = 'active') THEN 'active' ELSE 'building' END
    FROM collection_spaces cs JOIN spaces s ON s.id = cs.space
    WHERE cs.collection IN (SELECT value FROM json_each(?)) AND cs.state != 'retired' GROUP BY s.id ORDER BY s.id"""
_TEXTS: Final = """
    SELECT count(*) FROM (
        SELECT DISTINCT text_id FROM chunks WHERE collection IN (SELECT value FROM json_each(?)))"""
_EMBEDDED: Final = """
    SELECT count(*) FROM (
        SELECT DISTINCT text_id FROM chunks WHERE collection IN (SELECT value FROM json_each(?))) held
    CROSS JOIN vectors v ON v.text_id = held.text_id AND v.space = ?"""


def ensure_space(
    db: Executor,
    statements: SpaceStatements,
    ids: CollectionIds,
    space: Space,
    *,
    storage: str | None,
    state: SpaceState,
) -> int:
    """Return the id of a collection's space; create it if it is missing. `StaleSpace` if another space is active."""
    storage = storage or _existing_storage(db, statements, ids, space)
    key = (ids.project, space.fingerprint, storage)
    number: int | None = fetch_value(db, statements.find, *key)
    active: int | None = fetch_value(db, statements.active, ids.collection)
    if state == "active" and active not in (None, number):
        raise StaleSpace(OTHER_MODEL, hint=REEMBED)
    if number is None:
        spec = json.dumps(asdict(space))
        fields = (ids.project, space.fingerprint, spec, storage, fresh_uuid())
        number = int(fetch_value(db, statements.add, *fields))
    if number != active:
        db.execute(statements.attach, (ids.project, ids.collection, number, state))
    return number


def _existing_storage(
    db: Executor, statements: SpaceStatements, ids: CollectionIds, space: Space
) -> str:
    """Return the storage of existing vectors of a space, so that they can be used; else the default."""
    key = (ids.project, space.fingerprint)
    in_use = fetch_value(db, statements.storage_in_use, *key, ids.collection)
    # After a change of model or a drop, a space that no collection uses may still have vectors of these texts.
    return in_use or fetch_value(db, statements.storage_of_unused, *key) or DEFAULT_STORAGE


def activate_space(
    db: Executor, statements: SpaceStatements, ids: CollectionIds, space_id: int
) -> None:
    """Make a space the active one of a collection, and retire the one that was active before."""
    if fetch_value(db, statements.state, ids.collection, space_id) is None:
        raise NotFound(f"the collection has no space {space_id}", hint="make it first")
    db.execute(statements.retire_others, (ids.collection, space_id))
    db.execute(statements.attach, (ids.project, ids.collection, space_id, "active"))


def space_of(db: sqlite3.Connection, ids: CollectionIds, space_id: int) -> SpaceInfo:
    """Return one space of a collection with its coverage."""
    row = db.execute(_ONE, (space_id, ids.collection)).fetchone()
    return _info(db, row, catalog.id_list([ids.collection]))


def spaces_in(db: sqlite3.Connection, scope: Scope) -> list[SpaceInfo]:
    """Return the spaces that collections in scope use, each with its coverage of the scope."""
    collections = catalog.scope_ids(db, scope)
    rows = db.execute(_IN_USE, (collections,)).fetchall()
    return [_info(db, row, collections) for row in rows]


def _info(
    db: sqlite3.Connection, row: tuple[int, str, str, SpaceState], collections: str
) -> SpaceInfo:
    number, spec, storage, state = row
    texts = fetch_value(db, _TEXTS, collections)
    embedded = fetch_value(db, _EMBEDDED, collections, number)
    return SpaceInfo(number, load_space(spec), storage, state, texts, embedded)


def load_space(spec: str) -> Space:
    """Return the space of a stored description."""
    try:
        return Space(**load(spec))
    except TypeError as error:
        raise StoreDamaged(
            "the store is damaged: a space that cannot be read", hint="restore a backup"
        ) from error
