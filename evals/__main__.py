"""`python -m evals`: one set in, its figures out."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bench.provenance import ROOT, save_result
from bench.table import write_table
from evals import (
    chunking,
    code_search,
    codegraph,
    folders,
    frameworks,
    languages,
    locomo,
    off_topic,
    pdf,
    scifact,
    small,
    tune,
)
from evals.history import RESULTS, committed_results
from evals.overview import overview
from evals.papers import OWN_DATA
from evals.run import WAYS, Loader, evaluate, tell
from evals.sets import Absent, EvalSet

LOADERS: dict[str, Loader] = {
    "chunking": chunking.load,
    "code_search": code_search.load,
    "code_search_more": code_search.load,
    "languages": languages.load,
    "locomo": locomo.load,
    "mixed": folders.load,
    "nonsense": small.load_nonsense,
    "off_topic": off_topic.load,
    "pdf": pdf.load,
    "scifact": scifact.load,
    "small": small.load,
}
_TREE_LOADERS = (code_search.load, folders.load, off_topic.load)
OVER_TREES = frozenset(name for name, loader in LOADERS.items() if loader in _TREE_LOADERS)
"""Sets whose documents are trees below `--repos`."""
OWN_SETS = frozenset({"languages", "nonsense", "off_topic", "pdf", "small"})
"""Sets whose questions and documents are in this repository."""
SPLITS = {"code_search_more": ("development", "validation")}
DATA = ROOT.parent / "shared" / "data"
ABSENT = 3
"""The exit code that says: nothing was measured, because the data is not here."""


def arguments(given: list[str] | None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        prog="python -m evals", description="Measure the quality of search."
    )
    parser.add_argument(
        "set",
        choices=[*LOADERS, "all", "codegraph", "frameworks", "tune", "table"],
        help="what to measure; all: every set of questions, in one table; codegraph: what is understood of code; "
        "frameworks: questions about whole applications; "
        "tune: the numbers of ranking, over all sets but the validation split; table: write docs/benchmarks.md",
    )
    parser.add_argument(
        "--split",
        choices=["development", "validation"],
        help="the repositories of code_search_more: choose numbers on development, confirm them on validation",
    )
    parser.add_argument(
        "--embedder", default="minilm", help="the embedder's name (default: minilm)"
    )
    parser.add_argument(
        "--data",
        type=Path,
        help="the set's folder (default: ../shared/data/<set>); for all and tune, the folder of the sets'",
    )
    parser.add_argument(
        "--repos",
        type=Path,
        help="a tree per name, as NAME or SET/NAME (for code_search, code_search_more, mixed, codegraph and frameworks)",
    )
    parser.add_argument(
        "--limit", type=int, help="only the first N questions; nothing is written to results"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        help="keep the indexes in this folder, so that a second run is quicker",
    )
    parser.add_argument(
        "--no-merge",
        action="store_true",
        help="do not merge neighbouring hits; nothing is written",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(given)
    if options.split and options.set not in SPLITS:
        parser.error(f"--split: only {', '.join(SPLITS)} has splits")
    return options


def load(
    options: argparse.Namespace, name: str, folder: Path | None, split: str | None = None
) -> EvalSet:
    """Return a set, or raise `Absent`."""
    more: dict[str, Any] = {}
    if name in OVER_TREES:
        more = {"repos": options.repos, "name": name}
    if name == "mixed":
        more["own"] = OWN_DATA / name
    if split is not None:
        more["split"] = split
    default = OWN_DATA if name in OWN_SETS else DATA / name
    return LOADERS[name](folder or default, options.limit, **more)


def measure_set(options: argparse.Namespace, name: str, split: str | None) -> dict[str, Any]:
    """Return the figures of a set, or raise `Absent`; those of a complete set are written to a file."""
    folder = options.data
    if options.set == "all" and folder is not None:
        folder = None if name in OWN_SETS else folder / name
    chosen = load(options, name, folder, split)
    for note in chosen.notes:
        tell(note)
    keep = options.keep / name if options.keep else None
    result = evaluate(chosen, options.embedder, keep=keep, merge=not options.no_merge)
    if options.limit is None and not options.no_merge and chosen.is_complete:
        tell(f"written: {save_result(result_name(options, name, split), result, RESULTS)}")
    return result


def result_name(options: argparse.Namespace, name: str, split: str | None) -> str:
    """Return the name that a result is kept under: the set, its split, and the embedder if it is another one."""
    parts = [name, split]
    if options.embedder != "minilm":
        parts.append(options.embedder)
    return "@".join(part for part in parts if part)


def measure_all(options: argparse.Namespace) -> int:
    """Print one table over every set that is there, and return the exit code."""
    committed = committed_results()
    results: dict[str, dict[str, Any]] = {}
    for name in LOADERS:
        for split in SPLITS.get(name, (None,)):
            try:
                result = measure_set(options, name, split)
            except Absent as absent:
                tell(f"left out: {absent}")
            else:
                results[result_name(options, name, split)] = result
    if not results:
        return skipped(options, "no set is there: point --data at a folder with them")
    if options.json:
        sys.stdout.write(json.dumps(results, indent=1) + "\n")
    else:
        sys.stdout.write(overview(results, committed))
    return 0


def cross_validated(options: argparse.Namespace) -> int:
    """Return the exit code, the numbers of ranking cross-validated over the sets that are there."""
    sets = []
    # The sets of this repository are measured only: a replay knows no filters, and no number is chosen on them.
    for name in (name for name in LOADERS if name not in OWN_SETS):
        try:
            # Numbers are never chosen on the validation split.
            split = "development" if name in SPLITS else None
            sets.append(load(options, name, (options.data or DATA) / name, split))
        except Absent as absent:
            tell(f"left out: {absent}")
    if len(sets) < 2:
        return skipped(options, "cross-validation needs two sets or more")
    result = tune.tune(sets, options.embedder, keep=options.keep)
    if options.limit is None:
        target = RESULTS / "tune.json"
        target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        tell(f"written: {target.relative_to(ROOT)}")
    sys.stdout.write(
        json.dumps(result, indent=1) + "\n" if options.json else tune.table(result)
    )
    return 0


def understood(options: argparse.Namespace) -> int:
    """Return the exit code, the graph of code measured against its oracles and questions."""
    try:
        chosen = codegraph.load(
            options.data or DATA / "codegraph", options.limit, repos=options.repos
        )
    except Absent as absent:
        return skipped(options, str(absent))
    for note in chosen.notes:
        tell(note)
    result = codegraph.measure(chosen, options.embedder, keep=options.keep)
    if options.limit is None:
        name = result_name(options, "codegraph", None)
        tell(f"written: {save_result(name, result, RESULTS)}")
    sys.stdout.write(
        json.dumps(result, indent=1) + "\n" if options.json else codegraph.table(result)
    )
    return 0


def answered(options: argparse.Namespace) -> int:
    """Return the exit code, the answers about whole applications measured."""
    questions = (options.data or OWN_DATA) / "frameworks.jsonl"
    try:
        chosen = frameworks.load(questions, options.limit, repos=options.repos)
    except Absent as absent:
        return skipped(options, str(absent))
    result = frameworks.measure(chosen, options.embedder, keep=options.keep)
    if options.limit is None and not chosen.missing:
        tell(
            f"written: {save_result(result_name(options, 'frameworks', None), result, RESULTS)}"
        )
    sys.stdout.write(
        json.dumps(result, indent=1) + "\n" if options.json else frameworks.table(result)
    )
    return 0


def main(given: list[str] | None = None) -> int:
    """Return the exit code: 0 measured, 3 nothing to measure on."""
    options = arguments(given)
    if options.set == "table":
        tell(f"written: {write_table()}")
        return 0
    if options.set == "tune":
        return cross_validated(options)
    if options.set == "codegraph":
        return understood(options)
    if options.set == "frameworks":
        return answered(options)
    if options.set == "all":
        return measure_all(options)
    try:
        result = measure_set(options, options.set, options.split)
    except Absent as absent:
        return skipped(options, str(absent))
    sys.stdout.write(json.dumps(result, indent=1) + "\n" if options.json else table(result))
    return 0


def skipped(options: argparse.Namespace, reason: str) -> int:
    """Return the exit code for absent data, having said so."""
    if options.json:
        sys.stdout.write(
            json.dumps({"set": options.set, "embedder": options.embedder, "skipped": reason})
            + "\n"
        )
    tell(f"skipped: {reason}")
    return ABSENT


def table(result: dict[str, Any]) -> str:
    """Return the figures as a plain table."""
    metrics = list(result["hybrid"])
    lines = [f"{result['set']} with {result['embedder']}: {result['questions']} questions"]
    lines.append("".join([f"{'':<10}", *(f"{metric:>24}" for metric in metrics)]))
    for way in WAYS:
        lines.append(
            "".join([f"{way:<10}", *(f"{result[way][metric]:>24.4f}" for metric in metrics)])
        )
    for pair, found in result["differences"].items():
        lines.append(
            "".join([f"{pair}: ", *(shown(metric, found[metric]) for metric in metrics)])
        )
    return "\n".join(lines) + "\n"


def shown(metric: str, difference: dict[str, float]) -> str:
    """Return one difference in words."""
    return f"{metric} {difference['difference']:+.4f} ± {difference['standard_error']:.4f} (p {difference['p']:.3f})  "


if __name__ == "__main__":
    raise SystemExit(main())
