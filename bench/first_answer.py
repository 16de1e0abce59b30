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

from bench import measure, peers
from bench.measure import Failed, child, tell
from bench.texts import library, library_files

QUERY = "parse command line arguments"
REPEATS = 7
PEERS = {"chroma": "chromadb", "llama-index": "llama-index-core"}
"""Name → the package whose version is told."""
PEER_FILES = 100
"""Files that the quick-starts of peers take in: they embed everything before they answer, which takes long."""
LARGEST = 64_000
"""Larger files of the standard library are tables and test data, not what a repository is made of."""


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return how long whole `ragstone search` processes take in a folder of so many files."""
    with tempfile.TemporaryDirectory(
        prefix="ragstone-bench-", ignore_cleanup_errors=True
    ) as temporary:
        folder = Path(temporary) / "project"
        files, size = copied(folder, options.files)
        ours: dict[str, Any] = {
            "files": files,
            "megabytes": round(size / 2**20, 1),
            "cores": os.cpu_count(),
        }
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
        ours["help_ms"] = measure.median(
            [command(folder, "--help")[0] * 1000 for _ in range(REPEATS)]
        )
        shutil.rmtree(folder / ".ragstone", ignore_errors=True)
        seconds, hits = command(folder, "search", QUERY, "--json")
        ours.update(first_default_s=seconds, first_default_hits=hits)
        return {"ours": ours, **beside(Path(temporary), ours, options)}


def beside(
    temporary: Path, ours: dict[str, Any], options: argparse.Namespace
) -> dict[str, Any]:
    """Return the quick-starts of peers in a part of the files, and the ratios to ours in the very same ones.

    Ours is measured twice there: until it answers by words, and until every piece has a vector and it answers by those.
    A peer embeds fewer pieces of the same files, and not all of each, so that times by vectors are compared a piece.
    What a peer would take for 1,000 files is scaled from its few, its time for one file counted once, and named so.
    """
    few = min(PEER_FILES, options.files)
    folder = temporary / "few"
    files, _ = copied(folder, few)
    ours["same_files"] = files
    ours["same_files_words_s"] = command(folder, "search", QUERY, "--mode", "words", "--json")[
        0
    ]
    shutil.rmtree(folder / ".ragstone", ignore_errors=True)
    made, asked = (
        command(folder, "sync", "--json"),
        command(folder, "search", QUERY, "--mode", "vectors", "--json"),
    )
    ours["same_files_vectors_s"] = round(made[0] + asked[0], 4)
    ours["same_files_pieces"] = counts(folder)[1]
    shutil.rmtree(folder / ".ragstone", ignore_errors=True)
    wanted = [name for name in PEERS if options.peers is None or name in options.peers]
    found = {name: quick_start(name, folder, files) for name in wanted}
    return {**found, "ratios": {name: compared(ours, one) for name, one in found.items()}}


def compared(ours: dict[str, Any], peer: dict[str, Any]) -> dict[str, float]:
    """Return a peer's time until its first answer divided by ours: by words, and by vectors of everything.

    A quick-start embeds the beginning of a file or its larger pieces, we embed all of it: `pieces` tells how many.
    """
    if not peer.get("first_answer_s"):
        return {}
    return {
        "by_words": round(peer["first_answer_s"] / ours["same_files_words_s"], 3),
        "by_vectors": round(peer["first_answer_s"] / ours["same_files_vectors_s"], 3),
    }


def quick_start(name: str, folder: Path, files: int) -> dict[str, Any]:
    """Return how long a peer's quick-start took as a whole process, or why there is no figure."""
    from bench.quick_start import MODEL, NOTES

    if not peers.installed(name):
        skipped = f"not installed: python -m bench peers {name}"
        tell(f"{name} is skipped: {skipped}")
        return {"skipped": skipped}
    tell(f"first_answer: {name}, {files} files")
    with tempfile.TemporaryDirectory(
        prefix="ragstone-bench-", ignore_cleanup_errors=True
    ) as kept:
        spec = {
            "name": name,
            "query": QUERY,
            "folder": str(folder.parent / "warm-up"),
            "kept": f"{kept}/warm-up",
        }
        try:
            run_quick_start(spec)  # leaves its byte code behind, as for ours
            alone, _ = run_quick_start(spec | {"kept": f"{kept}/alone"})
            seconds, told = run_quick_start(
                spec | {"folder": str(folder), "kept": f"{kept}/kept"}
            )
        except Failed as failed:
            tell(f"{name} failed: {failed}")
            return {"failed": str(failed)}
    scaled = round(alone + max(0.0, seconds - alone) * 1000 / files, 1)
    note = f"{NOTES[name]}; {MODEL}"
    version = peers.version(PEERS[name])
    return {
        "version": version,
        "files": files,
        "one_file_s": alone,
        "first_answer_s": seconds,
        **told,
        "scaled_to_1000_files_s": scaled,
        "note": note,
    }


def run_quick_start(spec: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """Return how long the process of a quick-start took on as many cores as ours has, and what it said."""
    started = time.perf_counter()
    told = child(
        "bench.quick_start", spec, python=str(peers.interpreter()), cores=os.cpu_count() or 1
    )
    return round(time.perf_counter() - started, 2), told


def warmed_up(folder: Path) -> None:
    """Leave byte code behind in a folder of one file, as installing does: compiling our own modules is not measured."""
    folder.mkdir()
    (folder / "note.txt").write_text("a note about command line arguments\n", encoding="utf-8")
    for words in (("sync", "--json"), ("search", QUERY, "--json"), ("--help",)):
        command(folder, *words)


def copied(target: Path, count: int) -> tuple[int, int]:
    """Return how many files of the standard library were copied, evenly chosen, and their bytes."""
    found = [path for path in library_files() if path.stat().st_size <= LARGEST]
    chosen = (
        [found[number * len(found) // count] for number in range(count)]
        if count < len(found)
        else found
    )
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
    queries = [
        f"{QUERY} {word}"
        for word in ("socket", "thread", "json", "email", "path", "queue", "zip")
    ][:REPEATS]
    return measure.median(
        [command(folder, "search", one, "--mode", mode, "--json")[0] * 1000 for one in queries]
    )


def counts(folder: Path) -> tuple[int, int]:
    """Return how many chunks there are and how many have a vector."""
    from ragstone import Engine

    with Engine.open(folder) as engine:
        status = engine.status()
    return status.chunks, max((space.embedded for space in status.spaces), default=0)
