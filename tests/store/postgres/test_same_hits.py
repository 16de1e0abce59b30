"""A folder in PostgreSQL gives the same hits in the same order as one in SQLite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragstone import Engine
from tests.surfaces.conftest import FILES
from tests.surfaces.test_same_answer import QUERIES


def open_engine(folder: Path, **settings: Any) -> Engine:
    """Return an engine over a small project that was synced."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    engine = Engine.open(folder, config={"rag.embedding_provider": "fake", **settings})
    engine.sync()
    return engine


def test_every_search_gives_the_hits_of_sqlite(tmp_path: Path, database_url: str) -> None:
    with (
        open_engine(tmp_path / "sqlite") as sqlite,
        open_engine(tmp_path / "postgres", **{"store.url": database_url}) as postgres,
    ):
        for query, options in QUERIES:
            expected = [
                (hit.doc_id, round(hit.score, 6)) for hit in sqlite.search(query, **options)
            ]
            hits = [
                (hit.doc_id, round(hit.score, 6)) for hit in postgres.search(query, **options)
            ]
            assert hits == expected, query
