"""Answers "why is this file not among the hits?"."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Final

from ragstone.engine import Engine
from ragstone.surfaces.web.search_lab import (
    LabFilters,
    LabHit,
    LabSearch,
    LabSettings,
    run_search,
)
from ragstone.types import Explanation

_SIMILAR: Final = 3
_COMPARED: Final = 20_000
"""Paths that are compared to find similar ones."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a file is not among the hits of a search, and the passage of it that fits best."""

    path: str
    verdict: str
    detail: str = ""
    best: LabHit | None = None
    similar: tuple[str, ...] = ()


def explain_absence(
    engine: Engine, query: str, path: str, settings: LabSettings, filters: LabFilters
) -> Absence:
    """Return why no passage of a file is shown for a query."""
    in_file = LabFilters(filters.collection, path, filters.kind)
    if not any(engine.sources(filters={"path": path})):
        similar = get_close_matches(path, _paths(engine), n=_SIMILAR)
        return Absence(
            path,
            "The index has no document with this path.",
            "It was skipped, it failed, or it was never found. `ragstone sync --verbose` gives the reasons.",
            similar=tuple(similar),
        )
    main_search = run_search(engine, query, settings, filters)
    alone = run_search(engine, query, settings, in_file)
    best = alone.hits[0] if alone.hits else None
    rank = _rank_of(main_search, alone)
    if rank:
        return Absence(path, f"It is there: hit {rank}.", best=best)
    if best is None:
        return Absence(
            path,
            "No passage of it fits the query.",
            "None shares a word with the query, and none is near in meaning.",
        )
    reason = _reason(main_search.explanation, alone)
    if not reason:
        return Absence(
            path,
            f"It is not among the {main_search.explanation.candidates:,} candidates.",
            "Other passages match more words of the query, or are nearer in meaning.",
            best,
        )
    return Absence(path, "It was a candidate and was left out.", reason, best)


def _paths(engine: Engine) -> list[str]:
    return [document.uri for document in islice(engine.sources(), _COMPARED)]


def _rank_of(main_search: LabSearch, alone: LabSearch) -> int:
    """Return the rank of the first hit of the file; 0 if none is shown."""
    names = {entry.hit.source_doc_id for entry in alone.hits}
    ranks = [entry.rank for entry in main_search.hits if entry.hit.source_doc_id in names]
    return min(ranks, default=0)


def _reason(explanation: Explanation, alone: LabSearch) -> str:
    """Return why the file's candidates were dropped, the best one first; empty if there was none."""
    names = {entry.hit.source_doc_id for entry in alone.hits}
    for candidate in explanation.dropped:
        document = candidate.doc_id.rpartition("__chunk_")[0]
        if document in names:
            return f"{candidate.citation or document}: {candidate.reason}."
    return ""
