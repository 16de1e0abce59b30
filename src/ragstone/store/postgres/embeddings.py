"""The vectors of one space as pgvector compares them: exactly in a small space, by an HNSW index in a large one.

The table is derived from the stored rows and shared by all processes. A row is removed together with its stored row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ragstone.store.fetch import fetch_column, fetch_value
from ragstone.store.postgres.catalog import id_list
from ragstone.store.postgres.connection import PostgresDatabase, Transaction
from ragstone.types import Scored

EXACT_ROWS: Final = 10_000
"""Up to so many rows are compared one by one: about ten milliseconds."""
_VECTOR_DIMENSIONS: Final = 2000
_HALF_DIMENSIONS: Final = 4000
_SEARCHED: Final = 200  # hnsw.ef_search: recall@10 ≥ .95
_ADDED_AT_ONCE: Final = 500
_ADD: Final = """
    INSERT INTO embeddings (vector_id, project, space, embedding)
    SELECT v.id, v.project, v.space, given.embedding::vector
    FROM unnest(%s::bigint[], %s::text[]) AS given (id, embedding)
    JOIN vectors v ON v.id = given.id AND v.space = %s
    ON CONFLICT (vector_id) DO UPDATE SET embedding = excluded.embedding"""
_COUNT: Final = "SELECT count(*) FROM embeddings WHERE space = %s"
_HELD: Final = "SELECT vector_id FROM embeddings WHERE space = %s AND vector_id = ANY(%s)"
_REMOVE: Final = "DELETE FROM embeddings WHERE space = %s AND vector_id = ANY(%s)"
_REMOVE_ALL: Final = "DELETE FROM embeddings WHERE space = %s"
_NEAREST: Final = """
    SELECT vector_id, 1 - (embedding <=> %(query)s::real[]::vector) FROM (
        SELECT vector_id, embedding FROM embeddings WHERE space = {space:d} {condition}
        ORDER BY {distance} LIMIT %(limit)s) AS nearest"""
_ALLOWED: Final = "AND vector_id = ANY(%(allowed)s)"
# All vectors have length one. Their inner product is computed in two thirds of the time of a cosine, and no index has it.
_EXACT_DISTANCE: Final = "embedding <#> %(query)s::real[]::vector"
_INDEXED_DISTANCE: Final = "embedding::{kind} <=> %(query)s::real[]::{kind}"
_SEARCH_INDEX: Final = (
    f"SET LOCAL hnsw.ef_search = {_SEARCHED}; SET LOCAL hnsw.iterative_scan = strict_order"
)
_HAS_INDEX: Final = """
    SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relname = %s AND i.indisvalid AND i.indrelid = 'embeddings'::regclass"""
_CREATE_INDEX: Final = """
    CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON embeddings
    USING hnsw ((embedding::{kind}) {operators}) WHERE space = {space:d}"""
_DROP_INDEX: Final = "DROP INDEX CONCURRENTLY IF EXISTS {name}"
_TRY_LOCK: Final = "SELECT pg_try_advisory_lock(hashtext(%s))"
_UNLOCK: Final = "SELECT pg_advisory_unlock(hashtext(%s))"


class EmbeddingTable:
    """The comparable vectors of one space."""

    def __init__(
        self, database: PostgresDatabase, project: str, space: int, dimension: int
    ) -> None:
        """Take the database and the space."""
        self._database = database
        self._project = project
        self._space = space
        self._dimension = dimension
        self._index_name = f"embeddings_{space}_hnsw"
        self._has_index = False

    def put(self, rows: Sequence[tuple[int, Sequence[float]]]) -> None:
        """Add vectors by the id of their stored row, or replace them; other ids are left out."""
        with self._database.writing(self._project) as db:
            for start in range(0, len(rows), _ADDED_AT_ONCE):
                part = rows[start : start + _ADDED_AT_ONCE]
                ids = [row_id for row_id, _ in part]
                vectors = [_literal(vector) for _, vector in part]
                db.execute(_ADD, (ids, vectors, self._space))

    def remove(self, ids: Sequence[int]) -> int:
        """Remove vectors and return how many there were."""
        with self._database.writing(self._project) as db:
            return db.execute(_REMOVE, (self._space, id_list(ids))).rowcount

    def clear(self) -> None:
        """Remove all vectors of the space."""
        with self._database.writing(self._project) as db:
            db.execute(_REMOVE_ALL, (self._space,))

    def count(self) -> int:
        """Return the number of vectors."""
        with self._database.reading(self._project) as db:
            return int(fetch_value(db, _COUNT, self._space))

    def held(self, ids: Sequence[int]) -> set[int]:
        """Return those of some ids that the table has."""
        with self._database.reading(self._project) as db:
            return set(fetch_column(db, _HELD, self._space, id_list(ids)))

    def nearest(
        self, query: Sequence[float], limit: int, *, allowed: Sequence[int] | None, count: int
    ) -> list[Scored]:
        """Return the nearest vectors by cosine, best first; `count` is how many the space has.

        A vector of zeros, which has no direction, gets the cosine 0.
        """
        is_few = allowed is not None and len(allowed) <= EXACT_ROWS
        is_exact = is_few or count <= EXACT_ROWS or not self._can_index
        distance = _EXACT_DISTANCE if is_exact else _INDEXED_DISTANCE.format(kind=self._kind)
        condition = "" if allowed is None else _ALLOWED
        statement = _NEAREST.format(space=self._space, condition=condition, distance=distance)
        parameters = {
            "query": list(query),
            "limit": limit,
            "allowed": id_list(allowed or ()),
        }
        with self._database.searching(self._project) as db:
            if not is_exact:
                db.execute(_SEARCH_INDEX)
            rows = db.execute(statement, parameters).fetchall()
        hits = [Scored(number, 0.0 if math.isnan(score) else score) for number, score in rows]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))

    def ensure_index(self) -> None:
        """Build the HNSW index if the space is large, has none, and no other process is building it."""
        if self._has_index or not self._can_index or self.count() <= EXACT_ROWS:
            return
        name = self._index_name
        with self._database.reading(self._project) as db:
            self._has_index = fetch_value(db, _HAS_INDEX, name) is not None
        if self._has_index:
            return
        with self._database.autocommit() as connection:
            db = Transaction(connection)
            if not fetch_value(db, _TRY_LOCK, name):
                return
            try:
                db.execute("SET statement_timeout = 0")
                db.execute(
                    _DROP_INDEX.format(name=name)
                )  # one that another process did not finish
                db.execute(
                    _CREATE_INDEX.format(
                        name=name,
                        kind=self._kind,
                        operators=self._operators,
                        space=self._space,
                    )
                )
                self._has_index = True
            finally:
                db.execute(_UNLOCK, (name,))

    @property
    def _can_index(self) -> bool:
        return self._dimension <= _HALF_DIMENSIONS

    @property
    def _kind(self) -> str:
        """Return the type that the vectors are compared as: half precision if there are many dimensions."""
        name = "vector" if self._dimension <= _VECTOR_DIMENSIONS else "halfvec"
        return f"{name}({self._dimension:d})"

    @property
    def _operators(self) -> str:
        is_small = self._dimension <= _VECTOR_DIMENSIONS
        if is_small:
            return "vector_cosine_ops"
        return "halfvec_cosine_ops"


def _literal(vector: Sequence[float]) -> str:
    """Return a vector as pgvector reads it; nine digits give every number of 32 bits exactly."""
    return "[" + ",".join([f"{number:.9g}" for number in vector]) + "]"
