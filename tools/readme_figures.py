"""The table of quality in the README, from the results in evals/results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

RESULTS: Final = Path(__file__).resolve().parent.parent / "evals" / "results"
HEADER: Final = "| quality, built-in model | words | vectors | both | measured with |\n|---|---|---|---|---|\n"


class QualityRow(NamedTuple):
    """A row of the table: its title, its data set, and the figure of that set."""

    title: str
    data_set: str
    figure: str
    format: str


ROWS: Final = (
    QualityRow(
        "code search in repositories that no number was chosen on, NDCG@10 by chunk",
        "code_search_more@validation",
        "ndcg_at_10_by_chunk",
        ".3f",
    ),
    QualityRow("folders with code and documents, MRR", "mixed", "mrr", ".3f"),
    QualityRow("documents (SciFact), nDCG@10", "scifact", "ndcg_at_10", ".3f"),
    QualityRow("questions to exact passages, recall at 5", "chunking", "recall", ".1f"),
    QualityRow("conversations (LoCoMo), recall at 10", "locomo", "recall_at_10", ".1f"),
)


def newest_result(data_set: str) -> dict[str, Any]:
    """Return the newest result of a data set."""
    files = [json.loads(path.read_text("utf-8")) for path in RESULTS.glob(f"{data_set}-*.json")]
    newest = max(files, key=lambda content: str(content["date"]))
    result: dict[str, Any] = newest["results"][data_set]
    return result


def quality_table() -> str:
    """Return the table in Markdown; the best figure of a row is bold."""
    lines = []
    for row in ROWS:
        result = newest_result(row.data_set)
        values = [result[mode][row.figure] for mode in ("words", "vectors", "hybrid")]
        cells = [f"{value:{row.format}}" for value in values]
        best = values.index(max(values))
        cells[best] = f"**{cells[best]}**"
        name, _, split = row.data_set.partition("@")
        command = f"`python -m evals {name}`"
        if split:
            command = f"`python -m evals {name} --split {split}`"
        lines.append(f"| {row.title} | {' | '.join(cells)} | {command} |\n")
    return HEADER + "".join(lines)
