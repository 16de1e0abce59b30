"""Measures speed, size and memory of search on a folder."""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final

from ragstone.engine.engine import Engine
from ragstone.engine.measure.cold_search import time_cold_search
from ragstone.engine.measure.trial import Timer, open_trial, read_folder, require_free
from ragstone.errors import InputError
from ragstone.protocols import Progress
from ragstone.text import terms
from ragstone.types import Mode

_READ_SHARE: Final = 0.4
_EMBED_SHARE: Final = 0.7
_COLD_RUNS: Final = 3
_QUERIES: Final = 100
_QUERY_WORDS: Final = 4
_MODES: Final[Mapping[str, Mode]] = {"words": "words", "vectors": "vectors", "both": "hybrid"}


@dataclass(frozen=True, slots=True)
class Latency:
    """The time of a warm search in milliseconds: the median, and the time that 95 % of the searches need at most."""

    median: float
    slow: float


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The figures of a folder on this machine."""

    files: int
    chunks: int
    characters: int
    model: str
    sync_seconds: float
    """Reading every file and indexing its words, from nothing."""
    unchanged_seconds: float
    """A second sync, with nothing changed."""
    vectors_per_second: float
    searches: Mapping[str, Latency]
    """The time of a warm search, by words, vectors and both."""
    cold_search_seconds: float | None
    """A search in a new process, with its start; None if none ended in time."""
    disk_bytes: int
    memory_bytes: int | None
    """The most memory that the measuring process had; None if the system does not say."""
    seconds: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BenchmarkRequest:
    """In how much time to measure, with which seed, and whether a service may be paid."""

    seconds: float = 120.0
    seed: int = 1
    may_pay: bool = False


def measure_folder(
    folder: Path, request: BenchmarkRequest, progress: Progress | None = None
) -> Benchmark:
    """Return the speed, size and memory of a folder's index. No index of the user changes."""
    timer = Timer(request.seconds)
    with open_trial(folder) as engine:
        require_free(engine, may_pay=request.may_pay)
        notes: list[str] = []
        started = perf_counter()
        if not read_folder(engine, timer, _READ_SHARE, progress):
            notes.append("the time was not enough to read every file")
        sync_seconds = perf_counter() - started
        documents = list(engine.sources())
        if not documents:
            raise InputError(
                f"there is nothing to index in {folder}", hint="name a folder with -C"
            )
        unchanged_seconds = _time_unchanged(engine) if not notes else 0.0
        queries = _make_queries(engine, [document.uri for document in documents], request.seed)
        engine.search(queries[0], fresh=False)  # loads the model, which the rate must not count
        started = perf_counter()
        vectors = engine.admin.embed(
            seconds=max(1.0, _EMBED_SHARE * request.seconds - timer.spent), progress=progress
        )
        rate = vectors / max(0.001, perf_counter() - started)
        embedded, total = engine.admin.count_vectors()
        if embedded < total:
            notes.append(f"{embedded / total:.0%} of the texts have a vector, for lack of time")
        searches = _time_searches(engine, queries, timer, progress)
        return Benchmark(
            files=len(documents),
            chunks=sum(document.chunks for document in documents),
            characters=sum(document.characters for document in documents),
            model=engine.workspace.components.embedder().space.model,
            sync_seconds=sync_seconds,
            unchanged_seconds=unchanged_seconds,
            vectors_per_second=rate,
            searches=searches,
            cold_search_seconds=_time_cold_search(engine, folder, queries, timer),
            disk_bytes=engine.status().bytes_on_disk,
            memory_bytes=_peak_memory(),
            seconds=timer.spent,
            notes=tuple(notes),
        )


def _time_unchanged(engine: Engine) -> float:
    started = perf_counter()
    engine.sync(embed=False)
    return perf_counter() - started


def _make_queries(engine: Engine, uris: Sequence[str], seed: int) -> list[str]:
    """Return queries of a few words from random documents."""
    chooser = random.Random(seed)  # noqa: S311 - a sample, no secret
    queries = []
    for uri in chooser.choices(list(uris), k=_QUERIES):
        text = engine.admin.text(uri) or uri
        words = list(dict.fromkeys(terms(text[:5000]))) or [uri]
        chosen = chooser.sample(words, k=min(_QUERY_WORDS, len(words)))
        queries.append(" ".join(chosen))
    return queries


def _time_searches(
    engine: Engine, queries: Sequence[str], timer: Timer, progress: Progress | None
) -> dict[str, Latency]:
    """Return the latency of each way to search; later queries are left out if the time is over."""
    milliseconds: dict[str, list[float]] = {name: [] for name in _MODES}
    for done, query in enumerate(queries, start=1):
        for name, mode in _MODES.items():
            started = perf_counter()
            engine.search(query, mode=mode)
            milliseconds[name].append((perf_counter() - started) * 1000)
        if progress:
            progress("searches", done, len(queries))
        if not timer.left:
            break
    return {name: _latency(values) for name, values in milliseconds.items()}


def _latency(milliseconds: Sequence[float]) -> Latency:
    ordered = sorted(milliseconds)
    slow = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return Latency(statistics.median(ordered), slow)


def _time_cold_search(
    engine: Engine, folder: Path, queries: Sequence[str], timer: Timer
) -> float | None:
    """Return the median time of a search in a new process, which opens the same temporary home."""
    seconds: list[float] = []
    for query in queries[:_COLD_RUNS]:
        duration = time_cold_search(folder, engine.settings.home, query)
        if duration is not None:
            seconds.append(duration)
        if not timer.left:
            break
    return statistics.median(seconds) if seconds else None


def _peak_memory() -> int | None:
    """Return the most bytes of memory that this process had; only Linux says it exactly."""
    try:
        status = Path("/proc/self/status").read_text("ascii", "replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None
