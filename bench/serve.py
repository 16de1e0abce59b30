"""The server under load: 64 clients send searches at a fixed rate, whether it keeps up or not.

Our server embeds the question and searches by words and vectors. Chroma's server takes vectors only: there the process
of the clients embeds the question, with the same embedder on one thread, and the server searches by vectors. So all CPU
time of a question, embedding included, is taken from the same cores on both sides.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench import grown, measure
from bench.chroma_server import running_chroma
from bench.filled import fill
from bench.load import CLIENTS, OK, MakeBody, cpu_seconds, memory_mb, send_at_rate
from bench.measure import tell
from ragstone.embed.minilm import MiniLM

if TYPE_CHECKING:
    from bench.matrix import Floats

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
WARM_UP_SECONDS = 5.0
WORKERS = os.cpu_count() or 1
TOO_MANY = 429


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return the answers, refusals, times, CPU time and memory at each rate, of ours and of a Chroma server."""
    seconds = SECONDS if options.n >= FULL else SHORT_SECONDS
    with tempfile.TemporaryDirectory(
        prefix="ragstone-bench-", ignore_cleanup_errors=True
    ) as temporary:
        folder = Path(temporary)
        tell(f"serve: an index of {options.n:,} chunks")
        texts = [text for batch in grown.texts(options.n) for text in batch]
        random_rows = np.random.default_rng(1).standard_normal((len(texts), DIMENSION))
        norms = np.linalg.norm(random_rows, axis=1, keepdims=True)
        vectors = (random_rows / norms).astype(np.float32)
        fill(folder, texts, vectors)
        asked = questions(texts, int(max(RATES) * (seconds + WARM_UP_SECONDS)))
        result: dict[str, Any] = {"ours": under_load(folder, asked, seconds)}
        if options.peers is None or "chroma" in options.peers:
            chroma = chroma_under_load(folder, texts, vectors, asked, seconds)
            result["peers"] = {"chroma": chroma}
    result["ratios"] = _ratios(result)
    result["data"] = {
        "chunks": options.n,
        "clients": CLIENTS,
        "seconds": seconds,
        "workers": WORKERS,
    }
    return result


def _ratios(result: dict[str, Any]) -> dict[str, float]:
    """Return our answers in a second divided by Chroma's, at each rate."""
    chroma = result.get("peers", {}).get("chroma", {})
    names = [f"{rate}_answered_per_s" for rate in RATES]
    return {name: round(result["ours"][name] / chroma[name], 2) for name in names if chroma}


def questions(texts: list[str], count: int) -> list[str]:
    """Return questions of a few words, each from one text; none is asked twice in a run."""
    chosen = np.random.default_rng(1)
    asked = []
    for number in chosen.integers(len(texts), size=count):
        words = texts[number].split()
        asked.append(" ".join(str(word) for word in chosen.choice(words, WORDS)))
    return asked


def under_load(folder: Path, asked: list[str], seconds: float) -> dict[str, Any]:
    """Return the figures of our server at each rate."""
    command = [sys.executable, "-m", "ragstone", "serve", "--port", "0", "--json", "--no-sync"]
    with subprocess.Popen(
        [*command, "--workers", str(WORKERS), "-C", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdout is not None  # noqa: S101 - a pipe was asked for
        url = json.loads(server.stdout.readline())["url"]

        async def make_body(question: str) -> bytes:
            return json.dumps({"query": question, "fresh": False}).encode()

        try:
            return at_each_rate(f"{url}/api/rag/search", make_body, asked, seconds, server.pid)
        finally:
            server.terminate()


def chroma_under_load(
    folder: Path, texts: list[str], vectors: Floats, asked: list[str], seconds: float
) -> dict[str, Any]:
    """Return the figures of a Chroma server at each rate."""
    embedder = MiniLM(threads=1)

    async def make_body(question: str) -> bytes:
        rows = await asyncio.to_thread(embedder.embed, [question], "query")
        return json.dumps({"query_embeddings": rows.tolist(), "n_results": HITS}).encode()

    with running_chroma(folder, texts, vectors) as server:
        return at_each_rate(server.query_url, make_body, asked, seconds, server.process)


def at_each_rate(
    url: str, make_body: MakeBody, asked: list[str], seconds: float, process: int
) -> dict[str, Any]:
    """Return the figures at each rate, after a short run that warms the server up."""
    warm_up, rest = asked[:1000], asked[1000:]
    asyncio.run(send_at_rate(url, make_body, warm_up, 50, WARM_UP_SECONDS))
    figures: dict[str, Any] = {}
    for rate in RATES:
        tell(f"serve: {rate} requests in a second to {url}")
        memory, cpu, client = memory_mb(process), cpu_seconds(process), time.process_time()
        answers = asyncio.run(send_at_rate(url, make_body, rest, rate, seconds))
        answered = len(answers.milliseconds) or 1
        others = {
            str(status): count
            for status, count in answers.statuses.items()
            if status not in (OK, TOO_MANY)
        }
        figures |= {
            f"{rate}_answered_per_s": round(answered / answers.seconds, 1),
            f"{rate}_refused_429": answers.statuses[TOO_MANY],
            f"{rate}_other": others,
            f"{rate}_p50_ms": round(measure.percentile(answers.milliseconds, 0.5), 1),
            f"{rate}_p99_ms": round(measure.percentile(answers.milliseconds, 0.99), 1),
            f"{rate}_server_cpu_ms": round((cpu_seconds(process) - cpu) / answered * 1000, 2),
            f"{rate}_client_cpu_ms": round((time.process_time() - client) / answered * 1000, 2),
            f"{rate}_rss_mb_before": memory,
            f"{rate}_rss_mb": memory_mb(process),
        }
    return figures
