"""Code that is understood: routes and tables against the framework's own, questions with answers, and paraphrases."""

from __future__ import annotations

import gc
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals import graph_scores as score
from evals.run import home, tell
from evals.sets import Absent, required

if TYPE_CHECKING:
    from ragstone import Engine

TOP = 12


@dataclass(frozen=True, slots=True)
class App:
    """A project's tree with what is known about it."""

    name: str
    tree: Path
    routes: Sequence[Mapping[str, Any]] | None = None
    schema: Mapping[str, Any] | None = None
    """Its tables, and the migrations that `failed` where they were run."""
    questions: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Graphs:
    """The whole set."""

    apps: Sequence[App]
    inflections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: Sequence[str] = ()


def load(folder: Path, limit: int | None = None, *, repos: Path | None = None) -> Graphs:
    """Return the set from a folder with `questions.jsonl`, `routes_*.jsonl`, `schema_*.json`, and a folder of trees."""
    required(
        folder,
        "point --data at a folder with questions.jsonl, routes_*.jsonl and schema_*.json",
    )
    if repos is None or not repos.is_dir():
        raise Absent(
            "no trees: check each app out at its commit and point --repos at the folder that holds them"
        )
    asked = list(lines(folder / "questions.jsonl"))[:limit]
    names = {short(one["repo"]): one["repo"] for one in asked}
    names |= {
        name: name
        for pattern in ("routes_*.jsonl", "schema_*.json")
        for path in sorted(folder.glob(pattern))
        if (name := path.stem.partition("_")[2]) not in names
    }
    if not names:
        raise Absent(f"{folder} has no questions, routes or schemas")
    trees = {
        name: tree for name, repo in names.items() if (tree := tree_of(repos, repo)) is not None
    }
    missing = sorted(set(names) - set(trees))
    if not trees:
        raise Absent(f"none of {', '.join(missing)} is in {repos}")
    inflections = folder / "inflect_vectors.json"
    return Graphs(
        [one_app(folder, name, tree, [one for one in asked if short(one["repo"]) == name])
         for name, tree in sorted(trees.items())],
        json.loads(inflections.read_text(encoding="utf-8")) if inflections.is_file() else {},
        [f"apps that are not there, left out: {', '.join(missing)}"] if missing else [],
    )  # fmt: skip


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines; none where there is no file."""
    if path.is_file():
        yield from (
            json.loads(line)
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.strip()
        )


def short(repo: str) -> str:
    """Return the name an app goes by: the last part of its repository's, in lower case."""
    return repo.rstrip("/").rpartition("/")[2].lower()


def tree_of(repos: Path, repo: str) -> Path | None:
    """Return an app's tree, by its short name or as owner/name, whatever the case."""
    found = {path.name.lower(): path for path in repos.iterdir() if path.is_dir()}
    if short(repo) in found:
        return found[short(repo)]
    owner = found.get(repo.partition("/")[0].lower())
    inside = (
        {path.name.lower(): path for path in owner.iterdir() if path.is_dir()} if owner else {}
    )
    joined = (repo.lower().replace("/", between) for between in ("+", "-", "_", "__"))
    return inside.get(short(repo)) or next(
        (found[name] for name in joined if name in found), None
    )


def one_app(folder: Path, name: str, tree: Path, questions: Sequence[Mapping[str, Any]]) -> App:
    """Return an app with what the folder says of it."""
    listed, schema = folder / f"routes_{name}.jsonl", folder / f"schema_{name}.json"
    return App(
        name,
        tree,
        list(lines(listed)) if listed.is_file() else None,
        json.loads(schema.read_text(encoding="utf-8")) if schema.is_file() else None,
        questions,
    )


# ── measuring ─────────────────────────────────────────────────────────────────────────────────────


def measure(chosen: Graphs, embedder: str, *, keep: Path | None = None) -> dict[str, Any]:
    """Return the figures of the set in the fixed shape."""
    apps: dict[str, Any] = {}
    asked: list[dict[str, Any]] = []
    for app in chosen.apps:
        with home(keep, app.name) as folder:
            apps[app.name], answers = one(app, folder, embedder)
            asked += answers
    result = {"set": "codegraph", "embedder": embedder, "apps": apps, **summary(asked)}
    if chosen.inflections:
        result["inflections"] = inflected(chosen.inflections)
    return result | {"questions_each": asked, "notes": list(chosen.notes)}


