"""The path of an evaluation: index a corpus, ask every question in every way, score, compare."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.bootstrap import grouped_mean, paired_difference, standard_error
from evals.sets import Ask, Case, Corpus, EvalSet

if TYPE_CHECKING:
    from ragstone import Engine
    from ragstone.types import Hit

WAYS: Mapping[str, Mapping[str, Any]] = {
    "words": {"mode": "words"},
    "vectors": {"mode": "vectors"},
    "hybrid": {"mode": "hybrid", "fusion": "weighted"},
    "rrf": {"mode": "hybrid", "fusion": "rrf"},
}
PERCENT = frozenset({"chunking", "locomo"})
"""Sets whose published figures are in points of a hundred; the others are fractions."""

COUNTED = frozenset({"characters"})
"""Metrics that are no share of anything: shown as they are."""

PROGRESS_EVERY = 100


@dataclass(slots=True)
class Answers:
    """What one way of searching scored, question by question."""

    scores: dict[str, list[float]] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def take(self, scores: Mapping[str, float], group: str) -> None:
        """Keep one question's scores."""
        self.groups.append(group)
        for metric, value in scores.items():
            self.scores.setdefault(metric, []).append(value)


def evaluate(
    chosen: EvalSet, embedder: str, *, keep: Path | None = None, merge: bool = True
) -> dict[str, Any]:
    """Return the set's figures for words, vectors, hybrid and rrf, with their differences."""
    answers = {way: Answers() for way in WAYS}
    seconds = 0.0
    for corpus in chosen.corpora:
        with home(keep, corpus.name) as folder:
            seconds += one_corpus(corpus, folder, answers, embedder=embedder, merge=merge)
    # A folder that is kept may hold the index already: then there is nothing to time.
    return summary(chosen, embedder, answers) | (
        {} if keep else {"index_seconds": round(seconds, 2)}
    )


@contextmanager
def home(keep: Path | None, name: str) -> Iterator[Path]:
    """Give a folder for one index: kept where asked, else gone afterwards."""
    if keep is None:
        with tempfile.TemporaryDirectory(
            prefix="ragstone-evals-", ignore_cleanup_errors=True
        ) as folder:
            yield Path(folder)
    else:
        (keep / name).mkdir(parents=True, exist_ok=True)
        yield keep / name


def one_corpus(
    corpus: Corpus, folder: Path, answers: Mapping[str, Answers], *, embedder: str, merge: bool
) -> float:
    """Return how long indexing took; every question's scores are in the answers."""
    from ragstone import Engine

    engine = Engine.open(folder, config={"rag.embedding_provider": embedder})
    try:
        started = time.perf_counter()
        take_in(engine, corpus)
        seconds = time.perf_counter() - started
        ask_with = recaller if corpus.sessions else asker
        for way, answer in answers.items():
            for number, case in enumerate(corpus.cases, 1):
                search = ask_with(
                    engine,
                    case,
                    WAYS[way] if merge else {**WAYS[way], "merge": False},
                    answer.milliseconds,
                )
                answer.take(case.score(search), case.group or corpus.name)
                if number % PROGRESS_EVERY == 0 or number == len(corpus.cases):
                    tell(f"{corpus.name}: {way} {number}/{len(corpus.cases)}")
        return seconds
    finally:
        engine.close()


def take_in(engine: Engine, corpus: Corpus) -> None:
    """Store a corpus: its conversations where it has any, else its documents; what is stored already stays."""
    known = {session.name for session in engine.memory.sessions()}
    for session, turns in corpus.sessions.items():
        if session not in known:
            engine.memory.conversations.remember(list(turns))
        tell(f"{corpus.name}: {len(turns)} turns in {session!r}")
    for collection, documents in corpus.documents.items() if not corpus.sessions else ():
        engine.add(list(documents), collection=collection)
        tell(f"{corpus.name}: {len(documents)} documents in {collection!r}")


