"""Search from text to cited hits, warm: the same texts, the same vectors, the same model for queries."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import measure, peers
from bench.measure import CACHE, Failed, child, tell
from bench.texts import TYPED_WORDS

if TYPE_CHECKING:
    from bench.matrix import Floats

TOP = 5
PEERS = {"chroma+rank_bm25": "chroma", "lancedb": "lancedb", "txtai": "txtai"}
QUERIES = 200
SLOW_AFTER_S = 40.0
ROUNDS = 5
"""Every way in turn, so often, a slow one less: other work of the machine falls into some of them. The medians are over
all rounds, and beside them that of the quietest one."""
RATIOS = {
    "words": "words_p50_ms",
    "vectors": "vectors_p50_ms",
    "hybrid": "hybrid_p50_ms",
    "build": "build_s",
    "rss": "rss_mb",
}


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return every library's figures, and the ratios of peers to ours."""
    spec = corpus(options.n)
    result: dict[str, Any] = {"ours": one("ours", spec, options, python=None)}
    for name, package in PEERS.items():
        if (
            options.peers is not None
            and name not in options.peers
            and package not in options.peers
        ):
            continue
        if peers.installed(package):
            result[name] = one(name, spec, options, python=str(peers.interpreter()))
        else:
            result[name] = {"skipped": f"not installed: python -m bench peers {package}"}
            tell(f"{name} is skipped: {result[name]['skipped']}")
    result["ratios"] = {
        name: measure.ratios(result["ours"], found, RATIOS)
        for name, found in result.items()
        if name != "ours"
    }
    result["data"] = {
        "chunks": options.n,
        "top_k": TOP,
        "origin": spec["origin"],
        "cores": options.cores,
        "queries": f"{TYPED_WORDS} words or names of held-out texts",
        "query_tokens": query_tokens(spec),
    }
    return result


def corpus(count: int) -> dict[str, Any]:
    """Return where the texts, their vectors and the questions lie, made now if they were not before."""
    from bench.matrix import QUERIES as ALL_QUERIES
    from bench.matrix import REAL, matrices
    from bench.texts import real_texts, spliced, typed

    data = matrices(count)
    texts_path, asked_path = (
        CACHE / f"{data.origin}-{count}-texts.json",
        CACHE / f"{data.origin}-{count}-typed.json",
    )
    if not asked_path.is_file():
        found = real_texts(min(count, REAL) + ALL_QUERIES)
        texts, _ = spliced(found[:-ALL_QUERIES], count)
        texts_path.write_text(json.dumps(texts), "utf-8")
        asked_path.write_text(json.dumps(typed(found[-ALL_QUERIES:])[:QUERIES]), "utf-8")
    return {
        "texts": str(texts_path),
        "questions": str(asked_path),
        "vectors": str(data.vectors),
        "origin": data.origin,
    }


def query_tokens(spec: dict[str, Any]) -> int:
    """Return how many tokens the middle one of the queries has: a query's vector takes longer the more there are."""
    from ragstone.embed.minilm import MiniLM

    count = MiniLM(threads=1).count_tokens
    return sorted(map(count, json.loads(Path(spec["questions"]).read_text("utf-8"))))[
        QUERIES // 2
    ]


def one(
    name: str, spec: dict[str, Any], options: argparse.Namespace, *, python: str | None
) -> dict[str, Any]:
    """Return one library's figures: built in one process, asked in another."""
    tell(f"search: {name}")
    with tempfile.TemporaryDirectory(
        prefix="ragstone-bench-", ignore_cleanup_errors=True
    ) as folder:
        task = {**spec, "name": name, "folder": folder}
        try:
            built = child(
                "bench.search", {**task, "phase": "build"}, python=python, cores=options.cores
            )
            asked = child(
                "bench.search", {**task, "phase": "query"}, python=python, cores=options.cores
            )
        except Failed as failed:
            tell(f"{name} failed: {failed}")
            return {"failed": str(failed)}
    return {**built, **asked}


def build(spec: dict[str, Any]) -> dict[str, Any]:
    """Return how long taking texts and vectors in took; making the vectors is no part of it."""
    import numpy as np

    texts = json.loads(Path(spec["texts"]).read_text("utf-8"))
    vectors, folder = np.load(spec["vectors"]), Path(spec["folder"])
    started = time.perf_counter()
    if spec["name"] == "ours":
        from bench.filled import fill

        fill(folder, texts, vectors)
    else:
        from bench.adapters.text_peers import text_peer

        text_peer(spec["name"]).build(folder, texts, vectors)
    return {
        "chunks": len(texts),
        "build_s": round(time.perf_counter() - started, 2),
        "disk_mb": round(measure.folder_bytes(folder) / 2**20, 1),
    }


def query(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the median time of each way of searching, and the memory it took."""
    asked = json.loads(Path(spec["questions"]).read_text("utf-8"))
    if spec["name"] == "ours":
        from bench.filled import open_ways, warm

        ways: dict[str, Any] = open_ways(Path(spec["folder"]))
        warm(ways, asked[0])
    else:
        from bench.adapters.text_peers import text_peer

        # Only rank_bm25 keeps the texts: it has no file of its own.
        needed = spec["name"].endswith("rank_bm25")
        texts = json.loads(Path(spec["texts"]).read_text("utf-8")) if needed else []
        ways = dict(text_peer(spec["name"]).open(Path(spec["folder"]), texts, query_embedder()))
    rounds = rounds_of(ways, asked)
    result: dict[str, Any] = {}
    for name, found in rounds.items():
        taken = [one for each in found for one in each]
        result[f"{name}_p50_ms"] = measure.median(taken)
        result[f"{name}_p95_ms"] = round(measure.percentile(taken, 0.95), 3)
        result[f"{name}_quiet_p50_ms"] = min(map(measure.median, found))
        result[f"{name}_rounds"] = len(found)
    return {**result, "rss_mb": measure.rss_mb(), "queries": len(asked) - 1}


def rounds_of(ways: dict[str, Any], asked: list[str]) -> dict[str, list[list[float]]]:
    """Return how long each question took in each round of each way; one that is slow is asked no more rounds."""
    rounds: dict[str, list[list[float]]] = {name: [] for name in ways}
    for way in ways.values():
        way(asked[0], TOP)
    for _ in range(ROUNDS):
        for name, way in ways.items():
            if sum(map(sum, rounds[name])) > 1000 * SLOW_AFTER_S / ROUNDS:
                continue
            taken: list[float] = []
            for question in asked[1:]:
                taken += measure.milliseconds([partial(way, question, TOP)])
                if sum(taken) > 1000 * SLOW_AFTER_S:
                    break
            rounds[name].append(taken)
    return rounds


def query_embedder() -> Any:  # noqa: ANN401 - text → vector
    """Return the function that peers make their queries' vectors with: our model, which is quicker than theirs."""
    from ragstone.embed.minilm import MiniLM

    embedder = MiniLM(threads=1)

    def embed(text: str) -> Floats:
        row: Floats = embedder.embed([text], "query")[0]
        return row

    return embed


if __name__ == "__main__":
    measure.answer(lambda spec: build(spec) if spec["phase"] == "build" else query(spec))
