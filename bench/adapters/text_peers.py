"""Peers for search from text to hits: each gets the same texts and vectors, and the same model for its queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bench.adapters import library

if TYPE_CHECKING:
    from bench.matrix import Floats

WORD = re.compile(r"\w+")
RRF_K = 60
CANDIDATES = 100
Ask = Callable[[str, int], Sequence[str]]


class TextPeer(Protocol):
    """What the text measurement asks of a library."""

    def build(self, folder: Path, texts: list[str], vectors: Floats) -> None:
        """Take all texts and vectors in."""

    def open(
        self, folder: Path, texts: list[str], embed: Callable[[str], Floats]
    ) -> dict[str, Ask]:
        """Return the ways of searching by name: words, vectors, hybrid; each gives texts."""


def text_peer(name: str) -> TextPeer:
    """Return a peer by name."""
    known: dict[str, Callable[[], TextPeer]] = {
        "chroma+rank_bm25": ChromaAndBm25,
        "lancedb": LanceHybrid,
        "txtai": Txtai,
    }
    return known[name]()


class ChromaAndBm25:
    """Chroma for vectors, rank_bm25 for words, joined by reciprocal ranks: the usual recipe."""

    def build(self, folder: Path, texts: list[str], vectors: Floats) -> None:
        """Add texts and vectors; the words have no file."""
        client = self._client(folder)
        collection = client.create_collection(
            "bench", configuration={"hnsw": {"space": "cosine"}}
        )
        step = client.get_max_batch_size()
        for start in range(0, len(texts), step):
            part = texts[start : start + step]
            ids = [str(start + number) for number in range(len(part))]
            collection.add(ids=ids, documents=part, embeddings=vectors[start : start + step])

    def open(
        self, folder: Path, texts: list[str], embed: Callable[[str], Floats]
    ) -> dict[str, Ask]:
        """Open the collection and count the words."""
        import numpy as np

        ranker = library("rank_bm25").BM25Okapi([WORD.findall(text.lower()) for text in texts])
        collection = self._client(folder).get_collection("bench")

        def by_words(query: str, k: int) -> list[int]:
            scores = ranker.get_scores(WORD.findall(query.lower()))
            best = np.argpartition(-scores, k)[:k]
            return [int(one) for one in best[np.argsort(-scores[best])]]

        def by_vectors(query: str, k: int) -> list[int]:
            found = collection.query(
                query_embeddings=[embed(query)], n_results=k, include=["documents"]
            )
            return [int(one) for one in found["ids"][0]]

        def both(query: str, k: int) -> list[str]:
            scores: dict[int, float] = {}
            for ranked in (by_words(query, CANDIDATES), by_vectors(query, CANDIDATES)):
                for rank, one in enumerate(ranked, 1):
                    scores[one] = scores.get(one, 0.0) + 1 / (RRF_K + rank)
            return [texts[one] for one in sorted(scores, key=lambda one: -scores[one])[:k]]

        return {
            "words": lambda query, k: [texts[one] for one in by_words(query, k)],
            "vectors": lambda query, k: [texts[one] for one in by_vectors(query, k)],
            "hybrid": both,
        }

    def _client(self, folder: Path) -> Any:  # noqa: ANN401 - the peer's own class
        chromadb = library("chromadb")

        return chromadb.PersistentClient(
            path=str(folder), settings=chromadb.Settings(anonymized_telemetry=False)
        )


class LanceHybrid:
    """LanceDB with its own full-text index, its own hybrid query and reranker."""

    def build(self, folder: Path, texts: list[str], vectors: Floats) -> None:
        """Write the table, then the full-text index."""
        lancedb = library("lancedb")
        pyarrow = library("pyarrow")

        width = vectors.shape[1]
        rows = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.ravel()), width)
        table = pyarrow.table(
            {
                "id": pyarrow.array(range(len(texts))),
                "text": pyarrow.array(texts),
                "vector": rows,
            }
        )
        lancedb.connect(str(folder)).create_table("bench", table).create_fts_index("text")

    def open(
        self, folder: Path, texts: list[str], embed: Callable[[str], Floats]
    ) -> dict[str, Ask]:
        """Open the table."""
        lancedb = library("lancedb")

        table = lancedb.connect(str(folder)).open_table("bench")

        def plain(query: str) -> str:
            return " ".join(WORD.findall(query))

        def words(query: str, k: int) -> list[str]:
            found = (
                table.search(plain(query), query_type="fts").select(["text"]).limit(k).to_list()
            )
            return [row["text"] for row in found]

        def near(query: str, k: int) -> list[str]:
            found = (
                table.search(embed(query))
                .distance_type("cosine")
                .select(["text"])
                .limit(k)
                .to_list()
            )
            return [row["text"] for row in found]

        def both(query: str, k: int) -> list[str]:
            asked = table.search(query_type="hybrid").vector(embed(query)).text(plain(query))
            return [row["text"] for row in asked.limit(k).to_list()]

        return {"words": words, "vectors": near, "hybrid": both}


class Txtai:
    """txtai with its hybrid index and stored texts."""

    def build(self, folder: Path, texts: list[str], vectors: Floats) -> None:
        """Index the texts; the given vectors stand in for its model."""
        known = dict(zip(texts, vectors, strict=True))
        index = self._index(
            lambda batch: library("numpy").stack([known[text] for text in batch])
        )
        index.index((number, text, None) for number, text in enumerate(texts))
        index.save(str(folder / "txtai"))

    def open(
        self, folder: Path, texts: list[str], embed: Callable[[str], Floats]
    ) -> dict[str, Ask]:
        """Load the index."""
        import numpy as np

        def transform(batch: list[str]) -> Floats:
            rows: Floats = np.stack([embed(text) for text in batch])
            return rows

        index = self._index(transform)
        # What was saved names a function, which it does not look up: it is given again.
        index.load(str(folder / "txtai"), config={"transform": transform})

        def weighted(weight: float) -> Ask:
            return lambda query, k: [
                row["text"] for row in index.search(query, k, weights=weight)
            ]

        return {"words": weighted(0.0), "vectors": weighted(1.0), "hybrid": weighted(0.5)}

    def _index(self, transform: Callable[[list[str]], Floats]) -> Any:  # noqa: ANN401 - the peer's own class
        return library("txtai").Embeddings(
            method="external", transform=transform, hybrid=True, content=True
        )