def recaller(
    engine: Engine, case: Case, way: Mapping[str, Any], milliseconds: list[float]
) -> Ask:
    """Return the function a case's score recalls with: turns as hits, named as the set names them."""
    from ragstone.types import Hit, Request, Scope, Span

    def ask(top_k: int, merge: bool) -> Sequence[Hit]:
        settings = engine.settings.search
        wanted = {
            "fusion": settings.fusion,
            **{key: value for key, value in way.items() if key != "merge"},
        }
        request = Request(case.query, Scope(engine.project, (case.collection,), "session"), top_k,
                          candidates=max(settings.candidates, top_k), **wanted)  # fmt: skip
        started = time.perf_counter()
        found = engine.memory.conversations.recall(case.collection, request)
        milliseconds.append((time.perf_counter() - started) * 1000)
        return [
            Hit(str(one.turn.index), one.turn.content, one.score, one.turn.metadata, str(one.turn.metadata["id"]),
                one.turn.index, case.collection, Span(0, 0, 0, 0, 1, 1))
            for one in found
        ]  # fmt: skip

    return ask


def asker(engine: Engine, case: Case, way: Mapping[str, Any], milliseconds: list[float]) -> Ask:
    """Return the function a case's score searches with."""

    def ask(top_k: int, merge: bool) -> Sequence[Hit]:
        started = time.perf_counter()
        hits = engine.search(
            case.query,
            top_k=top_k,
            collection=case.collection,
            filters=case.filters,
            **{"merge": merge, **way},
        )
        milliseconds.append((time.perf_counter() - started) * 1000)
        return hits

    return ask


def summary(chosen: EvalSet, embedder: str, answers: Mapping[str, Answers]) -> dict[str, Any]:
    """Return the figures in the fixed shape, with what lies behind them."""
    scale = 100.0 if chosen.name in PERCENT else 1.0
    result: dict[str, Any] = {"set": chosen.name, "embedder": embedder}
    for way, answer in answers.items():
        result[way] = {
            metric: round(
                scaled(metric, scale) * grouped_mean(values, grouping(chosen, answer)), 4
            )
            for metric, values in answer.scores.items()
        }
    result["headline"] = chosen.headline
    result["standard_error"] = {
        way: round(
            scale * standard_error(answer.scores[chosen.headline], grouping(chosen, answer)), 4
        )
        for way, answer in answers.items()
    }
    result["questions"] = len(answers["hybrid"].groups)
    result["documents"] = sum(
        len(part) for corpus in chosen.corpora for part in corpus.documents.values()
    )
    result["differences"] = differences(chosen, answers, scale)
    result["search_ms_p50"] = {
        way: round(statistics.median(answer.milliseconds), 2)
        for way, answer in answers.items()
        if answer.milliseconds
    }
    if chosen.by_corpus:
        result["by_corpus"] = {
            way: {
                name: round(scale * value, 4)
                for name, value in by_group(answer, chosen.headline).items()
            }
            for way, answer in answers.items()
        }
    result["notes"] = list(chosen.notes)
    return result


def scaled(metric: str, scale: float) -> float:
    """Return what a metric is multiplied by to be shown."""
    return 1.0 if metric in COUNTED else scale


def grouping(chosen: EvalSet, answer: Answers) -> list[str]:
    """Return each question's group: its corpus where the mean is over corpora, else one for all."""
    return answer.groups if chosen.by_corpus else [""] * len(answer.groups)


def by_group(answer: Answers, metric: str) -> dict[str, float]:
    """Return the mean of a metric in each group."""
    return {
        group: statistics.fmean(
            value
            for value, name in zip(answer.scores[metric], answer.groups, strict=True)
            if name == group
        )
        for group in dict.fromkeys(answer.groups)
    }


def differences(
    chosen: EvalSet, answers: Mapping[str, Answers], scale: float
) -> dict[str, Any]:
    """Return hybrid less each other way on every metric, with standard error and p."""
    hybrid = answers["hybrid"]
    groups = grouping(chosen, hybrid)
    found: dict[str, Any] = {}
    for way, answer in answers.items():
        if way == "hybrid":
            continue
        found[f"hybrid-{way}"] = {
            metric: rounded(
                paired_difference(values, answer.scores[metric], groups), scaled(metric, scale)
            )
            for metric, values in hybrid.scores.items()
        }
    return found


def rounded(difference: Mapping[str, Any], scale: float) -> dict[str, float]:
    """Return a difference in the set's own unit."""
    return {
        "difference": round(scale * difference["difference"], 4),
        "standard_error": round(scale * difference["standard_error"], 4),
        "p": round(difference["p"], 4),
    }


def tell(line: str) -> None:
    """Show progress where it does not mix with the result."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


Loader = Callable[..., EvalSet]
