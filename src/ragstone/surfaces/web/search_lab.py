"""The search lab: settings from the address of the page, and searches as the page shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast, get_args

from ragstone.config.sections import SearchSettings
from ragstone.engine import Engine
from ragstone.errors import InputError
from ragstone.surfaces.web.formats import format_rank
from ragstone.surfaces.web.highlight import MarkedLine, mark_hit, preview_lines
from ragstone.types import Explanation, Fusion, Hit, Mode, SearchOptions

MAX_HITS: Final = 50


@dataclass(frozen=True, slots=True)
class LabSettings:
    """The settings of one search that the page can change."""

    top_k: int
    fusion: Fusion
    mode: Mode = "hybrid"
    mmr: bool = False
    compress: bool = False
    rerank: str = ""
    min_score: float | None = None

    @property
    def summary(self) -> str:
        """Return the settings in a few words."""
        words = {
            "hybrid": "words and meaning",
            "words": "words only",
            "vectors": "meaning only",
        }
        parts = [words[self.mode], f"top {self.top_k}"]
        if self.mode == "hybrid" and self.fusion == "rrf":
            parts.append("reciprocal ranks")
        if self.mmr:
            parts.append("MMR")
        if self.rerank:
            parts.append(f"reranked by {self.rerank}")
        if self.compress:
            parts.append("compressed")
        if self.min_score is not None:
            parts.append(f"score from {self.min_score:g}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class LabFilters:
    """The filters of both searches on the page; an empty text is no filter."""

    collection: str = ""
    path: str = ""
    kind: str = ""

    def options(self) -> SearchOptions:
        """Return the filters as options of a search."""
        options: SearchOptions = {}
        if self.collection:
            options["collection"] = self.collection
        filters = {"path": self.path, "kind": self.kind}
        filters = {name: text for name, text in filters.items() if text}
        if filters:
            options["filters"] = filters
        return options


@dataclass(frozen=True, slots=True)
class LabHit:
    """A hit with its marked text, and its rank in the other search."""

    rank: int
    hit: Hit
    blocks: list[list[MarkedLine]]
    preview: list[MarkedLine]
    other_rank: int | None = None

    @property
    def bar(self) -> float:
        """Return the length of the bar: the score, between 0 and 1."""
        return max(0.0, min(1.0, self.hit.score))

    @property
    def ranks(self) -> list[tuple[str, str]]:
        """Return the lists that found the hit, each with its rank: `("words", "2nd")`."""
        lists = self.hit.trace.lists
        return [
            ("words" if entry.name == "words" else "meaning", format_rank(entry.rank))
            for entry in lists
        ]

    @property
    def reason(self) -> str:
        """Return the ranks of the hit in words: "2nd by words, 1st by meaning"."""
        return ", ".join(f"{rank} by {name}" for name, rank in self.ranks)

    @property
    def boosts(self) -> list[tuple[str, float]]:
        """Return the boosts that change the score, as far as two digits show."""
        return [
            (name, factor) for name, factor in self.hit.trace.boosts if round(factor, 2) != 1
        ]

    @property
    def sum(self) -> float:
        """Return the sum of the parts of all lists."""
        return math.fsum(entry.normalised * entry.weight for entry in self.hit.trace.lists)


@dataclass(frozen=True, slots=True)
class LabSearch:
    """One search of the page: its settings, its explanation and its hits."""

    settings: LabSettings
    explanation: Explanation
    hits: list[LabHit] = field(default_factory=list)


def read_settings(
    params: Mapping[str, str], defaults: SearchSettings, prefix: str = ""
) -> LabSettings:
    """Return the settings in the parameters of an address; those of the second search have a prefix."""

    def value(name: str) -> str:
        return params.get(prefix + name, "").strip()

    return LabSettings(
        top_k=_count(value("top_k"), defaults.top_k),
        fusion=cast("Fusion", _choice(value("fusion"), get_args(Fusion), defaults.fusion)),
        mode=cast("Mode", _choice(value("mode"), get_args(Mode), "hybrid")),
        mmr=bool(value("mmr")),
        compress=bool(value("compress")),
        rerank=value("rerank"),
        min_score=_score(value("min_score")),
    )


def read_valid_settings(
    params: Mapping[str, str], defaults: SearchSettings, prefix: str = ""
) -> LabSettings:
    """Return the settings of an address without those that are not valid."""
    valid: dict[str, str] = {}
    for name, text in params.items():
        try:
            read_settings({name: text}, defaults, prefix)
        except InputError:
            continue
        valid[name] = text
    return read_settings(valid, defaults, prefix)


def read_filters(params: Mapping[str, str]) -> LabFilters:
    """Return the filters in the parameters of an address."""
    return LabFilters(
        *(params.get(name, "").strip() for name in ("collection", "path", "kind"))
    )


def run_search(
    engine: Engine, query: str, settings: LabSettings, filters: LabFilters
) -> LabSearch:
    """Return a search with marked hits."""
    explanation = engine.explain(query, settings.top_k, **search_options(settings, filters))
    hits = []
    for rank, hit in enumerate(explanation.hits, start=1):
        blocks = mark_hit(hit, explanation.terms)
        preview = preview_lines(blocks, has_headings=hit.language == "markdown")
        hits.append(LabHit(rank, hit, blocks, preview))
    return LabSearch(settings, explanation, hits)


def search_options(settings: LabSettings, filters: LabFilters) -> SearchOptions:
    """Return the options of a search with these settings and filters."""
    options: SearchOptions = {
        "mode": settings.mode,
        "fusion": settings.fusion,
        "mmr": settings.mmr,
        "compress": settings.compress,
        "rerank": settings.rerank or None,
        "min_score": settings.min_score,
    }
    return {**options, **filters.options()}


def compare_ranks(first: LabSearch, second: LabSearch) -> tuple[LabSearch, LabSearch]:
    """Return both searches; each hit knows its rank in the other one."""
    return _with_ranks(first, second), _with_ranks(second, first)


def _with_ranks(search: LabSearch, other: LabSearch) -> LabSearch:
    ranks = {_identity(entry.hit): entry.rank for entry in other.hits}
    hits = [
        LabHit(
            entry.rank, entry.hit, entry.blocks, entry.preview, ranks.get(_identity(entry.hit))
        )
        for entry in search.hits
    ]
    return LabSearch(search.settings, search.explanation, hits)


def _identity(hit: Hit) -> tuple[str, str, int]:
    return hit.collection, hit.source_doc_id, hit.span.start


def _choice(text: str, choices: tuple[str, ...], default: str) -> str:
    if not text:
        return default
    if text not in choices:
        raise InputError(f"{text[:50]!r} is no choice", hint=f"one of {', '.join(choices)}")
    return text


def _count(text: str, default: int) -> int:
    if not text:
        return min(default, MAX_HITS)
    if not text.isdecimal() or not 1 <= int(text[:9]) <= MAX_HITS:
        raise InputError("the number of hits is out of range", hint=f"1 to {MAX_HITS}")
    return int(text)


def _score(text: str) -> float | None:
    if not text:
        return None
    try:
        score = float(text)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise InputError("the lowest score is out of range", hint="0 to 1, for example 0.25")
    return score
