"""The dashboard on a large index: the time the server takes for every page, the first time and once warm.

The folder has copies of the standard library with names of their own, so its code graph, ledger and file states are real.
The vectors are random ones, which changes no time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from httpx2 import Client

from bench import measure
from bench.filled import SETTINGS, fill_vectors
from bench.first_answer import LARGEST
from bench.graph_page import browser_times
from bench.load import cpu_seconds
from bench.measure import Failed, tell
from bench.texts import library, library_files

if TYPE_CHECKING:
    from ragstone import Engine

GOAL_MS = 300
"""No page may take longer (median once warm)."""
REPEATS = 15
DIMENSION = 384
LINES_PER_CHUNK = 18
"""A little more than the chunks of the standard library have."""
SEARCHES = 1000
SESSIONS = 50
TURNS = 10
QUESTION = "parse command line arguments"
NUMBER = "NUMBER"
"""Stands in an address for the number of the request: the answer to a repeated question is kept."""
_DEFINED = re.compile(r"\b(?:def|class) ([A-Za-z]\w+)")
_NAME = re.compile(r"\b[A-Za-z]\w+")


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return the milliseconds of every page, and which ones are above the goal."""
    with tempfile.TemporaryDirectory(
        prefix="ragstone-bench-", ignore_cleanup_errors=True
    ) as temporary:
        folder = Path(temporary) / "project"
        held = build(folder, options.n)
        with serving(folder) as (url, process):
            wait_until_idle(process)
            figures = request_pages(url, process, page_addresses(folder))
            slow = [page for page, times in figures.items() if times["warm_ms"] > GOAL_MS]
            moves = browser_times(url)
    tell(f"dashboard: above {GOAL_MS} ms: {', '.join(slow) or 'none'}")
    return {"ours": figures | moves, "ratios": {}, "data": held}


def build(folder: Path, chunks: int) -> dict[str, int]:
    """Index so many chunks of code, and use the index; return the counts."""
    from ragstone import Engine

    files = copy_library(folder, chunks)
    with Engine.open(folder, config=SETTINGS) as engine:
        tell(f"dashboard: a sync of {files:,} files")
        engine.sync(embed=False)
        stored = engine.status().chunks
        tell(f"dashboard: vectors of {stored:,} chunks")
        rows = np.random.default_rng(1).standard_normal((20_000, DIMENSION), np.float32)
        fill_vectors(engine, rows / np.linalg.norm(rows, axis=1, keepdims=True))
        nodes = len(engine.graph.nodes())
        tell(f"dashboard: {nodes:,} nodes; {SEARCHES} searches, {SESSIONS} sessions")
        use(engine)
        if stored < chunks:
            raise Failed(f"the index has {stored} chunks, not {chunks}")
        return {"chunks": stored, "files": files, "nodes": nodes, "searches": SEARCHES}


def copy_library(folder: Path, chunks: int) -> int:
    """Write copies of the standard library until there are lines for so many chunks; return how many files."""
    lines = files = 0
    sources = [path for path in library_files() if 0 < path.stat().st_size <= LARGEST]
    for copy in count():
        for source in sources:
            if lines >= chunks * LINES_PER_CHUNK:
                return files
            text = source.read_text(encoding="utf-8", errors="replace")
            target = folder / f"copy{copy:02}" / source.relative_to(library())
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(rename(text, f"_{copy}"), encoding="utf-8")
            lines += text.count("\n")
            files += 1
    raise AssertionError("the loop ends by a return")


def rename(text: str, ending: str) -> str:
    """Return a module whose classes and functions have other names, wherever it uses them."""
    names = frozenset(_DEFINED.findall(text))

    def renamed(match: re.Match[str]) -> str:
        return match[0] + ending if match[0] in names else match[0]

    return _NAME.sub(renamed, text)


