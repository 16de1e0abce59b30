"""Vectors to measure with: MiniLM's of real texts and noisy near-copies, kept in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.measure import CACHE, tell
from bench.texts import questions, real_texts, spliced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

REAL = 20_000
QUERIES = 1_000
DIMENSION = 384
NOISE = (0.2, 0.6)
"""Length of the noise on a near-copy: cosines of about .98 to .86 to its origin."""

K = 10
BLOCK = 100_000


@dataclass(frozen=True, slots=True)
class Matrices:
    """Where the vectors, the queries and the right answers lie, and what they were made of."""

    vectors: Path
    queries: Path
    truth: Path
    origin: str


def unit(rows: Floats) -> Floats:
    """Return the rows at length one."""
    lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return np.asarray(rows / lengths, dtype=np.float32)


def base(count: int, *, cores: int | None = None) -> tuple[Floats, Floats, str]:
    """Return vectors of real texts, of queries, and what made them; synthetic ones where there is no embedder."""
    CACHE.mkdir(parents=True, exist_ok=True)
    held = CACHE / f"base-{count}.npz"
    if held.is_file():
        with np.load(held) as stored:
            return stored["vectors"], stored["queries"], str(stored["origin"])
    texts = real_texts(count + QUERIES)
    known, asked = texts[:-QUERIES], questions(texts[-QUERIES:])
    try:
        from ragstone.embed.minilm import MiniLM
    except ImportError as missing:
        tell(f"no built-in embedder ({missing}): synthetic vectors instead")
        return *synthetic(count), "synthetic"
    tell(f"embedding {len(known)} texts of the standard library, once")
    embedder = MiniLM(threads=cores)
    vectors, queries = (
        np.asarray(embedder.embed(known, "document")),
        np.asarray(embedder.embed(asked, "query")),
    )
    np.savez(held, vectors=vectors, queries=queries, origin=np.asarray("minilm"))
    return vectors, queries, "minilm"


def synthetic(count: int) -> tuple[Floats, Floats]:
    """Return vectors in clusters, like those of texts, and queries near some of them."""
    random = np.random.default_rng(5)
    centres = unit(random.standard_normal((max(1, count // 50), DIMENSION), dtype=np.float32))
    near = centres[random.integers(0, len(centres), count + QUERIES)]
    rows = unit(near + 0.05 * random.standard_normal(near.shape, dtype=np.float32))
    return rows[:count], rows[count:]


def near_copies(vectors: Floats, parents: list[tuple[int, int]]) -> Floats:
    """Return one row for each pair of parents: the real vector, or a noisy mixture of two."""
    random = np.random.default_rng(6)
    made = np.empty((len(parents), vectors.shape[1]), dtype=np.float32)
    pairs = np.asarray(parents)
    for start in range(0, len(pairs), BLOCK):
        one, two = pairs[start : start + BLOCK, 0], pairs[start : start + BLOCK, 1]
        rows = np.where(
            (one == two)[:, None], vectors[one], 0.7 * vectors[one] + 0.3 * vectors[two]
        )
        noise = unit(random.standard_normal(rows.shape, dtype=np.float32))
        strength = (
            random.uniform(*NOISE, size=(len(rows), 1)).astype(np.float32)
            * (one != two)[:, None]
        )
        made[start : start + BLOCK] = unit(rows + strength * noise)
    return made


def matrices(count: int, *, cores: int | None = None) -> Matrices:
    """Return vectors, queries and exact answers for this many rows, made now if they were not before."""
    vectors, queries, origin = base(min(count, REAL), cores=cores)
    stem = f"{origin}-{count}"
    found = Matrices(
        CACHE / f"{stem}-vectors.npy",
        CACHE / f"{stem}-queries.npy",
        CACHE / f"{stem}-truth.npy",
        origin,
    )
    if not found.truth.is_file():
        tell(f"making {count} vectors and their exact neighbours")
        _, parents = spliced([""] * len(vectors), count)
        rows = near_copies(vectors, parents)
        np.save(found.vectors, rows)
        np.save(found.queries, queries)
        np.save(found.truth, exact(rows, queries))
    return found


def exact(rows: Floats, queries: Floats) -> NDArray[Any]:
    """Return the ids of each query's nearest rows, best first."""
    best_scores = np.full((len(queries), K), -2.0, dtype=np.float32)
    best_ids = np.full((len(queries), K), -1, dtype=np.int64)
    for start in range(0, len(rows), BLOCK):
        scores = queries @ rows[start : start + BLOCK].T
        top = np.argpartition(-scores, min(K, scores.shape[1] - 1), axis=1)[:, :K]
        scores = np.concatenate([best_scores, np.take_along_axis(scores, top, axis=1)], axis=1)
        ids = np.concatenate([best_ids, top + start], axis=1)
        order = np.argsort(-scores, axis=1)[:, :K]
        best_scores, best_ids = (
            np.take_along_axis(scores, order, axis=1),
            np.take_along_axis(ids, order, axis=1),
        )
    return best_ids


def recall(found: list[list[int]], truth: NDArray[Any]) -> float:
    """Return the mean share of each query's right answers that were found."""
    if not found:
        return 0.0
    return float(
        np.mean(
            [
                len(set(ids) & set(right.tolist())) / len(right)
                for ids, right in zip(found, truth, strict=False)
            ]
        )
    )
