"""Evaluates search on a folder with questions from the folder itself."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone.engine.engine import Engine
from ragstone.engine.measure.questions import (
    KINDS,
    Question,
    QuestionKind,
    QuestionSet,
    as_document,
    make_questions,
)
from ragstone.engine.measure.scores import DEPTH, Difference, Quality, compare, measure_quality
from ragstone.engine.measure.trial import Timer, open_trial, read_folder, require_free
from ragstone.errors import InputError
from ragstone.protocols import Progress
from ragstone.sources.folder.commit_log import recent_changes
from ragstone.text.counts import plural
from ragstone.types import Fusion, Mode, StoredDocument

MAX_QUESTIONS: Final = 150
MIN_QUESTIONS: Final = 10
"""Fewer questions tell nothing."""
_CERTAINTY: Final = 0.95
_READ_SHARE: Final = 0.4
_EMBED_SHARE: Final = 0.8
_PROBE_SECONDS: Final = 3.0
_MARGIN: Final = 0.9
_BATCH: Final = 50

SETTINGS: Final[Mapping[str, tuple[Mode, Fusion | None]]] = {
    "words": ("words", None),
    "vectors": ("vectors", None),
    "both, weighted": ("hybrid", "weighted"),
    "both, rrf": ("hybrid", "rrf"),
}


@dataclass(frozen=True, slots=True)
class SettingScore:
    """The quality of one setting, over all questions and by kind, and its difference from the setting in use."""

    name: str
    quality: Quality
    by_kind: Mapping[QuestionKind, Quality]
    difference: Difference
    is_current: bool


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of all settings, best first, and how they were measured."""

    scores: tuple[SettingScore, ...]
    questions: tuple[Question, ...]
    documents: int
    """Documents that were searched."""
    total_documents: int
    """Documents in the folder."""
    model: str
    seed: int
    seconds: float
    advice: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """How many questions to ask, in how much time, and whether a service may be paid."""

    seconds: float = 120.0
    questions: int = MAX_QUESTIONS
    seed: int = 1
    may_pay: bool = False


def evaluate_folder(
    folder: Path, request: EvaluationRequest, progress: Progress | None = None
) -> Evaluation:
    """Return how well each setting finds the answers to questions from the folder. No index of the user changes."""
    timer = Timer(request.seconds)
    with open_trial(folder) as engine:
        require_free(engine, may_pay=request.may_pay)
        notes: list[str] = []
        if not read_folder(engine, timer, _READ_SHARE, progress):
            notes.append("the time was not enough to read every file")
        documents = list(engine.sources())
        question_set = _choose_questions(engine, folder, documents, request)
        searched = _limit_corpus(engine, documents, question_set, timer, request.seed)
        if searched < len(documents):
            notes.append(
                f"only {searched:,} of {plural(len(documents), 'document')} could be searched in the time"
            )
        engine.admin.embed(
            seconds=max(1.0, _EMBED_SHARE * request.seconds - timer.spent), progress=progress
        )
        notes += _coverage_notes(engine)
        ranks = _ask_all(engine, question_set.questions, progress)
        current = f"both, {engine.settings.search.fusion}"
        scores = _score_settings(question_set.questions, ranks, current, request.seed)
        return Evaluation(
            scores=scores,
            questions=tuple(question_set.questions),
            documents=searched,
            total_documents=len(documents),
            model=engine.workspace.components.embedder().space.model,
            seed=request.seed,
            seconds=timer.spent,
            advice=advise(scores),
            notes=tuple(notes),
        )


def _choose_questions(
    engine: Engine,
    folder: Path,
    documents: Sequence[StoredDocument],
    request: EvaluationRequest,
) -> QuestionSet:
    """Return the questions, after the documents that hold their wording were stored without it."""
    texts: dict[str, str] = {}
    for document in documents:
        text = engine.admin.text(document.uri)
        if text:
            texts[document.uri] = text
    changes = recent_changes(folder)
    question_set = make_questions(
        texts, documents, changes, seed=request.seed, most=request.questions
    )
    if len(question_set.questions) < MIN_QUESTIONS:
        raise InputError(
            f"the folder gives {plural(len(question_set.questions), 'question')}, and {MIN_QUESTIONS} are needed",
            hint="documented functions, Markdown headings and commits of git give questions",
        )
    masked = [document for document in documents if document.uri in question_set.masked]
    engine.add(
        [as_document(document, question_set.masked[document.uri]) for document in masked],
        embed=False,
    )
    return question_set