def one(app: App, folder: Path, embedder: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return an app's figures and the score of every question about it."""
    from ragstone import Engine

    figures: dict[str, Any] = {"graph_seconds": graph_seconds(app)}
    tell(f"{app.name}: graphed in {figures['graph_seconds']} s of one core")
    with Engine.open(
        app.tree, config={"store.path": str(folder), "rag.embedding_provider": embedder}
    ) as engine:
        engine.sync(embed=bool(app.questions))
        figures |= graph_figures(app, engine)
        answers = [asked_one(engine, question) for question in app.questions]
    tell(
        f"{app.name}: {len(answers)} questions, mean {score.mean(one['score'] for one in answers)}"
    )
    return figures, answers


def graph_seconds(app: App) -> float:
    """Return the processor time it takes to graph an app whose files are stored already."""
    from ragstone import Engine

    with tempfile.TemporaryDirectory(
        prefix="ragstone-evals-", ignore_cleanup_errors=True
    ) as folder:
        config = {"store.path": folder, "rag.embedding_provider": "fake"}
        with Engine.open(app.tree, config={**config, "code.graph": "off"}) as engine:
            engine.sync(embed=False)
        held = gc.get_threshold()
        gc.set_threshold(100_000, 20, 20)  # as the command does
        try:
            with Engine.open(app.tree, config=config) as engine:
                begun = time.process_time()
                engine.graph.update()
                return round(time.process_time() - begun, 2)
        finally:
            gc.set_threshold(*held)


def graph_figures(app: App, engine: Engine) -> dict[str, Any]:
    """Return how far an app's routes and tables are those that the framework itself makes of it."""
    figures: dict[str, Any] = {}
    if app.routes is not None:
        figures["routes"] = score.routes(
            app.routes, [dict(node.attributes) for node in engine.graph.routes()]
        )
    if app.schema is not None:
        figures["columns"] = score.columns(
            app.schema["tables"], tables(engine), app.schema.get("failed", ())
        )
    return figures


def tables(engine: Engine) -> dict[str, dict[str, Any]]:
    """Return the tables there are now: the names of their columns, their foreign keys and their migrations."""
    found = {}
    for node in engine.graph.tables():
        about: Mapping[str, Any] = node.attributes
        columns = [column["name"] for column in about.get("columns") or ()]
        touched = {
            "migrations": about.get("migrations") or [],
            "fks": about.get("foreign_keys") or [],
        }
        found[node.name] = {"columns": columns, **touched}
    return found


def asked_one(engine: Engine, question: Mapping[str, Any]) -> dict[str, Any]:
    """Return one question's scores: each part of its answer, its evidence, and that of its paraphrase."""
    told = engine.retrieve(question["question"], TOP)
    facts = told.answer.facts if told.answer else None
    parts = score.question(
        question["answer"], facts, negative=bool(told.answer and told.answer.negative)
    )
    row: dict[str, Any] = {
        "id": question["id"],
        "kind": question["kind"],
        "score": round(sum(parts.values()) / len(parts), 4) if parts else 1.0,
        "wrong": {
            name: facts.get(name) if facts else None
            for name, value in parts.items()
            if value < 1
        },
        "evidence": round(score.covered(question.get("evidence", ()), told.chunks), 4),
        "milliseconds": told.debug.get("latency_ms"),
    }
    if question.get("paraphrase"):
        again = engine.retrieve(question["paraphrase"], TOP)
        row["paraphrase_evidence"] = round(
            score.covered(question.get("evidence", ()), again.chunks), 4
        )
        row["paraphrase_anchors"] = again.debug.get("anchors")
    return row


def summary(asked: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the means over all questions, by kind, and over those that have a paraphrase."""
    kinds = list(dict.fromkeys(one["kind"] for one in asked))
    rephrased = [one for one in asked if "paraphrase_evidence" in one]
    return {
        "questions": {
            "count": len(asked),
            "mean": score.mean(one["score"] for one in asked),
            "by_kind": {
                kind: score.mean(one["score"] for one in asked if one["kind"] == kind)
                for kind in kinds
            },
            "evidence_recall_at_12": score.mean(one["evidence"] for one in asked),
        },
        "paraphrases": {
            "count": len(rephrased),
            "evidence_recall_at_12": score.mean(
                one["paraphrase_evidence"] for one in rephrased
            ),
        },
    }


def inflected(vectors: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return how many names become the table or the singular that the framework makes of them, and which do not."""
    from ragstone_code.laravel import inflection

    # The singulars are those that a resource names its parameter by.
    rules: dict[str, Callable[[str], str]] = {
        "table": inflection.table_name,
        "singular": inflection.route_parameter,
    }
    figures: dict[str, Any] = {}
    for name, rule in rules.items():
        pairs = vectors.get(name, {})
        wrong = {word: rule(word) for word, right in pairs.items() if rule(word) != right}
        figures[name] = {"total": len(pairs), "right": len(pairs) - len(wrong), "wrong": wrong}
    return figures


def table(result: Mapping[str, Any]) -> str:
    """Return the figures as plain lines."""
    out = [f"codegraph with {result['embedder']}: {result['questions']['count']} questions"]
    out.append(
        f"{'app':<14}{'routes exact':>16}{'columns F1':>14}{'judged':>10}{'graph s':>10}"
    )
    for name, app in result["apps"].items():
        routes, columns = app.get("routes"), app.get("columns")
        exact = f"{routes['exact']}/{routes['total']}" if routes else "–"
        f1, judged = (f"{columns[key]:.4f}" if columns else "–" for key in ("f1", "judged_f1"))
        out.append(f"{name:<14}{exact:>16}{f1:>14}{judged:>10}{app['graph_seconds']:>10.2f}")
    asked = result["questions"]
    out += [f"  {kind:<24}{value:.4f}" for kind, value in asked["by_kind"].items()]
    out.append(
        f"questions: mean {asked['mean']}, evidence recall@12 {asked['evidence_recall_at_12']}"
    )
    again = result["paraphrases"]
    out.append(
        f"paraphrases: {again['count']}, evidence recall@12 {again['evidence_recall_at_12']}"
    )
    for name, one in result.get("inflections", {}).items():
        out.append(f"inflections, {name}: {one['right']}/{one['total']}")
    return "\n".join(out) + "\n"
