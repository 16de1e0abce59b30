"""Growth: time, memory and disk as an index goes from ten thousand chunks to a million."""

from __future__ import annotations

import argparse
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, get_args

from bench import measure
from bench.measure import Failed, child, tell

SIZES = (10_000, 100_000, 1_000_000)
STORAGES_AT = 100_000
"""The other ways to store vectors are measured at the largest size asked for that is no larger."""

QUERIES = 100
RECALL_QUERIES = 50
TABLES = {
    "texts": "texts",
    "chunks": "documents",
    "documents": "documents",
    "words": "words",
    "vectors": "vectors",
}
"""Beginning of a table's or an index's name → the part it is counted under."""


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return our figures for each size, and at one size for each way to store vectors."""
    sizes = options.sizes or SIZES
    several = max((size for size in sizes if size <= STORAGES_AT), default=None)
    ours: dict[str, Any] = {}
    for size in sizes:
        for storage in storages()[: None if size == several else 1]:
            name = str(size) if storage == storages()[0] else f"{size} {storage}"
            tell(f"growth: {name} chunks")
            ours[name] = one(size, storage)
            tell(f"growth: {name} chunks: {told(ours[name])}")
    return {"ours": ours, "ratios": {}}


def storages() -> list[str]:
    """Return the ways to store vectors, the default first."""
    from ragstone.config.sections import VectorStorage

    return list(get_args(VectorStorage))


def told(figures: dict[str, Any]) -> str:
    """Return what matters most of one index."""
    keys = (
        "disk_per_text",
        "rss_bytes_per_chunk",
        "recall_at_10",
        "words_p50_ms",
        "hybrid_p50_ms",
    )
    return ", ".join(f"{key} {figures[key]}" for key in keys if key in figures)


def one(size: int, storage: str) -> dict[str, Any]:
    """Return the figures of one index: filled in one process, asked in another on one core, weighed after both."""
    with tempfile.TemporaryDirectory(
        prefix="ragstone-bench-", ignore_cleanup_errors=True
    ) as folder:
        spec = {"size": size, "storage": storage, "folder": folder}
        try:
            built = child(
                "bench.growth", {**spec, "phase": "build", "shown": True}, cores=2, timeout=7200
            )
            truth = built.pop("truth")
            asked = child("bench.growth", {**spec, "phase": "query", "truth": truth}, cores=1)
        except Failed as failed:
            tell(f"{size} failed: {failed}")
            return {"failed": str(failed)}
        return {**built, **weighed(Path(folder), size, built["text_bytes_per_chunk"]), **asked}


def build(spec: dict[str, Any]) -> dict[str, Any]:
    """Return how long filling an index of this size took, and the most memory that it needed."""
    from bench.grown import fill

    size, folder = int(spec["size"]), Path(spec["folder"])
    started = time.perf_counter()
    text, truth = fill(folder, size, storage=spec["storage"], queries=RECALL_QUERIES)
    return {
        "chunks": size,
        "storage": spec["storage"],
        "build_s": round(time.perf_counter() - started, 1),
        "build_peak_mb": measure.peak_mb(),
        "text_mb": round(text / 2**20, 1),
        "text_bytes_per_chunk": round(text / size, 1),
        "truth": truth,
    }


def weighed(folder: Path, size: int, text: float) -> dict[str, Any]:
    """Return what an index takes on disk, part by part; `text`: bytes of text in a chunk."""
    disk = measure.folder_bytes(folder)
    return {
        "disk_mb": round(disk / 2**20, 1),
        "disk_per_text": round(disk / size / text, 2),
        "disk_bytes_per_chunk": round(disk / size),
        "bytes_per_chunk": {name: round(part / size) for name, part in parts(folder).items()},
    }


def parts(folder: Path) -> dict[str, int]:
    """Return how many bytes each part of an index takes on disk."""
    found: dict[str, int] = {}
    database = next(path for path in folder.rglob("*.db") if path.is_file())
    with closing(sqlite3.connect(database)) as db:
        try:
            rows = db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall()
        except sqlite3.OperationalError:  # built without the table that tells
            rows = [("database", database.stat().st_size)]
    for name, size in rows:
        plain = name.removeprefix("sqlite_autoindex_")
        key = next(
            (part for beginning, part in TABLES.items() if plain.startswith(beginning)),
            "other tables",
        )
        found[key] = found.get(key, 0) + int(size)
    for path in folder.rglob("*"):
        if path.is_file() and path != database:
            inside = path.relative_to(database.parent).parts
            kind = path.suffix.lstrip(".") if inside[0] == "vectors" else f"derived {inside[0]}"
            if len(inside) > 1 and path.stat().st_size > 4096:
                found[kind] = found.get(kind, 0) + path.stat().st_size
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def query(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the median time of each way of searching, recall, and memory a chunk above that of an index of few.

    Files of the index that are mapped count; code of libraries does not, some of which only a larger index calls for.
    """
    from bench import grown
    from bench.filled import open_ways, warm

    asked = questions()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as nearly_empty:
        # A few chunks are enough to load the model and every room: what those take is no chunk's memory.
        grown.fill(Path(nearly_empty), grown.PER_DOCUMENT, storage=spec["storage"], queries=1)
        for way in open_ways(Path(nearly_empty)).values():
            way(asked[0], 5)
        before, code_before = measure.rss_mb(), measure.code_mb()
    ways = open_ways(Path(spec["folder"]))
    result: dict[str, Any] = {}
    for name, way in ways.items():
        first = measure.milliseconds([partial(way, asked[0], 5)])[0]
        warm({name: way}, asked[0])
        taken = measure.milliseconds([partial(way, one, 5) for one in asked[1:]])
        result[f"{name}_first_ms"] = round(first, 2)
        result[f"{name}_p50_ms"] = measure.median(taken)
    memory, code = measure.rss_mb(), measure.code_mb()
    more, libraries = memory - before, code - code_before
    result |= {
        "rss_mb": memory,
        "rss_bytes_per_chunk": round(more * 2**20 / spec["size"]),
        "rss_without_libraries_bytes_per_chunk": round(
            (more - libraries) * 2**20 / spec["size"]
        ),
    }
    return {**result, "recall_at_10": recall(Path(spec["folder"]), spec["truth"])}


def questions() -> list[str]:
    """Return queries of four words that stand together in some of the texts."""
    from bench.grown import halves

    luck = random.Random(23)  # noqa: S311 - the same questions each time, no secret
    asked: list[str] = []
    while len(asked) < QUERIES:
        words = [
            word
            for word in luck.choice(halves()[0]).split()
            if word.isidentifier() and len(word) > 3
        ]
        if len(words) > 4:
            asked.append(" ".join(luck.sample(words, 4)))
    return asked


def recall(folder: Path, truth: list[list[int]]) -> float:
    """Return the share of the true nearest ten that the index finds; rows are numbered as they were put."""
    from bench.filled import SETTINGS
    from bench.grown import NEAR, query_vectors
    from ragstone import Engine
    from ragstone.types import Scope

    with Engine.open(folder, config=SETTINGS) as engine:
        held = engine.workspace.components
        (info,) = held.store.vectors.spaces(Scope(engine.project))
        search: Callable[..., Any] = held.space_index(engine.project, info).search
        found = [
            {row.id for row in search(vector, NEAR)} for vector in query_vectors(len(truth))
        ]
    return round(
        sum(len(set(right) & rows) for right, rows in zip(truth, found, strict=True))
        / NEAR
        / len(truth),
        4,
    )


if __name__ == "__main__":
    measure.answer(lambda spec: build(spec) if spec["phase"] == "build" else query(spec))
