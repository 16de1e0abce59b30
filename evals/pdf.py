"""Long reports with tables: the page that answers, among the first five hits.

Each question is asked twice: in its report alone (a filter on the path), and over all reports.
"""

from __future__ import annotations

from pathlib import Path

from evals.folders import Wanted, score_documents
from evals.reports import make_reports
from evals.sets import Case, Corpus, EvalSet, limited


def load(folder: Path, limit: int | None = None) -> EvalSet:
    """Return the set. The reports are made in memory, so the folder is not read."""
    from ragstone.read.choose_reader import reader_for

    del folder
    reports, questions = make_reports()
    documents = [
        reader_for(report.path, report.content).read(report.content, report.path)
        for report in reports
    ]
    alone, over_all = [], []
    for question in questions:
        score = score_documents([Wanted(question.path, question.page)])
        only = {"path": question.path}
        alone.append(Case(question.text, "default", score, filters=only, group="one report"))
        over_all.append(Case(question.text, "default", score, group="all reports"))
    corpus = Corpus("reports", {"default": documents}, [*alone, *over_all])
    return EvalSet(
        name="pdf",
        corpora=limited([corpus], limit),
        headline="found_in_5_hits",
        by_corpus=True,
    )
