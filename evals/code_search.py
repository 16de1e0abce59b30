"""Code search: questions with the files or lines that answer them, each over one repository's tree."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.metrics import binary_ndcg, same_path
from evals.reading import read_tree
from evals.sets import Absent, Ask, Case, Corpus, EvalSet, Score, limited, required

if TYPE_CHECKING:
    from ragstone.types import Hit

TOP = 10


@dataclass(frozen=True, slots=True)
class Target:
    """A file that answers, and the lines of it where they are known."""

    path: str
    first: int | None = None
    last: int | None = None

    def meets(self, hit: Hit) -> bool:
        """Return whether a hit is in this file and, where lines are given, touches them."""
        if not same_path(hit.source_doc_id, self.path):
            return False
        if self.first is None or self.last is None:
            return True
        return hit.span.line_start <= self.last and hit.span.line_end >= self.first


def load(
    folder: Path,
    limit: int | None = None,
    *,
    repos: Path | None = None,
    name: str = "code_search",
    split: str | None = None,
) -> EvalSet:
    """Return the set from a folder with `repos.json` and `annotations/*.json`, and a folder of checked-out trees.

    If a split is given, only its repositories are in the set.
    """
    path = required(
        folder / "repos.json", "point --data at a folder with repos.json and annotations/"
    )
    specs = repositories(path)
    if split is not None:
        specs = {key: spec for key, spec in specs.items() if spec.get("split") == split}
        if not specs:
            raise Absent(f"{path} has no repositories of the split {split!r}")
    if repos is None or not repos.is_dir():
        raise Absent(
            "no repositories: check each one of repos.json out at its revision and point --repos at them"
        )
    missing = sorted(name for name in specs if not (repos / name).is_dir())
    present = {name: spec for name, spec in specs.items() if name not in missing}
    if not present:
        raise Absent(
            f"none of {', '.join(missing)} is in {repos}: check them out at their revisions"
        )
    corpora = []
    for key, spec in present.items():
        corpus = one_repository(folder, repos / key, key, spec.get("benchmark_root"))
        if corpus.cases:
            corpora.append(corpus)
    return EvalSet(
        name=name,
        corpora=limited(corpora, limit),
        headline="ndcg_at_10_by_chunk",
        by_corpus=True,
        notes=[f"repositories that are not there, left out: {', '.join(missing)}"]
        if missing
        else [],
    )


def repositories(path: Path) -> dict[str, dict[str, Any]]:
    """Return each repository's entry by name, from a mapping or a list of entries with names."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    entries = raw.get("repos", raw) if isinstance(raw, dict) else raw
    if isinstance(entries, list):
        return {entry["name"]: entry for entry in entries}
    return dict(entries)


def one_repository(folder: Path, tree: Path, name: str, root: str | None) -> Corpus:
    """Return a repository's code files and the questions about it."""
    path = folder / "annotations" / f"{name}.json"
    raw = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    cases = [
        Case(
            query=item["query"],
            collection="default",
            score=scorer(
                [target(one) for one in (*item.get("relevant", ()), *item.get("secondary", ()))]
            ),
        )
        for item in raw
    ]
    return Corpus(
        name, {"default": read_tree(tree, tree / root if root else tree, "code")}, cases
    )


def target(raw: str | dict[str, Any]) -> Target:
    """Return a target from a bare path or a path with lines."""
    if isinstance(raw, str):
        return Target(raw)
    return Target(raw["path"], raw.get("start_line"), raw.get("end_line"))


def scorer(targets: list[Target]) -> Score:
    """Return the function that scores one question's hits against its targets, by chunk and by file."""

    def score(ask: Ask) -> dict[str, float]:
        hits = list(ask(TOP, True))[:TOP]
        files = list(dict.fromkeys(hit.source_doc_id for hit in hits))
        by_chunk = [
            next((rank for rank, hit in enumerate(hits, 1) if one.meets(hit)), None)
            for one in targets
        ]
        by_file = [
            next(
                (rank for rank, path in enumerate(files, 1) if same_path(path, one.path)), None
            )
            for one in targets
        ]
        return {
            "ndcg_at_10_by_chunk": binary_ndcg(by_chunk, len(targets), TOP),
            "ndcg_at_10_by_file": binary_ndcg(by_file, len(targets), TOP),
        }

    return score
