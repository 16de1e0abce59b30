"""Chunking: questions with the exact excerpts that answer them, over several corpora in one index."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evals.metrics import Place, coverage, within_budget
from evals.sets import Ask, Case, Corpus, EvalSet, Score, required

if TYPE_CHECKING:
    from ragstone.types import Document

TOP = 5
BUDGET = 4_000
BUDGET_CANDIDATES = 20
"""Hits asked for to fill the budget: enough for chunks of 200 characters."""

FIELD_LIMIT = 1 << 24
"""A question's references stand in one CSV field, longer than csv allows by itself."""


def load(folder: Path, limit: int | None = None) -> EvalSet:
    """Return the set from a folder with `corpora/*.md` and `questions_df.csv`."""
    required(folder, "point --data at a folder with corpora/ and questions_df.csv")
    corpora = sorted(required(folder / "corpora", "the set needs its corpora").iterdir())
    documents = [as_document(path) for path in corpora if path.is_file()]
    uris = {Path(document.uri).stem: document.uri for document in documents}
    cases = [
        Case(query=question, collection="default", score=scorer(places))
        for question, places in questions(folder / "questions_df.csv", uris)
    ]
    return EvalSet(
        name="chunking",
        corpora=[Corpus("chunking", {"default": documents}, cases[:limit])],
        headline="recall",
    )


def questions(path: Path, uris: Mapping[str, str]) -> list[tuple[str, list[Place]]]:
    """Return each question with the places of its excerpts; a corpus that is not there keeps its own name."""
    csv.field_size_limit(FIELD_LIMIT)
    with required(path, "the set needs its questions").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = list(csv.DictReader(file))
    return [
        (
            row["question"],
            [
                (
                    uris.get(row["corpus_id"], row["corpus_id"]),
                    int(part["start_index"]),
                    int(part["end_index"]),
                )
                for part in json.loads(row["references"])
            ],
        )
        for row in rows
    ]


def as_document(path: Path) -> Document:
    """Return a file as the engine's own reader gives it, with its text exactly as the offsets count it."""
    from evals.reading import read_file

    return read_file(path, path.name)


def scorer(wanted: list[Place]) -> Score:
    """Return the function that scores one question's hits against its excerpts."""

    def score(ask: Ask) -> dict[str, float]:
        first = [(hit.source_doc_id, hit.span.start, hit.span.end) for hit in ask(TOP, True)]
        top = coverage(first, wanted)
        ranked = [
            (hit.source_doc_id, hit.span.start, hit.span.end)
            for hit in ask(BUDGET_CANDIDATES, True)
        ]
        budget = coverage(within_budget(ranked, BUDGET), wanted)
        return {
            "recall": top.recall,
            "precision": top.precision,
            "iou": top.iou,
            "characters": float(sum(end - start for _, start, end in first)),
            "recall_4000": budget.recall,
            "precision_4000": budget.precision,
            "iou_4000": budget.iou,
        }

    return score
