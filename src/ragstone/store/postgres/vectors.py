"""Vectors in PostgreSQL: each belongs to one text and one space. Vectors of different spaces are never mixed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ragstone.protocols import VectorRows
from ragstone.store.codec import fresh_uuid
from ragstone.store.fetch import Row, fetch_column, fetch_value, row_limit, storable_id
from ragstone.store.postgres import catalog, filters, spaces
from ragstone.store.postgres.catalog import id_list
from ragstone.store.postgres.connection import PostgresDatabase, Transaction, TransactionSource
from ragstone.store.postgres.embeddings import EmbeddingTable
from ragstone.store.postgres.filters import FilterCache
from ragstone.store.rows import check_widths, no_space, pending_texts
from ragstone.store.vector_rows import StoredVectorRows, VectorStatements
from ragstone.store.vectors import SpacesCache, activate_space, ensure_space
from ragstone.types import (
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
    SELECT t.id, t.hash, t.body FROM (
        SELECT DISTINCT c.text_id AS id FROM chunks c
        WHERE c.text_id > %s AND c.collection = ANY(%s)
          AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = c.text_id AND v.space = %s)
        ORDER BY 1 LIMIT %s) missing
    JOIN texts t ON t.id = missing.id ORDER BY t.id"""
_PUT: Final = """
    INSERT INTO vectors (project, space, text_id, data)
    SELECT t.project, %(space)s, t.id, given.data
    FROM unnest(%(texts)s::bigint[], %(data)s::bytea[]) WITH ORDINALITY AS given (text_id, data, place)
    JOIN texts t ON t.id = given.text_id AND t.project = %(project)s
    ORDER BY given.place ON CONFLICT (text_id, space) DO NOTHING"""
_HOLDERS: Final = """
    SELECT DISTINCT c.collection FROM texts t JOIN chunks c ON c.text_id = t.id
    WHERE t.id = ANY(%s) AND t.project = %s"""
_USERS: Final = "SELECT collection FROM collection_spaces WHERE space = %s"
_REMOVE: Final = "DELETE FROM vectors WHERE space = %s AND id = ANY(%s)"
_REMOVE_ALL: Final = "DELETE FROM vectors WHERE space = %s"
_FREE_WIDTHS: Final = """
    UPDATE spaces SET width = NULL
    WHERE width IS NOT NULL AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.space = spaces.id)"""
_IDS_IN: Final = """
    SELECT v.id FROM (SELECT DISTINCT text_id FROM chunks WHERE collection = ANY(%s)) held
    JOIN vectors v ON v.text_id = held.text_id AND v.space = %s ORDER BY v.id"""
_IDS_FILTERED: Final = """
    SELECT DISTINCT v.id FROM chunks c JOIN vectors v ON v.text_id = c.text_id AND v.space = %s
    WHERE c.document = ANY(%s) ORDER BY v.id"""
_LOCATE: Final = """
    SELECT v.id, min(c.id) FROM vectors v JOIN chunks c ON c.text_id = v.text_id
    WHERE v.id = ANY(%(rows)s) AND v.space = %(space)s AND c.collection = ANY(%(collections)s) {condition}
    GROUP BY v.id"""
_IN_DOCUMENTS: Final = "AND c.document = ANY(%(documents)s)"
_VERSION: Final = """
    SELECT s.epoch, p.generation FROM spaces s JOIN projects p ON p.id = s.project WHERE s.id = %s AND p.name = %s"""
_AFTER: Final = (
    "SELECT id, text_id, data FROM vectors WHERE space = %s AND id > %s ORDER BY id LIMIT %s"
)
_BY_ID: Final = "SELECT id, text_id, data FROM vectors WHERE id = ANY(%s) AND space = %s"
_BY_TEXT: Final = """
    SELECT id, text_id, data FROM vectors WHERE text_id = ANY(%s) AND space = %s ORDER BY id"""
_BY_CHUNK: Final = """
    SELECT c.id, v.data FROM chunks c JOIN vectors v ON v.text_id = c.text_id
    WHERE c.id = ANY(%s) AND v.space = %s"""
_OWNED_SPACE: Final = "SELECT 1 FROM spaces WHERE id = %s AND project = %s"
_WIDTH: Final = "SELECT width FROM spaces WHERE id = %s"
_SET_WIDTH: Final = "UPDATE spaces SET width = %s WHERE id = %s AND width IS NULL"
_SET_EPOCH: Final = "UPDATE spaces SET epoch = %s WHERE id = %s"
_REMEMBERED_SCOPES: Final = 64
_LARGEST_SPACE: Final = (1 << 31) - 1


