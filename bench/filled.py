"""An engine of ours filled with texts whose vectors are known already, so that embedding is not measured twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.retrieval import search

if TYPE_CHECKING:
    from bench.matrix import Floats
    from ragstone import Engine
    from ragstone.types import Hit, Mode

BATCH = 20_000
SETTINGS = {"rag.embedding_provider": "minilm", "embed.threads": 1}

WARM_UP = 40
BESIDE = ("ragstone-words",)
"""Threads that build or load while searches are answered."""


def fill(
    folder: Path,
    texts: Sequence[str],
    vectors: Floats,
    settings: Mapping[str, object] | None = None,
) -> None:
    """Add each text as a document of one chunk and store its vector as an embedder's."""
    from ragstone import Document, Engine

    with Engine.open(folder, config={**SETTINGS, **(settings or {})}) as engine:
        for start in range(0, len(texts), BATCH):
            part = texts[start : start + BATCH]
            engine.add(
                [
                    Document(uri=f"{start + number}.txt", text=text)
                    for number, text in enumerate(part)
                ],
                embed=False,
            )
        fill_vectors(engine, vectors)
        warm({"words": lambda question, k: engine.search(question, k, mode="words")}, "import")


def fill_vectors(engine: Engine, vectors: Floats) -> None:
    """Store a vector for every text that has none, as an embedder's."""
    from ragstone.types import CollectionKey, Scope

    parts = engine.workspace.components  # the only door to rows without their embedder
    embedder = parts.embedder("minilm")
    info = parts.store.vectors.ensure_space(
        CollectionKey(engine.project, "default"), embedder.space
    )
    nearest = parts.space_index(engine.project, info)
    after = done = 0
    scope = Scope(engine.project, ("default",))
    while pending := parts.store.vectors.pending(scope, info.id, after=after, limit=BATCH):
        # A text cut in two gives a row more than there are vectors: any vector will do for it.
        rows = vectors[[number % len(vectors) for number in range(done, done + len(pending))]]
        encoded = parts.codec(info).encode(rows)
        text_ids = [text.text_id for text in pending]
        parts.store.vectors.put(engine.project, info.id, zip(text_ids, encoded, strict=True))
        after, done = pending[-1].text_id, done + len(pending)
    nearest.search(vectors[0], 1)
    nearest.flush()


def warm(ways: Mapping[str, Callable[[str, int], object]], question: str) -> None:
    """Ask often enough that whatever is loaded or built beside the first searches is there."""
    search.MAX_CACHED_ANSWERS = 0  # from here on every query is answered anew
    for way in ways.values():
        for _ in range(WARM_UP):
            way(question, 5)
    for thread in threading.enumerate():
        if thread.name in BESIDE:
            thread.join()


def open_ways(folder: Path) -> dict[str, Callable[[str, int], Sequence[Hit]]]:
    """Return ways of searching an engine: by words, by vectors, by both."""
    from ragstone import Engine

    engine = Engine.open(folder, config=SETTINGS)

    def way(mode: Mode) -> Callable[[str, int], Sequence[Hit]]:
        return lambda query, k: engine.search(query, top_k=k, mode=mode)

    return {"words": way("words"), "vectors": way("vectors"), "hybrid": way("hybrid")}
