"""`ragstone bench`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.engine.measure.benchmark import BenchmarkRequest, measure_folder
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.measure import measure_options, measured_folder
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import format_bytes, print_json, print_notes, print_table
from ragstone.surfaces.cli.progress import ProgressDisplay
from ragstone.surfaces.present.measure import benchmark_json
from ragstone.text.counts import plural

if TYPE_CHECKING:
    from ragstone.engine.measure.benchmark import Benchmark


@click.command(
    cls=ExampleCommand,
    examples=("ragstone bench", "ragstone bench --seconds 30", "ragstone bench -C src --json"),
)
@measure_options
@common_options
def bench(folder: Path | None, as_json: bool, seconds: float, seed: int, yes: bool) -> None:
    """Measure the speed of sync and search on your folder, and the size and memory of its index.

    The folder is indexed in a temporary place, which is removed afterwards. The index that you use is not opened.
    """
    request = BenchmarkRequest(seconds, seed, may_pay=yes)
    root = measured_folder(folder, agreed=yes)
    with ProgressDisplay() as progress:
        benchmark = measure_folder(root, request, progress)
    if as_json:
        print_json(benchmark_json(benchmark))
        return
    print_table(_rows(benchmark), ("cyan", ""))
    print_notes(benchmark.notes)


def _rows(benchmark: Benchmark) -> list[tuple[str, str]]:
    rate = benchmark.files / max(0.001, benchmark.sync_seconds)
    rows = [
        ("folder", f"{plural(benchmark.files, 'file')}, {plural(benchmark.chunks, 'chunk')}"),
        (
            "first sync (words)",
            f"{benchmark.sync_seconds:.2f} s, {plural(round(rate), 'file')} a second",
        ),
        ("sync, nothing new", f"{benchmark.unchanged_seconds * 1000:.0f} ms"),
        ("vectors", f"{benchmark.vectors_per_second:,.0f} a second ({benchmark.model})"),
    ]
    for name, latency in benchmark.searches.items():
        times = f"{latency.median:.1f} ms, 95 % within {latency.slow:.1f} ms"
        rows.append((f"search, {name}", times))
    if benchmark.cold_search_seconds is not None:
        rows.append(("search, new process", f"{benchmark.cold_search_seconds:.2f} s"))
    rows.append(("index on disk", format_bytes(benchmark.disk_bytes)))
    if benchmark.memory_bytes is not None:
        rows.append(("memory, at most", format_bytes(benchmark.memory_bytes)))
    return rows
