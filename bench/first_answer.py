"""The first answer in a folder never seen, and the next ones: whole processes, started cold."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import measure
from bench.measure import Failed, tell
from bench.texts import library, library_files

QUERY = "parse command line arguments"
REPEATS = 7
LARGEST = 64_000
"""Larger files of the standard library are tables and test data, not what a repository is made of."""


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return how long whole `ragstone search` processes take in a folder of so many files."""
    with tempfile.TemporaryDirectory(prefix="ragstone-bench-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "project"
        files, size = copied(folder, options.files)
        ours: dict[str, Any] = {"files": files, "megabytes": round(size / 2**20, 1), "cores": os.cpu_count()}
        tell(f"first_answer: {files} files")
        warmed_up(Path(temporary) / "warm-up")
        seconds, hits = command(folder, "search", QUERY, "--mode", "words", "--json")
        ours.update(first_words_s=seconds, first_hits=hits)
        ours["words_ms"] = repeated(folder, "words")
        tell("first_answer: filling vectors")
        ours["sync_vectors_s"] = command(folder, "sync", "--json")[0]
        ours["chunks"], ours["embedded"] = counts(folder)
        if ours["sync_vectors_s"] > 0:
            ours["chunks_per_s"] = round(ours["embedded"] / ours["sync_vectors_s"], 1)
        ours["hybrid_ms"] = repeated(folder, "hybrid")
        ours["help_ms"] = measure.median([command(folder, "--help")[0] * 1000 for _ in range(REPEATS)])
        shutil.rmtree(folder / ".ragstone", ignore_errors=True)
        seconds, hits = command(folder, "search", QUERY, "--json")
        ours.update(first_default_s=seconds, first_default_hits=hits)
    return {"ours": ours, "ratios": {}}


def warmed_up(folder: Path) -> None:
    """Leave byte code behind in a folder of one file, as installing does: compiling our own modules is not measured."""
    folder.mkdir()
    (folder / "note.txt").write_text("a note about command line arguments\n", encoding="utf-8")
    for words in (("sync", "--json"), ("search", QUERY, "--json"), ("--help",)):
        command(folder, *words)


def copied(target: Path, count: int) -> tuple[int, int]:
    """Return how many files of the standard library were copied, evenly chosen, and their bytes."""
    found = [path for path in library_files() if path.stat().st_size <= LARGEST]
    chosen = [found[number * len(found) // count] for number in range(count)] if count < len(found) else found
    size = number = 0
    for path in chosen:
        place = target / path.relative_to(library())
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        number, size = number + 1, size + place.stat().st_size
    return number, size


def command(folder: Path, *words: str) -> tuple[float, int]:
    """Return how long a `ragstone` process took from start to end, and how many hits it printed."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ragstone", *words],
        cwd=folder,
        env=measure.as_installed(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=3600,
        check=False,
    )
    seconds = round(time.perf_counter() - started, 4)
    if done.returncode != 0:
        raise Failed(f"ragstone {' '.join(words)}: {done.stderr.strip()[-300:]}")
    return seconds, hits_in(done.stdout)


def hits_in(printed: str) -> int:
    """Return how many hits a JSON answer holds, 0 where it is none."""
    try:
        found = json.loads(printed)
    except json.JSONDecodeError:
        return 0
    if isinstance(found, dict):
        found = found.get("hits", found.get("results", []))
    return len(found) if isinstance(found, list) else 0


def repeated(folder: Path, mode: str) -> float:
    """Return the median time of cold searches in the indexed folder, in milliseconds."""
    queries = [f"{QUERY} {word}" for word in ("socket", "thread", "json", "email", "path", "queue", "zip")][:REPEATS]
    return measure.median([command(folder, "search", one, "--mode", mode, "--json")[0] * 1000 for one in queries])


def counts(folder: Path) -> tuple[int, int]:
    """Return how many chunks there are and how many have a vector."""
    from ragstone import Engine

    with Engine.open(folder) as engine:
        status = engine.status()
    return status.chunks, max((space.embedded for space in status.spaces), default=0)
