"""The server under load: 64 clients send searches at a fixed rate, whether it keeps up or not.

Ours embeds the query and searches by words and vectors. A client of Chroma embeds the query itself, with the same
embedder, and the server searches by vectors only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import numpy as np

from bench import grown, measure
from bench.chroma_server import running_chroma
from bench.filled import fill
from bench.measure import tell
from ragstone.embed.minilm import MiniLM

if TYPE_CHECKING:
    from bench.matrix import Floats

CLIENTS = 64
SECONDS = 60.0
SHORT_SECONDS = 10.0
"""For a smaller index, which is a trial."""
RATES = (200, 400)
"""Requests in a second: the goal, and twice as many."""
FULL = 100_000
DIMENSION = 384
WORDS = 4
HITS = 5
"""As many as our search returns by default."""
OK = 200
Search = Callable[[httpx2.AsyncClient, str], Awaitable[int]]
"""Sends a question and returns the status of its answer."""


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return the answers, refusals and times at each rate, of ours and of a Chroma server."""
    seconds = SECONDS if options.n >= FULL else SHORT_SECONDS
    with tempfile.TemporaryDirectory(
        prefix="ragstone-bench-", ignore_cleanup_errors=True
    ) as temporary:
        folder = Path(temporary)
        tell(f"serve: an index of {options.n:,} chunks")
        texts = next(grown.texts(options.n))
        random_rows = np.random.default_rng(1).standard_normal((len(texts), DIMENSION))
        norms = np.linalg.norm(random_rows, axis=1, keepdims=True)
        vectors = (random_rows / norms).astype(np.float32)
        fill(folder, texts, vectors)
        asked = questions(texts)
        result: dict[str, Any] = {"ours": under_load(folder, asked, seconds)}
        if options.peers is None or "chroma" in options.peers:
            result["peers"] = {"chroma": chroma_under_load(folder, texts, vectors, seconds)}
    result["ratios"] = _ratios(result)
    result["data"] = {"chunks": options.n, "clients": CLIENTS, "seconds": seconds}
    return result


def _ratios(result: dict[str, Any]) -> dict[str, float]:
    """Return our answers in a second divided by Chroma's, at each rate."""
    chroma = result.get("peers", {}).get("chroma", {})
    names = [f"{rate}_answered_per_s" for rate in RATES]
    return {name: round(result["ours"][name] / chroma[name], 2) for name in names if chroma}


def questions(texts: list[str]) -> list[str]:
    """Return questions of a few words, each from one text."""
    chosen = np.random.default_rng(1)
    asked = []
    for number in chosen.integers(len(texts), size=500):
        words = texts[number].split()
        asked.append(" ".join(str(word) for word in chosen.choice(words, WORDS)))
    return asked


def under_load(folder: Path, asked: list[str], seconds: float) -> dict[str, Any]:
    """Return the figures of a server at each rate."""
    command = [sys.executable, "-m", "ragstone", "serve", "--port", "0", "--json", "--no-sync"]
    figures: dict[str, Any] = {}
    with subprocess.Popen(
        [*command, "-C", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdout is not None  # noqa: S101 - a pipe was asked for
        url = json.loads(server.stdout.readline())["url"]
        try:
            for rate in RATES:
                tell(f"serve: {rate} requests in a second")
                figures |= asyncio.run(send(our_search(url), asked, rate, seconds))
                figures[f"{rate}_rss_mb"] = memory_mb(server.pid)
        finally:
            server.terminate()
    return figures


def our_search(url: str) -> Search:
    """Return a function that sends a hybrid search to our server."""

    async def search(client: httpx2.AsyncClient, question: str) -> int:
        body = {"query": question, "fresh": False}
        response = await client.post(f"{url}/api/rag/search", json=body)
        return response.status_code

    return search


def chroma_under_load(
    folder: Path, texts: list[str], vectors: Floats, seconds: float
) -> dict[str, Any]:
    """Return the figures of a Chroma server at each rate."""
    figures: dict[str, Any] = {}
    embedder = MiniLM(threads=1)
    with running_chroma(folder, texts, vectors) as server:

        async def search(client: httpx2.AsyncClient, question: str) -> int:
            rows = await asyncio.to_thread(embedder.embed, [question], "query")
            body = {"query_embeddings": rows.tolist(), "n_results": HITS}
            response = await client.post(server.query_url, json=body)
            return response.status_code

        for rate in RATES:
            tell(f"chroma: {rate} requests in a second")
            figures |= asyncio.run(send(search, questions(texts), rate, seconds))
            figures[f"{rate}_rss_mb"] = memory_mb(server.process)
    return figures


async def send(search: Search, asked: list[str], rate: int, seconds: float) -> dict[str, Any]:
    """Send searches at a rate and return how they were answered."""
    times: list[float] = []
    statuses: Counter[int] = Counter()
    limits = httpx2.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    patience = httpx2.Timeout(60, pool=None)
    async with httpx2.AsyncClient(limits=limits, timeout=patience, trust_env=False) as client:

        async def send_one(question: str) -> None:
            started = time.perf_counter()
            status = await search(client, question)
            statuses[status] += 1
            if status == OK:
                times.append((time.perf_counter() - started) * 1000)

        for question in asked[:20]:
            await send_one(question)
        times.clear()
        statuses.clear()
        started = time.perf_counter()
        tasks: list[asyncio.Task[None]] = []
        while (elapsed := time.perf_counter() - started) < seconds:
            while len(tasks) < elapsed * rate:
                tasks.append(asyncio.create_task(send_one(asked[len(tasks) % len(asked)])))
            await asyncio.sleep(0.002)
        await asyncio.gather(*tasks)
        elapsed = time.perf_counter() - started
    others = {status: count for status, count in statuses.items() if status not in (200, 429)}
    return {
        f"{rate}_answered_per_s": round(len(times) / elapsed, 1),
        f"{rate}_refused_429": statuses[429],
        f"{rate}_other": others,
        f"{rate}_p50_ms": round(measure.percentile(times, 0.5), 1),
        f"{rate}_p99_ms": round(measure.percentile(times, 0.99), 1),
    }


def memory_mb(process: int) -> float:
    """Return the resident memory of a process; 0 if the system does not say."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return 0.0
    for line in status.read_text().splitlines():
        if line.startswith("VmRSS"):
            return round(int(line.split()[1]) / 1000, 1)
    return 0.0