class PostgresVectorReader:
    """Implements `VectorReader` on the database or on a snapshot of it."""

    def __init__(
        self,
        source: TransactionSource,
        passing: FilterCache,
        cache: SpacesCache | None,
        database: PostgresDatabase,
    ) -> None:
        """Take the source; a snapshot shares the caches of its database."""
        self._source = source
        self._passing = passing
        self.database = database
        # Counting the coverage of a large scope takes longer than a search.
        self.cache: SpacesCache = BoundedCache(_REMEMBERED_SCOPES) if cache is None else cache

    def spaces(self, scope: Scope) -> list[SpaceInfo]:
        """Return the spaces that collections in scope use, each with its coverage of the scope."""
        with self._source.reading(scope.project) as db:
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
        texts: list[PendingText] = []
        with self._source.reading(scope.project) as db:
            if not _is_in_project(db, scope.project, space_id):
                return []
            collections = catalog.scope_ids(db, scope)
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
        return PostgresVectorRows(self._source, project, space_id, self.database)

    def ids_in(self, scope: Scope, space_id: int, *, filter: Filter | None = None) -> list[int]:
        """Return the row ids of all vectors whose text is in scope and passes the filter."""
        with self._source.reading(scope.project) as db:
            documents = filters.passing_in_scope(db, scope, filter, self._passing)
            if not _is_in_project(db, scope.project, space_id):
                return []
            if documents is not None:
                return fetch_column(db, _IDS_FILTERED, space_id, documents)
            return fetch_column(db, _IDS_IN, catalog.scope_ids(db, scope), space_id)

    def locate(
        self,
        scope: Scope,
        space_id: int,
        row_ids: Sequence[int],
        *,
        filter: Filter | None = None,
    ) -> dict[int, int]:
        """Return the first chunk in scope that has the text of each vector row and passes the filter."""
        with self._source.reading(scope.project) as db:
            documents = filters.passing_in_scope(db, scope, filter, self._passing)
            if not _is_in_project(db, scope.project, space_id):
                return {}
            parameters = {
                "rows": id_list(row_ids),
                "space": space_id,
                "collections": catalog.scope_ids(db, scope),
                "documents": documents,
            }
            condition = "" if documents is None else _IN_DOCUMENTS
            statement = _LOCATE.format(condition=condition)
            return dict(db.execute(statement, parameters).fetchall())


class PostgresVectorStore(PostgresVectorReader):
    """Implements `VectorStore` on the database."""

    def __init__(self, database: PostgresDatabase, passing: FilterCache) -> None:
        """Take the database."""
        super().__init__(database, passing, None, database)

    def ensure_space(
        self,
        key: CollectionKey,
        space: Space,
        *,
        storage: str | None = None,
        state: SpaceState = "active",
    ) -> SpaceInfo:
        """Return a space of the collection; create it if it is missing. `StaleSpace` if another space is active."""
        with catalog.changing(self.database, key) as (db, ids):
            number = ensure_space(
                db, spaces.STATEMENTS, ids, space, storage=storage, state=state
            )
            return spaces.space_of(db, ids, number)

    def activate_space(self, key: CollectionKey, space_id: int) -> None:
        """Let searches use this space, and retire the space that was active before."""
        with catalog.changing(self.database, key) as (db, ids):
            activate_space(db, spaces.STATEMENTS, ids, _space_id(space_id))

    def put(self, project: str, space_id: int, rows: Iterable[tuple[int, bytes]]) -> int:
        """Store (text id, encoded vector) rows and return how many were new; texts of other projects are left out."""
        vectors = list(rows)  # before the transaction: an embedder may still be computing them
        with self.database.writing(project) as db:
            if not _is_in_project(db, project, space_id):
                raise no_space(project, space_id)
            width = check_widths(vectors, fetch_value(db, _WIDTH, space_id))
            number = catalog.project_id(db, project)
            texts = [text_id for text_id, _ in vectors]
            parameters = {
                "space": space_id,
                "texts": texts,
                "data": [data for _, data in vectors],
                "project": number,
            }
            added = db.execute(_PUT, parameters).rowcount if vectors else 0
            if added:
                db.execute(_SET_WIDTH, (width, space_id))
                catalog.mark_changed(db, fetch_column(db, _HOLDERS, texts, number))
            return added

    def remove(self, project: str, space_id: int, row_ids: Sequence[int] | None = None) -> int:
        """Remove vectors of a space, or all of them if `row_ids` is None; return how many were removed."""
        with self.database.writing(project) as db:
            if not _is_in_project(db, project, space_id):
                raise no_space(project, space_id)
            if row_ids is None:
                removed = db.execute(_REMOVE_ALL, (space_id,)).rowcount
            else:
                removed = db.execute(_REMOVE, (space_id, id_list(row_ids))).rowcount
            if removed:
                db.execute(_SET_EPOCH, (fresh_uuid(), space_id))
                free_widths(db)
                catalog.mark_changed(db, fetch_column(db, _USERS, space_id))
            return removed


class PostgresVectorRows(StoredVectorRows):
    """The vectors of one space, and the table that the server compares."""

    statements = VectorStatements(
        version=_VERSION,
        count="SELECT count(*) FROM vectors WHERE space = %s",
        ids_after="SELECT id FROM vectors WHERE space = %s AND id > %s ORDER BY id",
        after=_AFTER,
        by_id=_BY_ID,
        by_text=_BY_TEXT,
        by_chunk=_BY_CHUNK,
    )

    def __init__(
        self, source: TransactionSource, project: str, space_id: int, database: PostgresDatabase
    ) -> None:
        """Take the source of transactions; `NotFound` if the project has no such space."""
        self._source = source
        self._database = database
        super().__init__(project, _space_id(space_id))

    def embeddings(self, dimension: int) -> EmbeddingTable:
        """Return the vectors of this space as the server compares them."""
        return EmbeddingTable(self._database, self._project, self._space, dimension)

    def _fetch(self, statement: str, *parameters: object) -> list[Row]:
        with self._source.reading(self._project) as db:
            return db.execute(statement, parameters).fetchall()

    def _id_list(self, ids: Sequence[int]) -> list[int]:
        return id_list(ids)


def free_widths(db: Transaction) -> None:
    """Forget the vector length of spaces without vectors, so that the next vectors set it."""
    db.execute(_FREE_WIDTHS)


def _is_in_project(db: Transaction, project: str, space_id: int) -> bool:
    owner = catalog.project_id(db, project)
    return fetch_value(db, _OWNED_SPACE, _space_id(space_id), owner) is not None


def _space_id(value: int) -> int:
    """Return an id that the column can hold; any other id becomes -1, which no space has."""
    if 0 < value <= _LARGEST_SPACE:
        return value
    return -1
