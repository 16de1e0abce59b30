from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest

from ragstone.protocols import ComparedVectors, ServerVectors, VectorIndex
from ragstone.store.postgres import embeddings
from ragstone.store.postgres.store import PostgresStore
from ragstone.testing.store_case import KEY, PROJECT
from ragstone.testing.vector_index import VectorIndexContract
from ragstone.types import Space
from ragstone.vectors.pgvector_index import PgvectorIndex
from tests.support.index_answers import answers, differ, fill, open_with, recall

ADD_TEXTS = """
    INSERT INTO texts (id, project, hash, body) SELECT n, s.project, decode(md5(n::text), 'hex'), ''
    FROM generate_series(1, 2500) n, spaces s"""
ADD_VECTORS = """
    INSERT INTO vectors (id, project, space, text_id, data) SELECT n, s.project, s.id, n, ''
    FROM generate_series(1, 2500) n, spaces s"""


DEFINITIONS = "SELECT indexdef FROM pg_indexes WHERE tablename = 'embeddings'"


def rows_of(store: PostgresStore, url: str, dimension: int) -> ComparedVectors:
    """Return the vectors of a new space that has a stored row for each id that the contract uses."""
    store.ensure_collection(KEY)
    space = store.vectors.ensure_space(KEY, Space("fake", "tiny", dimension)).id
    with psycopg.connect(url) as connection:
        connection.execute("SET ragstone.project = 0")
        connection.execute(ADD_TEXTS)
        connection.execute(ADD_VECTORS)
    rows = store.vectors.rows(PROJECT, space)
    assert isinstance(rows, ServerVectors)
    return rows.embeddings(dimension)


class TestPgvectorIndex(VectorIndexContract):
    is_exact = True

    @pytest.fixture(autouse=True)
    def take_vectors(self, database_url: str) -> Iterator[None]:
        with PostgresStore(database_url) as store:
            self.compared = rows_of(store, database_url, self.dimension)
            yield

    def make(self) -> VectorIndex:
        return PgvectorIndex(self.compared, self.dimension)


class TestApproximateIndex(TestPgvectorIndex):
    """The same with HNSW, which is otherwise built for more than ten thousand vectors."""

    is_exact = False

    @pytest.fixture(autouse=True)
    def lower_border(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(embeddings, "EXACT_ROWS", 50)


@pytest.mark.parametrize("exact_rows", [10_000, 50])
def test_pgvector_gives_the_answers_of_the_built_in_index(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch, exact_rows: int
) -> None:
    monkeypatch.setattr(embeddings, "EXACT_ROWS", exact_rows)
    with open_with(tmp_path, "turbo") as engine:
        fill(engine)
        expected = answers(engine)
    monkeypatch.setenv("RAGSTONE_STORE_URL", database_url)
    with open_with(tmp_path, "pgvector") as engine:
        fill(engine)
        found = answers(engine)
        (info,) = engine.status().spaces
        engine.workspace.components.space_index(engine.project, info).flush()
        indexed = answers(engine)
    with psycopg.connect(database_url) as connection:
        definitions = connection.execute(DEFINITIONS).fetchall()
    has_index = any("hnsw" in str(definition) for (definition,) in definitions)
    assert has_index == (exact_rows == 50)
    if not has_index:
        assert differ(expected, found) == []
        assert differ(expected, indexed) == []
    assert recall(expected, indexed) >= 0.95


def test_many_dimensions_are_compared_by_half_precision(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "EXACT_ROWS", 50)
    dimension = 2048
    vectors = np.random.default_rng(5).standard_normal((60, dimension)).astype(np.float32)
    with PostgresStore(database_url) as store:
        index = PgvectorIndex(rows_of(store, database_url, dimension), dimension)
        index.upsert(range(1, 61), vectors)
        index.flush()
        for number in (0, 30, 59):
            (nearest,) = index.search(vectors[number], 1)
            assert nearest.id == number + 1
            assert nearest.score == pytest.approx(1.0, abs=1e-4)
    with psycopg.connect(database_url) as connection:
        definitions = connection.execute(DEFINITIONS).fetchall()
    assert any("halfvec(2048)" in str(definition) for (definition,) in definitions)
