"""Questions about folders: each names the documents that answer it.

A set is a folder of `*.jsonl` files, one per folder of documents. A line is an object:

    {"question": "let visitors send a picture", "documents": ["docs/uploads.rst", "docs/patterns/", "report.pdf#12"]}

A document is a path, the beginning of one, or a path with a page. The documents of `flask.jsonl` are the files below
`<repos>/<set>/flask`, `<repos>/flask` or `<data>/flask`, whichever is there first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.reading import read_tree
from evals.sets import Absent, Ask, Case, Corpus, EvalSet, Score, limited, required

if TYPE_CHECKING:
    from ragstone.types import Hit

HITS = 20
FIRST_HITS = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document that answers, or the beginning of its path; and the page, if one is named."""

    path: str
    page: int | None

    @classmethod
    def parse(cls, text: str) -> Wanted:
        """Return the document of `path` or `path#page`."""
        path, _, page = text.partition("#")
        return cls(path, int(page) if page else None)

    def matches(self, hit: Hit) -> bool:
        """Return whether a hit is in this document, and on its page if one is named."""
        if not hit.source_doc_id.startswith(self.path):
            return False
        return self.page is None or hit.span.page == self.page


def load(
    folder: Path,
    limit: int | None = None,
    *,
    repos: Path | None = None,
    name: str | None = None,
    own: Path | None = None,
) -> EvalSet:
    """Return the set of a folder with `*.jsonl`, and the trees that the questions are about.

    `own` is a second folder with questions: those that are kept in this repository.
    """
    name = name or folder.name
    if own is None:
        required(folder, "point --data at a folder with a *.jsonl file per folder of documents")
    corpora: list[Corpus] = []
    missing: list[str] = []
    paths = [*folder.glob("*.jsonl"), *(own.glob("*.jsonl") if own else ())]
    for path in sorted(paths, key=lambda path: path.stem):
        tree = find_tree(path.stem, folder=path.parent, set_name=name, repos=repos)
        if tree is None:
            missing.append(path.stem)
        else:
            documents = {"default": read_tree(tree, tree)}
            corpora.append(Corpus(path.stem, documents, read_cases(path)))
    if not corpora:
        raise Absent(
            f"no documents for {name}: point --repos at a folder with {', '.join(missing)}"
        )
    notes = [f"folders that are not there, left out: {', '.join(missing)}"] if missing else []
    return EvalSet(
        name=name,
        corpora=limited(corpora, limit),
        headline="mrr",
        by_corpus=True,
        notes=notes,
        is_complete=not missing,
    )


def find_tree(name: str, *, folder: Path, set_name: str, repos: Path | None) -> Path | None:
    """Return the folder of documents with this name, None if there is none."""
    places = [repos / set_name / name, repos / name] if repos else []
    for place in [*places, folder / name]:
        if place.is_dir():
            return place
    return None


def read_cases(path: Path) -> list[Case]:
    """Return the questions of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines if line.strip()]
    cases = []
    for row in rows:
        wanted = [Wanted.parse(document) for document in row["documents"]]
        cases.append(Case(row["question"], "default", score_documents(wanted)))
    return cases


def score_documents(wanted: Sequence[Wanted]) -> Score:
    """Return the function that scores a question by the first right document among distinct documents."""

    by_page = any(one.page is not None for one in wanted)

    def score(ask: Ask) -> dict[str, float]:
        # Hits of neighbouring pages are merged into one that cites the first page only.
        hits = list(ask(HITS, not by_page))
        rank = first_rank(hits, wanted)
        first = hits[:FIRST_HITS]
        return {
            "mrr": 1 / rank if rank else 0.0,
            "top_1": float(rank == 1),
            "top_3": float(rank is not None and rank <= 3),
            "found_in_5_hits": float(any(one.matches(hit) for one in wanted for hit in first)),
        }

    return score


def first_rank(hits: Sequence[Hit], wanted: Sequence[Wanted]) -> int | None:
    """Return the rank of the first right hit; of hits in one document, or on one page of it, the first counts."""
    by_page = any(one.page is not None for one in wanted)
    seen: dict[tuple[str, int | None], None] = {}
    for hit in hits:
        seen.setdefault((hit.source_doc_id, hit.span.page if by_page else None))
        if any(one.matches(hit) for one in wanted):
            return len(seen)
    return None
