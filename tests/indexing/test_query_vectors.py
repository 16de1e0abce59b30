"""Cached query vectors: compressed, for 24 hours, the most similar ones go first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragstone import Document, Engine
from ragstone.indexing.query_vectors import SECONDS_KEPT, QueryVectors
from ragstone.retrieval.ranking.confidence import UNRELATED_TEXTS
from ragstone.types import Matrix
from ragstone.vectors.codecs import codec
from tests.support.model_services import KEY, ModelService, answer_openai, serving

DIMENSION = 32


def vectors(count: int) -> Matrix:
    rows = np.random.default_rng(5).standard_normal((count, DIMENSION)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def cache_in(folder: Path, clock: list[float], max_queries: int = 100) -> QueryVectors:
    return QueryVectors(
        folder / "v" / "q.queries",
        codec("int10", DIMENSION),
        max_queries=max_queries,
        now=lambda: clock[0],
    )


def test_a_vector_is_the_same_when_it_is_added_and_in_the_next_process(tmp_path: Path) -> None:
    (row,) = vectors(1)
    added = cache_in(tmp_path, [1.0]).add("when does it open", row)
    again = cache_in(tmp_path, [2.0]).get("when does it open")
    assert again is not None and np.array_equal(added, again)
    assert np.allclose(again, row, atol=0.01)
    assert cache_in(tmp_path, [2.0]).get("another query") is None


def test_the_file_is_compressed_private_and_has_no_query(tmp_path: Path) -> None:
    cache = cache_in(tmp_path, [1.0])
    for number, row in enumerate(vectors(10)):
        cache.add(f"secret query {number}", row)
    path = tmp_path / "v" / "q.queries"
    assert b"secret" not in path.read_bytes()
    assert path.stat().st_size < 10 * DIMENSION * 4
    assert path.stat().st_mode & 0o077 == 0


def test_an_entry_is_forgotten_after_24_hours(tmp_path: Path) -> None:
    clock = [1000.0]
    cache = cache_in(tmp_path, clock)
    cache.add("q", vectors(1)[0])
    clock[0] += SECONDS_KEPT
    assert cache.get("q") is not None
    clock[0] += 1
    assert cache.get("q") is None and len(cache_in(tmp_path, clock)) == 0


def test_when_it_is_full_the_most_similar_entries_go_first(tmp_path: Path) -> None:
    clock = [0.0]
    cache = cache_in(tmp_path, clock, max_queries=20)
    different = vectors(11)
    for number, row in enumerate(different):
        cache.add(f"different {number}", row)
    alike = vectors(12)[11]
    for number in range(10):
        clock[0] += 1
        cache.add(f"alike {number}", alike + np.float32(0.001 * number))
    assert len(cache) <= 20
    assert all(cache.get(f"different {number}") is not None for number in range(11))
    kept = [number for number in range(10) if cache.get(f"alike {number}") is not None]
    assert len(kept) == 7 and 9 in kept
    assert len(cache_in(tmp_path, clock)) == len(cache)


def test_a_damaged_file_costs_entries_but_no_answer(tmp_path: Path) -> None:
    cache = cache_in(tmp_path, [1.0])
    rows = vectors(3)
    for number, row in enumerate(rows):
        cache.add(f"q{number}", row)
    path = tmp_path / "v" / "q.queries"
    data = bytearray(path.read_bytes())
    data[40] ^= 0xFF
    path.write_bytes(data[:-5])
    again = cache_in(tmp_path, [2.0])
    assert again.get("q0") is None and again.get("q1") is not None and again.get("q2") is None


def test_a_query_is_paid_for_once_even_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_API_KEY", KEY)
    with serving(ModelService(answer_openai, 16), "/v1") as service:
        config = {"embed.provider": "openai:small@16", "embed.url": service.url}
        scores = []
        for _ in range(2):
            with Engine.open(tmp_path, config=config) as engine:
                engine.add([Document("a", "the harbour keeper"), Document("b", "the bell")])
                scores.append([hit.score for hit in engine.search("harbour keeper")])
                engine.search("harbour keeper", top_k=1)
        assert service.embedded["harbour keeper"] == 1
        assert scores[0] == scores[1]


def test_the_texts_that_cosines_are_compared_with_are_paid_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_API_KEY", KEY)
    with serving(ModelService(answer_openai, 16), "/v1") as service:
        config = {"embed.provider": "openai:small@16", "embed.url": service.url}
        for process in range(3):
            with Engine.open(tmp_path, config=config) as engine:
                engine.add(Document("a", "the harbour keeper"))
                engine.search(f"harbour {process}")
        counts = {text: service.embedded[text] for text in UNRELATED_TEXTS}
        assert set(counts.values()) == {1}
