"""Questions in German, French, Spanish and Chinese, over English documents and over documents in the same language.

A line of `languages.jsonl` has a language, a topic, and a text or a question. The text of the same topic answers.
"""

from __future__ import annotations

import json
from pathlib import Path

from evals.folders import Wanted, score_documents
from evals.sets import Case, Corpus, EvalSet, limited, required
from ragstone.types import Document

PIVOT = "english"


def load(folder: Path, limit: int | None = None) -> EvalSet:
    """Return the set: for each language, one corpus over English and one over the language itself."""
    path = required(folder / "languages.jsonl", "point --data at a folder with languages.jsonl")
    documents: dict[str, list[Document]] = {}
    cases: dict[str, list[Case]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        uri = f"{row['topic']}.txt"
        if "text" in row:
            documents.setdefault(row["language"], []).append(Document(uri, row["text"]))
        else:
            case = Case(row["question"], "default", score_documents([Wanted(uri, None)]))
            cases.setdefault(row["language"], []).append(case)
    corpora = []
    for language, asked in cases.items():
        for target in (PIVOT, language):
            name = f"{language} over {target}"
            corpora.append(Corpus(name, {"default": documents[target]}, asked))
    return EvalSet(
        name="languages", corpora=limited(corpora, limit), headline="mrr", by_corpus=True
    )
