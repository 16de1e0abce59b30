"""Sync: nothing changed among many files, and one file edited until it is found."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import measure
from bench.first_answer import command
from bench.measure import child, tell

REPEATS = 5
FILE_CHARACTERS = 200
PER_FOLDER = 100


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return our figures: there is no peer that keeps a folder level."""
    return {"ours": child("bench.sync", {"files": options.files}, cores=2), "ratios": {}}


def work(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the times of syncs that find nothing, and of edits until they are found."""
    with tempfile.TemporaryDirectory(
        prefix="ragstone-bench-", ignore_cleanup_errors=True
    ) as temporary:
        folder = Path(temporary) / "project"
        written(folder, spec["files"])
        return in_folder(folder)


def written(folder: Path, count: int) -> None:
    """Write so many small files."""
    from bench.texts import real_texts

    texts = real_texts(count)
    for number in range(count):
        path = folder / f"part{number // PER_FOLDER:03}" / f"note{number:05}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"note {number}\n{texts[number % len(texts)][:FILE_CHARACTERS]}\n", encoding="utf-8"
        )


def in_folder(folder: Path) -> dict[str, Any]:
    """Return the figures for a folder of files."""
    from ragstone import Engine

    with Engine.open(folder) as engine:
        tell("sync: the first one")
        first = engine.sync()
        result: dict[str, Any] = {
            "files": first.found,
            "first_s": round(first.seconds, 2),
            "embedded": first.embedded,
        }
        again = [engine.sync() for _ in range(REPEATS)]
        result["unchanged_s"] = measure.median([report.seconds for report in again])
        result["unchanged_embedded"] = max(report.embedded for report in again)
        result["unchanged_files"] = again[-1].unchanged
        path = folder / "part000" / "note00007.txt"
        result["edited_ms"] = measure.median(
            [edited(engine, path, number, None) for number in range(REPEATS)]
        )
        result["edited_named_ms"] = measure.median(
            [edited(engine, path, number + REPEATS, [path]) for number in range(REPEATS)]
        )
    result["unchanged_process_s"] = measure.median(
        [command(folder, "sync", "--json")[0] for _ in range(REPEATS)]
    )
    return result


def edited(engine: Any, path: Path, number: int, paths: list[Path] | None) -> float:  # noqa: ANN401 - an Engine
    """Return the milliseconds from a write until search finds it, vectors included."""
    word = f"zyzzyva{number}"
    path.write_text(f"note 7\nthe {word} crosses the river\n", encoding="utf-8")
    started = time.perf_counter()
    report = engine.sync(paths)
    hits = engine.search(word, top_k=1)
    taken = (time.perf_counter() - started) * 1000
    if not hits or word not in hits[0].text or report.pending:
        raise measure.Failed(f"the edit {word} was not found")
    return taken


if __name__ == "__main__":
    measure.answer(work)
