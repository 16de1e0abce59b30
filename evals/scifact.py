"""SciFact: claims and the abstracts that speak to them, in the BEIR layout."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from evals.metrics import graded_ndcg
from evals.sets import Absent, Ask, Case, Corpus, EvalSet, Score, required
from ragstone.types import Document

TOP = 10
CANDIDATES = 30
"""Hits asked for, so that ten different documents are left when long ones give several."""


def load(folder: Path, limit: int | None = None) -> EvalSet:
    """Return the set from a folder with `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`."""
    required(folder, "point --data at a folder in the BEIR layout")
    corpus = lines(folder / "corpus.jsonl")
    documents = [
        Document(
            uri=str(item["_id"]), text=f"{item.get('title', '')}\n\n{item['text']}".strip()
        )
        for item in corpus
    ]
    judged = judgements(folder / "qrels")
    cases = [
        Case(query=item["text"], collection="default", score=scorer(judged[str(item["_id"])]))
        for item in lines(folder / "queries.jsonl")
        if str(item["_id"]) in judged
    ]
    return EvalSet(
        name="scifact",
        corpora=[Corpus("scifact", {"default": documents}, cases[:limit])],
        headline="ndcg_at_10",
    )


def lines(path: Path) -> list[dict[str, str]]:
    """Return the objects of a JSON Lines file."""
    text = required(path, "the set is not whole").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def judgements(folder: Path) -> dict[str, dict[str, float]]:
    """Return query → document → grade from `test.tsv`, or from the only table there is."""
    tables = sorted(folder.glob("*.tsv"))
    chosen = next(
        (table for table in tables if table.stem == "test"), tables[0] if tables else None
    )
    if chosen is None:
        raise Absent(f"{folder} has no table of judgements")
    grades: dict[str, dict[str, float]] = {}
    with chosen.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if float(row["score"]) > 0:
                grades.setdefault(row["query-id"], {})[row["corpus-id"]] = float(row["score"])
    return grades


def scorer(grades: dict[str, float]) -> Score:
    """Return the function that gives NDCG@10 over documents, each at its best hit's place."""

    def score(ask: Ask) -> dict[str, float]:
        return {
            "ndcg_at_10": graded_ndcg(
                [hit.source_doc_id for hit in ask(CANDIDATES, True)], grades, TOP
            )
        }

    return score
