"""A large index made up: texts of two halves of real ones, vectors near those of real ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.filled import SETTINGS, warm
from bench.matrix import QUERIES, REAL, base, unit
from bench.measure import peak_mb, tell
from bench.texts import real_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.matrix import Floats

BATCH = 20_000
TOLD_EVERY = 100_000
PER_DOCUMENT = 16
"""Chunks in a file: the standard library's have 23 on average."""

PIECE_CHARACTERS = 800
"""Of a piece of the standard library: chunks of 160 to 300 tokens, as our chunkers cut."""

NOISE = (0.2, 0.6)
"""Length of the noise on a near-copy: cosines of about .98 to .86 to its origin."""

NEAR = 10


@cache
def halves() -> tuple[list[str], list[str]]:
    """Return the first and the second halves of the standard library's pieces, of about the size of our chunks."""
    found = [
        text
        for text in real_texts(REAL, size=PIECE_CHARACTERS)
        if len(text) > PIECE_CHARACTERS // 2
    ]
    cuts = [text.find("\n", len(text) // 2) % len(text) for text in found]
    return [text[:cut] for text, cut in zip(found, cuts, strict=True)], [
        text[cut:] for text, cut in zip(found, cuts, strict=True)
    ]


def texts(size: int) -> Iterator[list[str]]:
    """Yield chunks in batches: half of one real text, half of another, and a name that only this one has."""
    first, second = halves()
    source = np.random.default_rng(18)
    for start in range(0, size, BATCH):
        number = min(BATCH, size - start)
        one, two = (source.integers(0, len(first), number).tolist() for _ in range(2))
        yield [
            f"name_{start + at:x} {first[left]}{second[right]}"
            for at, (left, right) in enumerate(zip(one, two, strict=True))
        ]


def vectors(size: int) -> Iterator[Floats]:
    """Yield unit vectors in the same batches: noisy near-copies of the vectors of real texts."""
    real, source = base(REAL)[0], np.random.default_rng(19)
    for start in range(0, size, BATCH):
        near = real[source.integers(0, len(real), min(BATCH, size - start))]
        noise = unit(source.standard_normal(near.shape, dtype=np.float32))
        yield unit(near + noise * source.uniform(*NOISE, (len(near), 1)).astype(np.float32))


def query_vectors(count: int) -> Floats:
    """Return the vectors of real queries."""
    found: Floats = base(REAL)[1][: min(count, QUERIES)]
    return found


def fill(folder: Path, size: int, *, storage: str, queries: int) -> tuple[int, list[list[int]]]:
    """Fill an index, telling how far it is, and return how many bytes of text it holds and the true nearest rows."""
    from ragstone import Engine
    from ragstone.types import CollectionKey, Scope

    asked = query_vectors(queries)
    truth = np.zeros((queries, NEAR), np.int64)
    best = np.full((queries, NEAR), -2.0, np.float32)
    written = done = after = 0
    with Engine.open(folder, config=SETTINGS) as engine:
        parts = engine.workspace.components  # the only door to rows without their embedder
        store, project, scope = parts.store, engine.project, Scope(engine.project, ("default",))
        store.ensure_collection(CollectionKey(project, "default"))
        info = store.vectors.ensure_space(
            CollectionKey(project, "default"), parts.embedder("minilm").space, storage=storage
        )
        nearest = parts.space_index(project, info)
        for batch, rows in zip(texts(size), vectors(size), strict=True):
            store.put(CollectionKey(project, "default"), documents(batch, done))
            pending = store.vectors.pending(scope, info.id, after=after, limit=len(batch))
            encoded = parts.codec(info).encode(rows)
            text_ids = [text.text_id for text in pending]
            store.vectors.put(project, info.id, zip(text_ids, encoded, strict=True))
            best, truth = nearer(best, truth, asked @ rows.T, done + 1)
            written += sum(len(text.encode()) for text in batch)
            done, after = done + len(batch), pending[-1].text_id
            if done % TOLD_EVERY == 0:
                tell(
                    f"growth: {done:,} of {size:,} chunks stored, at most {peak_mb():,.0f} MB of memory"
                )
        nearest.search(asked[0], 1)
        nearest.flush()
        # A process that stays builds what is quicker for those who ask often; whoever asks later finds it.
        warm({"words": lambda question, k: engine.search(question, k, mode="words")}, "name")
    return written, truth.tolist()


def nearer(
    best: Floats, truth: NDArray[np.int64], scores: Floats, first: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the best scores and the numbers of their rows with some more rows, numbered from `first` on."""
    numbers = np.broadcast_to(np.arange(first, first + scores.shape[1]), scores.shape)
    both, named = np.hstack((best, scores)), np.hstack((truth, numbers))
    order = np.argsort(-both, axis=1)[:, :NEAR]
    return np.take_along_axis(both, order, 1), np.take_along_axis(named, order, 1)


def documents(batch: Sequence[str], start: int) -> list[Any]:
    """Return chunks as documents of several, ready to store as they were cut."""
    from ragstone.types import Chunk, Document, PreparedDocument, Span

    made = []
    for at in range(0, len(batch), PER_DOCUMENT):
        part, where = batch[at : at + PER_DOCUMENT], 0
        chunks = []
        for order, text in enumerate(part):
            span = Span(
                where,
                where + len(text),
                where,
                where + len(text.encode()),
                2 * order + 1,
                2 * order + 1,
            )
            chunks.append(Chunk(text, span, order, kind="code"))
            where += len(text) + 2
        number = (start + at) // PER_DOCUMENT
        document = Document(
            f"part{number // 100:03}/module{number:06}.py", "\n\n".join(part), "code", "python"
        )
        made.append(
            PreparedDocument(document, tuple(chunks), "files", None, "grown/1", document.hash)
        )
    return made
