"""Growth: time, memory and disk as an index goes from ten thousand chunks to a million."""

from __future__ import annotations

import argparse
import random
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from bench import measure
from bench.measure import Failed, child, tell

SIZES = (10_000, 100_000, 1_000_000)
WORDS = 30_000
LENGTH = 60
"""Words in a chunk: about 400 characters."""

QUERIES = 100
CLUSTERS = 2_000
DIMENSION = 384


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return our figures for each size."""
    ours: dict[str, Any] = {}
    for size in options.sizes or SIZES:
        tell(f"growth: {size} chunks")
        with tempfile.TemporaryDirectory(prefix="ragstone-bench-", ignore_cleanup_errors=True) as folder:
            spec = {"size": size, "folder": folder}
            try:
                built = child("bench.growth", {**spec, "phase": "build"}, cores=2, timeout=7200)
                asked = child("bench.growth", {**spec, "phase": "query", **built}, cores=1)
            except Failed as failed:
                tell(f"{size} failed: {failed}")
                ours[str(size)] = {"failed": str(failed)}
                continue
            ours[str(size)] = {**built, **asked}
    return {"ours": ours, "ratios": {}}


def vocabulary() -> list[str]:
    """Return made-up words, the first ones common."""
    luck = random.Random(17)  # noqa: S311 - the same words each time, no secret
    parts = ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va"]
    return ["".join(luck.choice(parts) for _ in range(luck.randint(2, 4))) for _ in range(WORDS)]


def texts(size: int) -> list[str]:
    """Return chunks whose words are as unevenly spread as those of real text."""
    import numpy as np

    words = np.asarray(vocabulary(), dtype=object)
    source = np.random.default_rng(18)
    made: list[str] = []
    for start in range(0, size, 50_000):
        ranks = source.zipf(1.3, (min(50_000, size - start), LENGTH)) % WORDS
        made += [f"{start + number} " + " ".join(row) for number, row in enumerate(words[ranks])]
    return made


def build(spec: dict[str, Any]) -> dict[str, Any]:
    """Return how long filling an index of this size took, and what it takes on disk."""
    import time

    import numpy as np

    from bench.filled import fill
    from bench.matrix import unit

    source = np.random.default_rng(19)
    centres = unit(source.standard_normal((CLUSTERS, DIMENSION), dtype=np.float32))
    vectors = centres[source.integers(0, CLUSTERS, spec["size"])]
    for start in range(0, len(vectors), 50_000):
        part = vectors[start : start + 50_000]
        vectors[start : start + 50_000] = unit(part + 0.04 * source.standard_normal(part.shape, dtype=np.float32))
    made, folder = texts(spec["size"]), Path(spec["folder"])
    size = sum(len(text) for text in made)
    started = time.perf_counter()
    fill(folder, made, vectors)
    seconds = time.perf_counter() - started
    return {
        "chunks": len(made),
        "build_s": round(seconds, 1),
        "text_mb": round(size / 2**20, 1),
        "disk_mb": round(measure.folder_bytes(folder) / 2**20, 1),
        "disk_per_text": round(measure.folder_bytes(folder) / size, 2),
        "disk_bytes_per_chunk": round(measure.folder_bytes(folder) / len(made)),
    }


def query(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the median time of each way of searching, and memory a chunk above that of an index of one."""
    import numpy as np

    from bench.filled import fill, open_ways
    from bench.matrix import unit

    luck = random.Random(23)  # noqa: S311 - the same questions each time, no secret
    words = vocabulary()[:5_000]
    questions = [" ".join(luck.choice(words) for _ in range(4)) for _ in range(QUERIES)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as nearly_empty:
        # One chunk is enough to load the model and every room: what it takes is no chunk's memory.
        fill(Path(nearly_empty), [questions[0]], unit(np.ones((1, DIMENSION), dtype=np.float32)))
        for way in open_ways(Path(nearly_empty)).values():
            way(questions[0], 5)
        before = measure.rss_mb()
    ways = open_ways(Path(spec["folder"]))
    result: dict[str, Any] = {}
    for name, way in ways.items():
        first = measure.milliseconds([partial(way, questions[0], 5)])[0]
        taken = measure.milliseconds([partial(way, one, 5) for one in questions[1:]])
        result[f"{name}_first_ms"] = round(first, 2)
        result[f"{name}_p50_ms"] = measure.median(taken)
    memory = measure.rss_mb()
    return {**result, "rss_mb": memory, "rss_bytes_per_chunk": round((memory - before) * 2**20 / spec["chunks"])}


if __name__ == "__main__":
    measure.answer(lambda spec: build(spec) if spec["phase"] == "build" else query(spec))
