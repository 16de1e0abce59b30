"""Hybrid searches on PostgreSQL, on SQLite, and by SQL that is written by hand with pgvector and tsvector, in turn."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg

from bench import measure
from bench.filled import SETTINGS, fill, warm
from bench.measure import Absent, tell
from bench.search import corpus
from ragstone import Engine
from ragstone.types import Scope
from tests.support.postgres_server import NoServer, PostgresServer

if TYPE_CHECKING:
    from bench.matrix import Floats

SIZES = (10_000, 100_000)
QUERIES = 60
ROUNDS = 3
TOP = 5
NEAREST = 10
CREATE = """
    CREATE TABLE notes (id bigint PRIMARY KEY, body text NOT NULL, embedding vector(384) NOT NULL,
        words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)"""
INDEXES = (
    "CREATE INDEX ON notes USING gin (words)",
    "CREATE INDEX ON notes USING hnsw (embedding vector_cosine_ops)",
)
SESSION = (
    "SET jit = off; SET hnsw.ef_search = 100"  # with fewer, a search has fewer than 100 vectors
)
SETTLE = "VACUUM (ANALYZE)"  # the server itself does this after a minute or so
NEAREST_BY_HAND = "SELECT id FROM notes ORDER BY embedding <=> %s::real[]::vector LIMIT %s"
HYBRID = """
    WITH query AS (SELECT replace(plainto_tsquery('english', %(text)s)::text, '&', '|')::tsquery AS words),
    by_words AS (
        SELECT id, row_number() OVER (ORDER BY ts_rank_cd(n.words, q.words) DESC) AS place
        FROM notes n, query q WHERE n.words @@ q.words ORDER BY place LIMIT 100),
    by_vectors AS (
        SELECT id, row_number() OVER () AS place FROM (
            SELECT id FROM notes ORDER BY embedding <=> %(vector)s::real[]::vector LIMIT 100) AS nearest)
    SELECT id, body FROM notes JOIN (
        SELECT id, sum(1.0 / (60 + place)) AS score
        FROM (SELECT * FROM by_words UNION ALL SELECT * FROM by_vectors) AS places GROUP BY id) AS fused USING (id)
    ORDER BY score DESC LIMIT %(limit)s"""


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of each way for each size."""
    try:
        server = PostgresServer()
    except NoServer as error:
        raise Absent(str(error)) from error
    ours: dict[str, Any] = {}
    try:
        for size in options.sizes or SIZES:
            tell(f"postgres: {size:,} chunks")
            ours |= one_size(server, size)
    finally:
        server.close()
    data = {"queries": QUERIES, "vectors": "MiniLM's of real texts, then near-copies of them"}
    return {"ours": ours, "ratios": {}, "data": data}


def one_size(server: PostgresServer, size: int) -> dict[str, Any]:
    """Return the figures of each way for one number of chunks."""
    files = corpus(size)
    texts: list[str] = json.loads(Path(files["texts"]).read_text("utf-8"))
    questions: list[str] = json.loads(Path(files["questions"]).read_text("utf-8"))[:QUERIES]
    vectors: Floats = np.load(files["vectors"])
    databases = {name: server.new_database() for name in ("postgres", "SQL by hand")}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        folders = {name: Path(folder, name) for name in ("sqlite", "postgres")}
        settings: dict[str, dict[str, object]] = {
            "sqlite": {},
            "postgres": {"store.url": server.url(databases["postgres"])},
        }
        figures: dict[str, dict[str, Any]] = {}
        engines: dict[str, Engine] = {}
        for name, path in folders.items():
            path.mkdir()
            started = time.perf_counter()
            fill(path, texts, vectors, settings[name])
            figures[name] = {"chunks": size, "build_s": seconds_since(started)}
            tell(f"postgres: {name} filled in {figures[name]['build_s']} s")
            config = {**SETTINGS, **settings[name], "search.watch": "off"}
            engines[name] = stack.enter_context(Engine.open(path, config=config))
        figures["sqlite"]["disk_mb"] = round(measure.folder_bytes(folders["sqlite"]) / 1e6, 1)
        started = time.perf_counter()
        connection = stack.enter_context(by_hand(server, databases["SQL by hand"]))
        copy_texts(connection, texts, vectors)
        figures["SQL by hand"] = {"chunks": size, "build_s": seconds_since(started)}
        for name, database in databases.items():
            server.run_as_admin(database, SETTLE)
            figures[name]["disk_mb"] = database_mb(server, database)
        add_times(figures, engines, connection, questions)
        add_answers(figures, engines, connection, vectors, questions)
    return {f"{name}, {size:,}": values for name, values in figures.items()}