def _limit_corpus(
    engine: Engine,
    documents: Sequence[StoredDocument],
    question_set: QuestionSet,
    timer: Timer,
    seed: int,
) -> int:
    """Remove random documents that answer no question until all texts can be embedded; return how many are left."""
    before = timer.spent
    vectors = engine.admin.embed(seconds=_PROBE_SECONDS)
    rate = vectors / max(0.001, timer.spent - before)
    _, total = engine.admin.count_vectors()
    affordable = vectors + int(rate * _MARGIN * (_EMBED_SHARE * timer.seconds - timer.spent))
    if total <= affordable:
        return len(documents)
    targets: set[str] = set()
    for question in question_set.questions:
        targets.update(question.uris)
    others = [document for document in documents if document.uri not in targets]
    random.Random(seed).shuffle(others)  # noqa: S311 - a sample, no secret
    removed = 0
    while others and total > affordable:
        document = others.pop()
        total -= document.chunks
        removed += engine.remove(document.uri)
    return len(documents) - removed


def _coverage_notes(engine: Engine) -> list[str]:
    embedded, total = engine.admin.count_vectors()
    if embedded >= total:
        return []
    share = embedded / total
    return [f"{share:.0%} of the texts have a vector: the figures of vectors are too low"]


def _ask_all(
    engine: Engine, questions: Sequence[Question], progress: Progress | None
) -> dict[str, list[int | None]]:
    """Return the rank of the answer to each question, by setting."""
    ranks: dict[str, list[int | None]] = {name: [] for name in SETTINGS}
    for done, question in enumerate(questions, start=1):
        for name, (mode, fusion) in SETTINGS.items():
            hits = engine.search(question.text, DEPTH, mode=mode, fusion=fusion, fresh=False)
            answers = (rank for rank, hit in enumerate(hits, 1) if question.is_answered_by(hit))
            ranks[name].append(next(answers, None))
        if progress:
            progress("questions", done, len(questions))
    return ranks


def _score_settings(
    questions: Sequence[Question],
    ranks: Mapping[str, Sequence[int | None]],
    current: str,
    seed: int,
) -> tuple[SettingScore, ...]:
    """Return the scores, best first. The intervals are wider because several settings are compared at once."""
    certainty = 1.0 - (1.0 - _CERTAINTY) / (len(ranks) - 1)
    scores = []
    for name, own_ranks in ranks.items():
        by_kind: dict[QuestionKind, Quality] = {}
        for kind in KINDS:
            of_kind = [
                rank
                for rank, question in zip(own_ranks, questions, strict=True)
                if question.kind == kind
            ]
            if of_kind:
                by_kind[kind] = measure_quality(of_kind)
        difference = compare(own_ranks, ranks[current], certainty=certainty, seed=seed)
        quality = measure_quality(own_ranks)
        scores.append(SettingScore(name, quality, by_kind, difference, name == current))
    return tuple(sorted(scores, key=lambda score: -score.quality.mrr))


def advise(scores: Sequence[SettingScore]) -> str:
    """Return the sentence that names the better setting, or says that none is better for certain."""
    best = scores[0]
    if best.is_current:
        return "The setting in use is the best one here."
    gain = f"{best.difference.mrr:+.3f} MRR ({best.difference.low:+.3f} to {best.difference.high:+.3f})"
    if not best.difference.is_certain:
        return f"No other setting is better for certain: `{best.name}` has {gain}."
    change = f"use --mode {best.name}"
    if best.name.startswith("both, "):
        fusion = best.name.removeprefix("both, ")
        change = f'set search.fusion = "{fusion}"'
    return f"`{best.name}` is better by {gain}: {change}."
