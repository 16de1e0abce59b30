"""One table over all sets: words, vectors, both and RRF, and the difference to the last committed run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WAYS = ("words", "vectors", "hybrid", "rrf")
HEADS = ("words", "vectors", "both", "RRF", "± SE", "worst group", "since last")
NAME_WIDTH, FIGURE_WIDTH = 30, 13


def overview(
    results: Mapping[str, Mapping[str, Any]], committed: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the table. "worst group" is the lowest of both − max(words, vectors) over the groups of a set."""
    lines = [f"{'':<{NAME_WIDTH}}" + "".join(f"{head:>{FIGURE_WIDTH}}" for head in HEADS)]
    for name, result in results.items():
        cells = row_of(result, committed.get(name))
        lines.append(
            f"{name:<{NAME_WIDTH}}" + "".join(f"{cell:>{FIGURE_WIDTH}}" for cell in cells)
        )
    return "\n".join(lines) + "\n"


def row_of(result: Mapping[str, Any], earlier: Mapping[str, Any] | None) -> list[str]:
    """Return the cells of one set."""
    metric = result["headline"]
    digits = 4 if result["hybrid"][metric] <= 1 else 2
    cells = [f"{result[way][metric]:.{digits}f}" for way in WAYS]
    cells.append(f"{result['standard_error']['hybrid']:.{digits}f}")
    cells.append(f"{worst_group(result):+.{digits}f}")
    before = (earlier or {}).get("hybrid", {}).get(metric)
    if before is None:
        return [*cells, "new"]
    return [*cells, f"{result['hybrid'][metric] - before:+.{digits}f}"]


def worst_group(result: Mapping[str, Any]) -> float:
    """Return the lowest of both − max(words, vectors) over the groups, or over the whole set if it has none."""
    metric = result["headline"]
    groups = result.get("by_corpus")
    if groups is None:
        groups = {way: {"": result[way][metric]} for way in WAYS}
    margins = []
    for name, both in groups["hybrid"].items():
        best_part = max(groups["words"][name], groups["vectors"][name])
        margins.append(both - best_part)
    return float(min(margins))
