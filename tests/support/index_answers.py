"""A small folder of texts on any index, and its answers to many queries with filters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone import Engine
from ragstone.embed.fake import FakeEmbedder
from ragstone.types import Document, Hit, Matrix

Answers = list[list[tuple[str, float]]]
"""The names and scores of the hits of each query."""

WORDS = "granite slate marble basalt chalk flint gneiss shale pumice quartz".split()


def open_with(folder: Path, provider: str, **more: object) -> Engine:
    config = {
        "rag.embedding_provider": "fake",
        "rag.vector_store.provider": provider,
        "store.path": f".ragstone-{provider}",
        **{f"rag.vector_store.{key}": value for key, value in more.items()},
    }
    return Engine.open(folder, config=config)


def fill(engine: Engine, count: int = 120) -> None:
    generator = np.random.default_rng(5)
    documents = []
    for number in range(count):
        words = " ".join(generator.choice(WORDS, 5))
        metadata = {"part": number % 3}
        documents.append(Document(f"{number}.md", f"{words} {number}", metadata=metadata))
    engine.add(documents)


def answers(engine: Engine, count: int = 200) -> Answers:
    """Return the ids and scores of queries by vectors, two of three with a filter."""
    generator = np.random.default_rng(6)
    results = []
    for number in range(count):
        query = " ".join(generator.choice(WORDS, 3))
        part = number % 3
        filters = {"part": part} if part else None
        hits = engine.search(query, mode="vectors", filters=filters, top_k=8)
        results.append([describe(hit) for hit in hits])
    return results


def describe(hit: Hit) -> tuple[str, float]:
    return hit.source_doc_id, round(hit.score, 3)


def record_embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets every text that is embedded from now on."""
    embedded: list[str] = []
    embed = FakeEmbedder.embed

    def recorded(self: FakeEmbedder, texts: Sequence[str], *rest: Any, **more: Any) -> Matrix:
        embedded.extend(texts)
        return embed(self, texts, *rest, **more)

    monkeypatch.setattr(FakeEmbedder, "embed", recorded)
    return embedded


def recall(expected: Answers, answers: Answers) -> float:
    """Return the share of the expected hits that were found."""
    found = 0
    for wanted_hits, hits in zip(expected, answers, strict=True):
        names = {name for name, _ in hits}
        found += len(names.intersection(name for name, _ in wanted_hits))
    return found / sum(len(hits) for hits in expected)


def differ(expected: Answers, answers: Answers) -> list[str]:
    """Return the queries whose hits or scores differ; hits as good as the last one may be any of their score."""
    differences = []
    for number, (wanted, given) in enumerate(zip(expected, answers, strict=True)):
        scores = [score for _, score in wanted]
        if [score for _, score in given] != pytest.approx(scores, abs=0.0015):
            differences.append(f"{number}: scores {given} for {wanted}")
            continue
        above = {name for name, score in wanted if score > scores[-1] + 0.0015}
        if not above <= {name for name, _ in given}:
            differences.append(f"{number}: hits {given} for {wanted}")
    return differences


def document_texts(embedded: Sequence[str]) -> list[str]:
    """Return the embedded texts that `fill` made: some of the words, and a number."""
    return [text for text in embedded if text.split()[0] in WORDS and text[-1].isdigit()]