def add_answers(
    figures: dict[str, dict[str, Any]],
    engines: Mapping[str, Engine],
    connection: psycopg.Connection[tuple[object, ...]],
    vectors: Floats,
    questions: list[str],
) -> None:
    """Add the share of the nearest vectors that each way finds, and of SQLite's hits that PostgreSQL also shows."""
    queries = embedder_of(engines["sqlite"])(questions)
    for name, engine in engines.items():
        figures[name]["recall_at_10"] = recall_of_index(engine, queries)
    expected = nearest_rows(vectors, queries)
    shares = []
    for query, ids in zip(queries, expected, strict=True):
        rows = connection.execute(NEAREST_BY_HAND, (query.tolist(), NEAREST)).fetchall()
        shares.append(len({row[0] for row in rows} & set(ids.tolist())) / NEAREST)
    figures["SQL by hand"]["recall_at_10"] = round(float(np.mean(shares)), 3)
    same = []
    for question in questions:
        hits = {hit.source_doc_id for hit in engines["sqlite"].search(question, TOP)}
        others = {hit.source_doc_id for hit in engines["postgres"].search(question, TOP)}
        same.append(len(hits & others) / max(1, len(hits)))
    figures["postgres"]["hits_of_sqlite"] = round(float(np.mean(same)), 3)


def recall_of_index(engine: Engine, queries: Floats) -> float:
    """Return the share of the nearest stored vectors that the index of an engine finds."""
    parts = engine.workspace.components
    (info,) = parts.store.vectors.spaces(Scope(engine.project, ("default",)))
    rows = parts.store.vectors.rows(engine.project, info.id).after(0, info.embedded)
    stored = np.asarray(parts.codec(info).decode([row.data for row in rows]), np.float32)
    ids = np.asarray([row.id for row in rows])
    index = parts.space_index(engine.project, info)
    shares = []
    for query, expected in zip(queries, nearest_rows(stored, queries), strict=True):
        hits = {hit.id for hit in index.search(query, NEAREST)}
        shares.append(len(hits & set(ids[expected].tolist())) / NEAREST)
    return round(float(np.mean(shares)), 3)


def nearest_rows(vectors: Floats, queries: Floats) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the positions of the nearest vectors of each query, by comparing all."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=1), 1e-12)
    return np.argsort(-(queries @ vectors.T) / lengths, axis=1)[:, :NEAREST]


def embedder_of(engine: Engine) -> Callable[[list[str]], Floats]:
    """Return a function that embeds questions as a search does."""
    embedder = engine.workspace.components.embedder()
    return lambda questions: np.asarray(embedder.embed(questions, role="query"), np.float32)


def add_times(
    figures: dict[str, dict[str, Any]],
    engines: Mapping[str, Engine],
    connection: psycopg.Connection[tuple[object, ...]],
    questions: list[str],
) -> None:
    """Ask every way in turn and add the median and the slow times to its figures."""
    embed = embedder_of(engines["sqlite"])

    def search_by_hand(question: str, limit: int) -> object:
        vector = embed([question])[0]
        values = {"text": question, "vector": vector.tolist(), "limit": limit}
        return connection.execute(HYBRID, values).fetchall()

    ways: dict[str, Callable[[str, int], object]] = {
        **{name: engine.search for name, engine in engines.items()},
        "SQL by hand": search_by_hand,
    }
    warm(ways, questions[0])
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for question in questions:
            for name, way in ways.items():
                started = time.perf_counter()
                way(question, TOP)
                times[name].append((time.perf_counter() - started) * 1000)
    for name, values in times.items():
        figures[name]["hybrid_p50_ms"] = round(measure.median(values), 2)
        figures[name]["hybrid_p95_ms"] = round(measure.percentile(values, 0.95), 2)


def by_hand(server: PostgresServer, database: str) -> psycopg.Connection[tuple[object, ...]]:
    """Return a connection to an empty table of notes."""
    connection = psycopg.connect(server.url(database), autocommit=True)
    connection.execute(SESSION)
    connection.execute(CREATE)
    return connection


def copy_texts(
    connection: psycopg.Connection[tuple[object, ...]], texts: list[str], vectors: Floats
) -> None:
    """Fill the table and build its indexes."""
    statement = "COPY notes (id, body, embedding) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for number, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
            copy.write_row((number, text.replace("\0", ""), str(vector.tolist())))
    for index in INDEXES:
        connection.execute(index)


def database_mb(server: PostgresServer, database: str) -> float:
    """Return the size of a database on disk."""
    with server.connect_as_admin(database) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return round(float(str(row[0])) / 1e6, 1) if row else 0.0


def seconds_since(started: float) -> float:
    """Return the seconds since a moment."""
    return round(time.perf_counter() - started, 1)
