"""Questions of one folder are asked of another: the answer should say that nothing fits well.

The folders are those of `mixed` whose questions are in this repository, and those of `small`. An answer is right if its
best score is below the limit exactly if the question is another folder's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evals import folders, small
from evals.sets import Ask, Case, Corpus, EvalSet, Score, limited
from ragstone.retrieval.ranking.confidence import WEAK_CONFIDENCE

HITS = 5


def load(
    folder: Path,
    limit: int | None = None,
    *,
    repos: Path | None = None,
    name: str = "off_topic",
) -> EvalSet:
    """Return all questions for all folders; each size of folder and each kind of question is a group."""
    large = folders.load(folder / "mixed", repos=repos, name="mixed")
    tiny = small.load(folder)
    corpora = [*cross(large.corpora, "large"), *cross(tiny.corpora, "tiny")]
    return EvalSet(
        name=name,
        corpora=limited(corpora, limit),
        headline="right",
        by_corpus=True,
        notes=large.notes,
        is_complete=large.is_complete,
    )


def cross(corpora: Sequence[Corpus], size: str) -> list[Corpus]:
    """Return the folders, each with the questions of all of them."""
    crossed = []
    for corpus in corpora:
        cases = []
        for other in corpora:
            is_own = other is corpus
            group = f"{size}, {'on' if is_own else 'off'} topic"
            cases += [_ask_for_topic(case, group, is_own=is_own) for case in other.cases]
        crossed.append(replace(corpus, cases=cases))
    return crossed


def _ask_for_topic(case: Case, group: str, *, is_own: bool) -> Case:
    return replace(case, score=score_topic(is_own=is_own), group=group)


def score_topic(*, is_own: bool) -> Score:
    """Return the function that gives 1 as `right` if an answer fits well exactly if the question is the folder's own."""

    def score(ask: Ask) -> dict[str, float]:
        best = max((hit.score for hit in ask(HITS, True)), default=0.0)
        return {"right": float((best >= WEAK_CONFIDENCE) == is_own)}

    return score