def use(engine: Engine) -> None:
    """Search and remember, so that the pages about use have something to show."""
    words = ["socket", "parser", "thread", "buffer", "header", "timeout", "locale", "queue"]
    for number in range(SEARCHES):
        first, second = words[number % 8], words[number // 8 % 8]
        engine.search(f"{first} {second} {number}", mode="words", fresh=False)
    for session in range(SESSIONS):
        for turn in range(TURNS):
            engine.remember(
                f"session-{session}", "user", f"turn {turn} is about {words[turn % 8]}"
            )


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    """Give the address of a server of the folder and its process while the block runs."""
    command = [sys.executable, "-m", "ragstone", "serve", "--port", "0", "--json"]
    with subprocess.Popen(
        [*command, "-C", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdout is not None  # noqa: S101 - a pipe was asked for
        try:
            yield json.loads(server.stdout.readline())["url"], server.pid
        finally:
            server.terminate()


def wait_until_idle(process: int) -> None:
    """Wait until the server has loaded the index and compared the folder, so that it uses no more time."""
    used, spent = -1.0, 0.0
    while spent - used > 0.02:
        used = spent
        time.sleep(1)
        spent = cpu_seconds(process)
    tell(f"dashboard: the server has started, with {spent:.1f} s of CPU time")


def page_addresses(folder: Path) -> dict[str, str]:
    """Return name → address of every page, and of the parts that pages ask for later."""
    largest = max(folder.rglob("*.py"), key=lambda path: path.stat().st_size)
    document = quote(largest.relative_to(folder).as_posix())
    question = f"q={quote(QUESTION)}%20{NUMBER}"
    return {
        "Home": "/",
        "Home, the folder": "/overview/folder",
        "Home, plot of searches": "/overview/plots/searches",
        "Home, plot of latency": "/overview/plots/latency",
        "Home, plot of sizes": "/overview/plots/sizes",
        "Collections": "/collections",
        "Collection": "/collections/default",
        "Collection, filtered": "/collections/default?q=json",
        "Collection, of one kind": "/collections/default?kind=code",
        "Collection, sorted": "/collections/default?sort=-chunks&page=20",
        "Ledger": "/collections/default?view=ledger",
        "Document, the largest": f"/documents/default/{document}",
        "Search, empty": "/search",
        "Search": f"/search?{question}",
        "Search, two settings": f"/search?{question}&compare=1&b_mode=words",
        "Search, context": f"/search/context?{question}",
        "Search, why not that file": f"/search/why?{question}&file={document}",
        "Graph": "/graph",
        "Graph, the picture": "/graph/picture",
        "Memory": "/memory",
        "Memory, a session": "/memory/session-7",
        "Memory, recall": f"/memory?q=socket%20{NUMBER}",
        "Events": "/events",
        "Settings": "/settings",
    }


def request_pages(
    url: str, process: int, addresses: dict[str, str]
) -> dict[str, dict[str, float]]:
    """Return the time of each page: its first request to a server that has started, and the median of the next ones."""
    figures: dict[str, dict[str, float]] = {}
    with Client(base_url=url, timeout=120, headers={"accept": "text/html"}) as client:
        client.get("/health")
        for page, address in addresses.items():
            first = timed(client, address.replace(NUMBER, "0"))
            before = cpu_seconds(process)
            later = [
                timed(client, address.replace(NUMBER, str(number + 1)))
                for number in range(REPEATS)
            ]
            cpu = cpu_seconds(process) - before
            figures[page] = {
                "first_ms": round(first, 1),
                "warm_ms": round(measure.median(later), 1),
                "slowest_warm_ms": round(max(later), 1),
                "warm_cpu_ms": round(cpu / REPEATS * 1000, 1),
            }
            tell(f"dashboard: {page}: {figures[page]}")
    return figures


def timed(client: Client, address: str) -> float:
    """Return the milliseconds of one request; a page that fails fails the measurement."""
    headers = {"hx-request": "true"} if "view=ledger" in address else {}
    started = time.perf_counter()
    answer = client.get(address, headers=headers)
    taken = (time.perf_counter() - started) * 1000
    if answer.status_code != 200:
        raise Failed(f"{address} was answered with {answer.status_code}")
    return taken
