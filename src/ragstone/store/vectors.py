"""Vectors: each belongs to one text and one space. Vectors of different spaces are never mixed."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.protocols import VectorRows
from ragstone.store import catalog, filters, spaces
from ragstone.store.codec import fresh_uuid
from ragstone.store.connection import Database, ReadSource
from ragstone.store.fetch import Row, fetch_column, fetch_value, row_limit, storable_id
from ragstone.store.rows import check_widths, no_space, pending_texts
from ragstone.types import (
    CollectionKey,
    Filter,
    PendingText,
    Scope,
    Space,
    SpaceInfo,
    SpaceState,
    VectorRow,
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
_VERSION: Final = """
    SELECT s.epoch, (SELECT value FROM meta WHERE key = 'generation')
    FROM spaces s JOIN projects p ON p.id = s.project WHERE s.id = ? AND p.name = ?"""
_AFTER: Final = (
    "SELECT id, text_id, data FROM vectors WHERE space = ? AND id > ? ORDER BY id LIMIT ?"
)
_BY_ID: Final = """
    SELECT v.id, v.text_id, v.data FROM json_each(?) wanted CROSS JOIN vectors v ON v.id = wanted.value
    WHERE v.space = ?"""
_BY_TEXT: Final = """
    SELECT v.id, v.text_id, v.data FROM json_each(?) wanted CROSS JOIN vectors v ON v.text_id = wanted.value
    WHERE v.space = ?"""
_BY_CHUNK: Final = """
    SELECT c.id, v.data FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value
    CROSS JOIN vectors v ON v.text_id = c.text_id AND v.space = ?"""
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
                cached = (generation, spaces.spaces_in(db, scope))
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
            number = spaces.ensure_space(db, ids, space, storage=storage, state=state)
            return spaces.space_of(db, ids, number)

    def activate_space(self, key: CollectionKey, space_id: int) -> None:
        """Let searches use this space, and retire the space that was active before."""
        with catalog.changing(self._database, key) as (db, ids):
            spaces.activate_space(db, ids, storable_id(space_id))

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


@dataclass(frozen=True, slots=True)
class VectorStatements:
    """The statements that read the vectors of a space, in the SQL of one store."""

    version: str
    count: str
    ids_after: str
    after: str
    by_id: str
    by_text: str
    by_chunk: str


class StoredVectorRows(ABC):
    """Implements `VectorRows` for one space, page by page. A store adds its statements and its connections."""

    statements: VectorStatements

    def __init__(self, project: str, space_id: int) -> None:
        """Take the project and the space; `NotFound` if the project has no such space."""
        self._space = space_id
        self._project = project
        if not self.epoch:
            raise no_space(project, space_id)

    @property
    def epoch(self) -> str:
        """Return a value that changes when rows were deleted or rewritten, by any process."""
        return self.version()[0]

    def version(self) -> tuple[str, int]:
        """Return the epoch, and a number that changes with every commit that may have added rows."""
        for epoch, generation in self._fetch(
            self.statements.version, self._space, self._project
        ):
            return epoch, generation
        return "", 0

    def count(self) -> int:
        """Return the number of rows."""
        ((count,),) = self._fetch(self.statements.count, self._space)
        return int(count)

    def ids_after(self, row_id: int) -> list[int]:
        """Return all row ids larger than this one, ascending."""
        rows = self._fetch(self.statements.ids_after, self._space, storable_id(row_id))
        return [number for (number,) in rows]

    def after(self, row_id: int, limit: int) -> list[VectorRow]:
        """Return rows with a larger id, in order of id."""
        page = (storable_id(row_id), row_limit(limit))
        rows = self._fetch(self.statements.after, self._space, *page)
        return [VectorRow(*row) for row in rows]

    def by_id(self, ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows with these ids; missing ids are left out."""
        rows = self._fetch(self.statements.by_id, self._id_list(ids), self._space)
        return [VectorRow(*row) for row in rows]

    def data(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the rows with these ids; missing ids are left out."""
        rows = self._fetch(self.statements.by_id, self._id_list(ids), self._space)
        return {number: data for number, _, data in rows}

    def by_text(self, text_ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows of these texts; texts without a vector are left out."""
        rows = self._fetch(self.statements.by_text, self._id_list(text_ids), self._space)
        return [VectorRow(*row) for row in rows]

    def by_chunk(self, chunk_ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the texts of these chunks, in their order; those without a vector are left out."""
        rows = self._fetch(self.statements.by_chunk, self._id_list(chunk_ids), self._space)
        data: dict[int, bytes] = dict(rows)
        return {number: data[number] for number in chunk_ids if number in data}

    @abstractmethod
    def _fetch(self, statement: str, *parameters: object) -> list[Row]:
        """Return the rows of a statement."""

    @abstractmethod
    def _id_list(self, ids: Sequence[int]) -> object:
        """Return ids as a parameter of a statement."""


class SqliteVectorRows(StoredVectorRows):
    """The vectors of one space in a SQLite database."""

    statements = VectorStatements(
        version=_VERSION,
        count="SELECT count(*) FROM vectors WHERE space = ?",
        ids_after="SELECT id FROM vectors WHERE space = ? AND id > ? ORDER BY id",
        after=_AFTER,
        by_id=_BY_ID,
        by_text=_BY_TEXT,
        by_chunk=_BY_CHUNK,
    )

    def __init__(self, source: ReadSource, project: str, space_id: int) -> None:
        """Take the source of connections; `NotFound` if the project has no such space."""
        self._source = source
        super().__init__(project, storable_id(space_id))

    def _fetch(self, statement: str, *parameters: object) -> list[Row]:
        with self._source.reading() as db:
            return db.execute(statement, parameters).fetchall()

    def _id_list(self, ids: Sequence[int]) -> str:
        return catalog.id_list(ids)


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
