"""`python -m evals`: one set in, its figures out."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bench.provenance import ROOT, keep
from bench.table import write_table
from evals import chunking, code_search, locomo, scifact
from evals.run import WAYS, Loader, evaluate, tell
from evals.sets import Absent, EvalSet

LOADERS: dict[str, Loader] = {
    "chunking": chunking.load,
    "code_search": code_search.load,
    "locomo": locomo.load,
    "scifact": scifact.load,
}
RESULTS = ROOT / "evals" / "results"
ABSENT = 3
"""The exit code that says: nothing was measured, because the data is not here."""


def arguments(given: list[str] | None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="python -m evals", description="Measure the quality of search.")
    parser.add_argument("set", choices=[*LOADERS, "table"], help="what to measure; table: write docs/benchmarks.md")
    parser.add_argument("--embedder", default="minilm", help="the embedder's name (default: minilm)")
    parser.add_argument("--data", type=Path, help="the set's folder (default: ../shared/data/<set>)")
    parser.add_argument("--repos", type=Path, help="a checked-out tree per repository name (for code_search)")
    parser.add_argument("--limit", type=int, help="only the first N questions; nothing is written to results")
    parser.add_argument("--keep", type=Path, help="keep the indexes in this folder, so that a second run is quicker")
    parser.add_argument("--no-merge", action="store_true", help="do not merge neighbouring hits; nothing is written")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(given)


def load(options: argparse.Namespace) -> EvalSet:
    """Return the chosen set, or raise `Absent`."""
    folder = options.data or ROOT.parent / "shared" / "data" / options.set
    more: dict[str, Any] = {"repos": options.repos} if options.set == "code_search" else {}
    return LOADERS[options.set](folder, options.limit, **more)


def main(given: list[str] | None = None) -> int:
    """Return the exit code: 0 measured, 3 nothing to measure on."""
    options = arguments(given)
    if options.set == "table":
        tell(f"written: {write_table()}")
        return 0
    try:
        chosen = load(options)
    except Absent as absent:
        return skipped(options, str(absent))
    for note in chosen.notes:
        tell(note)
    result = evaluate(chosen, options.embedder, keep=options.keep, merge=not options.no_merge)
    if options.limit is None and not options.no_merge:
        name = options.set if options.embedder == "minilm" else f"{options.set}@{options.embedder}"
        tell(f"written: {keep(RESULTS, name, result)}")
    sys.stdout.write(json.dumps(result, indent=1) + "\n" if options.json else table(result))
    return 0


def skipped(options: argparse.Namespace, reason: str) -> int:
    """Return the exit code for absent data, having said so."""
    if options.json:
        sys.stdout.write(json.dumps({"set": options.set, "embedder": options.embedder, "skipped": reason}) + "\n")
    tell(f"skipped: {reason}")
    return ABSENT


def table(result: dict[str, Any]) -> str:
    """Return the figures as a plain table."""
    metrics = list(result["hybrid"])
    lines = [f"{result['set']} with {result['embedder']}: {result['questions']} questions"]
    lines.append("".join([f"{'':<10}", *(f"{metric:>24}" for metric in metrics)]))
    for way in WAYS:
        lines.append("".join([f"{way:<10}", *(f"{result[way][metric]:>24.4f}" for metric in metrics)]))
    for pair, found in result["differences"].items():
        lines.append("".join([f"{pair}: ", *(shown(metric, found[metric]) for metric in metrics)]))
    return "\n".join(lines) + "\n"


def shown(metric: str, difference: dict[str, float]) -> str:
    """Return one difference in words."""
    return f"{metric} {difference['difference']:+.4f} ± {difference['standard_error']:.4f} (p {difference['p']:.3f})  "


if __name__ == "__main__":
    raise SystemExit(main())
