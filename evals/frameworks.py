"""Questions about whole applications: what the graph answers, scored by the words that a right answer contains."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.codegraph import short, tree_of
from evals.graph_scores import mean
from evals.run import home, tell
from evals.sets import Absent

if TYPE_CHECKING:
    from ragstone import Engine
    from ragstone.types import Retrieval

HITS = 12
"""Number of chunks in which the evidence of a paraphrase may stand."""
PARAPHRASE = "paraphrase"


@dataclass(frozen=True, slots=True)
class Application:
    """An application's tree and the questions about it."""

    repo: str
    tree: Path
    questions: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Applications:
    """The whole set; `missing` are the applications without a tree."""

    present: Sequence[Application]
    missing: Sequence[str] = ()


def load(path: Path, limit: int | None, *, repos: Path | None) -> Applications:
    """Return the applications whose trees are below `repos`, or raise `Absent`."""
    if repos is None or not repos.is_dir():
        raise Absent(
            "no trees: check each application out at its revision (evals/README.md lists them) "
            "and point --repos at the folder that holds them"
        )
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    by_repo: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows[:limit]:
        by_repo.setdefault(row["repo"], []).append(row)
    present: list[Application] = []
    for repo, questions in by_repo.items():
        tree = tree_of(repos, repo)
        if tree is not None:
            present.append(Application(repo, tree, questions))
    if not present:
        raise Absent(f"none of {', '.join(by_repo)} is in {repos}")
    found = {application.repo for application in present}
    return Applications(present, [repo for repo in by_repo if repo not in found])


def measure(chosen: Applications, embedder: str, *, keep: Path | None = None) -> dict[str, Any]:
    """Return the score of every question, and the means by application and by kind."""
    rows: list[dict[str, Any]] = []
    seconds: dict[str, float] = {}
    for application in chosen.present:
        with home(keep, short(application.repo)) as folder:
            seconds[application.repo], answered = ask_application(application, folder, embedder)
        rows += answered
        tell(f"{application.repo}: mean {mean(row['score'] for row in answered)}")
    return {
        "set": "frameworks",
        "embedder": embedder,
        "questions": len(rows),
        "mean": mean(row["score"] for row in rows),
        "by_kind": means(rows, "kind"),
        "by_application": means(rows, "repo"),
        "sync_seconds": seconds,
        "questions_each": rows,
        "notes": [f"not there, left out: {repo}" for repo in chosen.missing],
    }


def ask_application(
    application: Application, folder: Path, embedder: str
) -> tuple[float, list[dict[str, Any]]]:
    """Return the seconds of the sync without vectors, and the scored answers of one application."""
    from ragstone import Engine

    config = {"store.path": str(folder), "rag.embedding_provider": embedder}
    with Engine.open(application.tree, config=config) as engine:
        started = time.monotonic()
        engine.sync(embed=False)
        seconds = round(time.monotonic() - started, 1)
        if any(question["kind"] == PARAPHRASE for question in application.questions):
            engine.sync()
        rows = [ask(engine, question) for question in application.questions]
    return seconds, rows


def ask(engine: Engine, question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the score of one question with the sentence that was answered."""
    hits = HITS if question["kind"] == PARAPHRASE else 0
    retrieval = engine.retrieve(question["question"], hits)
    answer = retrieval.answer
    return {
        "repo": question["repo"],
        "kind": question["kind"],
        "question": question["question"],
        "score": score(question, retrieval),
        "said": answer.said if answer else None,
        "unknown": retrieval.debug.get("unknown"),
        "milliseconds": retrieval.debug.get("latency_ms"),
    }


# ── scores ────────────────────────────────────────────────────────────────────────────────────────


def score(question: Mapping[str, Any], retrieval: Retrieval) -> float:
    """Return the score of an answer between 0 and 1."""
    if "unknown" in question:
        return float(reports_unknown(question["unknown"], retrieval))
    if question["kind"] == PARAPHRASE:
        return share(question["evidence"], found_places(retrieval))
    answer = retrieval.answer
    if answer is None:
        return 0.0
    if "negative" in question and answer.negative != question["negative"]:
        return 0.0
    if "answer" in question and answer.facts.get("answer") != question["answer"]:
        return 0.0
    text = f"{answer.said}\n{json.dumps(dict(answer.facts), ensure_ascii=False)}"
    lower_text = text.lower().replace("\\\\", "\\")
    if any(word.lower() in lower_text for word in question.get("without", ())):
        return 0.0
    words = [word.lower() for word in question.get("says", ())]
    said = sum(word in lower_text for word in words) / len(words) if words else 1.0
    if "evidence" not in question:
        return round(said, 4)
    return round((said + share(question["evidence"], found_places(retrieval))) / 2, 4)


def reports_unknown(name: str, retrieval: Retrieval) -> bool:
    """Return whether the result says that a name is unknown, without an answer about something else."""
    answer = retrieval.answer
    if answer is not None:
        return answer.negative and name in answer.said
    unknown = retrieval.debug.get("unknown")
    return isinstance(unknown, list) and any(name in text for text in unknown)


def found_places(retrieval: Retrieval) -> set[str]:
    """Return the files, and the files with their lines, of the answer's evidence and of all chunks."""
    places: set[str] = set()
    for uri, line in retrieval.answer.evidence if retrieval.answer else ():
        places |= {uri, f"{uri}:{line}"}
    for chunk in retrieval.chunks:
        places.add(str(chunk.metadata.get("file") or chunk.source_doc_id))
    return places


def share(wanted: Iterable[str], found: set[str]) -> float:
    """Return the share of places that were found."""
    places = list(wanted)
    return round(sum(place in found for place in places) / len(places), 4)


def means(rows: Sequence[Mapping[str, Any]], key: str) -> dict[str, float | None]:
    """Return the mean score of the rows by one of their fields."""
    names = list(dict.fromkeys(row[key] for row in rows))
    return {name: mean(row["score"] for row in rows if row[key] == name) for name in names}


def table(result: Mapping[str, Any]) -> str:
    """Return the figures as plain lines."""
    lines = [f"frameworks with {result['embedder']}: {result['questions']} questions"]
    for name, value in result["by_application"].items():
        lines.append(f"  {name:<40}{value:>8.3f}{result['sync_seconds'][name]:>8} s")
    lines += [f"  {kind:<40}{value:>8.3f}" for kind, value in result["by_kind"].items()]
    lines.append(f"mean {result['mean']}")
    return "\n".join([*lines, *result["notes"]]) + "\n"
