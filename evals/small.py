"""Folders of 1 to 20 documents: each has its own index.

A line of `small.jsonl` is a folder: its documents by path, and questions with the right document. A question with no
document is nonsense: search should find nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evals.folders import Wanted, score_documents
from evals.sets import Ask, Case, Corpus, EvalSet, limited, required
from ragstone.types import Document

FIRST_HITS = 5


def load(folder: Path, limit: int | None = None) -> EvalSet:
    """Return the questions that have an answer."""
    corpora = []
    for row in read_folders(folder):
        cases = []
        for question in row["questions"]:
            if question["document"] is not None:
                score = score_documents([Wanted(question["document"], None)])
                cases.append(Case(question["question"], "default", score))
        corpora.append(make_corpus(row, cases))
    return EvalSet(name="small", corpora=limited(corpora, limit), headline="top_3")


def load_nonsense(folder: Path, limit: int | None = None) -> EvalSet:
    """Return the questions that have no answer."""
    corpora = []
    for row in read_folders(folder):
        cases = []
        for question in row["questions"]:
            if question["document"] is None:
                cases.append(Case(question["question"], "default", score_silence))
        corpora.append(make_corpus(row, cases))
    return EvalSet(name="nonsense", corpora=limited(corpora, limit), headline="silent")


def read_folders(folder: Path) -> list[dict[str, Any]]:
    """Return the folders of `small.jsonl`."""
    path = required(folder / "small.jsonl", "point --data at a folder with small.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def make_corpus(row: dict[str, Any], cases: list[Case]) -> Corpus:
    """Return a folder with its questions; kind and language are the engine's own choice."""
    from ragstone.read.choose_reader import reader_for

    documents: list[Document] = []
    for path, text in row["documents"].items():
        content = text.encode("utf-8")
        documents.append(reader_for(path, content).read(content, path))
    return Corpus(row["folder"], {"default": documents}, cases)


def score_silence(ask: Ask) -> dict[str, float]:
    """Return 1 as `silent` if a question finds nothing, and the share answered as its opposite."""
    is_answered = bool(ask(FIRST_HITS, True))
    return {"silent": float(not is_answered), "answered": float(is_answered)}
