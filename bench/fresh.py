"""Freshness: what the proof of every hit costs a search, and how long an edit takes to be found and cited."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import measure
from bench.first_answer import command, warmed_up
from bench.measure import Failed, child, tell
from bench.sync import written

SEARCHES = 300
EDITS = 9
COLD = 5
MODES = ("words", "hybrid")


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return our figures: there is no peer that proves its hits."""
    return {"ours": child("bench.fresh", {"files": options.files}, cores=2), "ratios": {}}


def work(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the times of searches with the proof on and off, and of edits until they are found."""
    with tempfile.TemporaryDirectory(
        prefix="ragstone-bench-", ignore_cleanup_errors=True
    ) as temporary:
        folder = Path(temporary) / "project"
        written(folder, spec["files"])
        result = opened(folder)
        warmed_up(Path(temporary) / "warm-up")
        result["edit_cold_ms"] = measure.median(
            [edited_cold(folder, number) for number in range(COLD)]
        )
        return result


def opened(folder: Path) -> dict[str, Any]:
    """Return the figures of an open engine."""
    from ragstone import Engine

    with Engine.open(folder) as engine:
        tell("fresh: the first sync")
        result: dict[str, Any] = {"files": engine.sync().found}
        time.sleep(2.5)  # until every file is old enough for its stamp to be trusted
        result["unchanged_s"] = measure.median([engine.sync().seconds for _ in range(COLD)])
    with Engine.open(folder) as engine:
        started = time.perf_counter()
        engine.search("river", mode="words")
        result["first_search_ms"] = round((time.perf_counter() - started) * 1000, 1)
        result["followed_by"] = engine.admin.watch_method()
        for mode in MODES:
            off, on, grows = proof(engine, mode)
            result.update(
                {f"{mode}_off_p50_ms": off, f"{mode}_on_p50_ms": on, f"{mode}_grows_ms": grows}
            )
        for mode in MODES:
            edits = [edited(engine, folder, number, mode) for number in range(EDITS)]
            result[f"edit_{mode}_ms"] = measure.median(edits)
    return result


def proof(engine: Any, mode: str) -> tuple[float, float, float]:  # noqa: ANN401 - an Engine
    """Return the medians without and with the proof, and of what each pair differs by.

    Both are asked in turns, behind a first time that pays for what is read from disk; a space more makes another query
    of the same words, so no answer is remembered.
    """
    words = (
        "socket",
        "thread",
        "json",
        "email",
        "path",
        "queue",
        "return",
        "value",
        "file",
        "error",
    )
    taken: dict[bool, list[float]] = {False: [], True: []}
    for number in range(SEARCHES):
        query = f"{words[number % 10]} {words[number // 10 % 10]} {number}"
        engine.search(query, mode=mode, fresh=False)
        for spaces, fresh in enumerate((False, True) if number % 2 else (True, False), start=1):
            started = time.perf_counter()
            hits = engine.search(query + " " * spaces, mode=mode, fresh=fresh)
            taken[fresh].append((time.perf_counter() - started) * 1000)
            if fresh and any(hit.freshness != "fresh" for hit in hits):
                raise Failed("a file that nobody touched is not fresh")
    pairs = zip(taken[True], taken[False], strict=True)
    return (
        measure.median(taken[False]),
        measure.median(taken[True]),
        measure.median([on - off for on, off in pairs]),
    )


def edited(engine: Any, folder: Path, number: int, mode: str) -> float:  # noqa: ANN401 - an Engine
    """Return the milliseconds from a write until the open engine cites it, of a file that was no hit before."""
    word = f"zyzzyva{mode}{number}"
    path = folder / f"part{number:03}" / f"note{number * 100 + 7:05}.txt"
    path.write_text(f"note\nthe {word} crosses the river\n", encoding="utf-8")
    started = time.perf_counter()
    hits = engine.search(word, top_k=1, mode=mode)
    taken = (time.perf_counter() - started) * 1000
    if not hits or word not in hits[0].text or hits[0].freshness != "refreshed":
        raise Failed(f"the edit {word} was not found")
    return taken


def edited_cold(folder: Path, number: int) -> float:
    """Return the milliseconds that a whole `ragstone search` takes to find what was just written."""
    word = f"quagga{number}"
    path = folder / "part000" / f"note{number:05}.txt"
    path.write_text(f"note\nthe {word} crosses the river\n", encoding="utf-8")
    seconds, hits = command(folder, "search", word, "--mode", "words", "--json")
    if not hits:
        raise Failed(f"the edit {word} was not found")
    return seconds * 1000


if __name__ == "__main__":
    measure.answer(work)
