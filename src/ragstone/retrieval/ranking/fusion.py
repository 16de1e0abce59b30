"""Fusion of several ranked lists into one: a weighted sum of normalised scores, or reciprocal ranks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from ragstone.retrieval.ranking.confidence import (
    SMALL_SAMPLE,
    Background,
    Calibration,
    deviations_by_chance,
)
from ragstone.retrieval.ranking.parameters import (
    RANKING_PARAMETERS,
    RRF_K,
    QueryType,
    RankingParameters,
)
from ragstone.types import ChunkOutline, ListTrace, Scored, SpaceInfo

_SYMBOL: Final = re.compile(r"^[\w$]+(?:(?:::|->|\.|/|\\|@|#|-)[\w$]+)*(?:\(\))?$")
_IDENTIFIER: Final = re.compile(r"[a-z][A-Z]|_|::|->|\.\w|/|\\|\(\)|[A-Z]{2,}[a-z]")
_QUESTION: Final = re.compile(
    r"^\s*(?:what|when|where|which|who|whom|whose|why|how|is|are|was|were|do|does|did|can|could|should|has|have)\b",
    re.I,
)
_NAME: Final = r"(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|->|#|\\)[A-Za-z_$][\w$]*)*)(?:\(\))?"
_KIND: Final = (
    r"(?:def|fn|func|class|interface|trait|enum|struct|function|method|type|constant)"
)
_DEFINED: Final = r"(?:defined|declared|implemented)"
_DEFINITION: Final = r"(?:definition|declaration|implementation)"
_WHERE_DEFINED: Final = re.compile(
    rf"where(?: is|'s|’s) (?:the )?(?:{_KIND} )?{_NAME}(?: {_KIND})? {_DEFINED}"
    rf"|(?:def|fn|func) {_NAME.replace('name', 'function')}",
    re.IGNORECASE,
)
_DEFINITION_OF: Final = re.compile(
    rf"(?:(?:(?:find|show)(?: me)? )?(?:the )?{_DEFINITION} of (?:the )?)?(?:{_KIND} )?{_NAME}(?: {_DEFINITION})?",
    re.IGNORECASE,
)
"""Of a name that is spelt as code: "class methods" and "definition of done" may be prose."""
_SPELT_AS_CODE: Final = re.compile(r"[A-Z_$.]|::|->")
MAX_DROPPED: Final = 50
"""Dropped candidates that an explanation lists."""
_STATEMENT_WORDS: Final = 7
"""From this many words on a query is a statement."""

RankedLists = Mapping[str, Sequence[Scored]]
"""The chunks of each list with their scores, best first."""
Weights = Mapping[str, float]
"""The weight of each list."""
Shares = Mapping[str, Sequence[float]]
"""The normalised scores of each list, in its order."""


@dataclass(slots=True)
class CandidateLists:
    """The ranked lists of a query by name, with the coverage and the space of each vector list."""

    rows: dict[str, list[Scored]] = field(default_factory=dict)
    coverage: dict[str, float] = field(default_factory=dict)
    spaces: dict[str, SpaceInfo] = field(default_factory=dict)
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    """The scale of the cosines of each vector list."""
    notes: list[str] = field(default_factory=list)
    outages: list[str] = field(default_factory=list)
    """Why services gave no vector of the query."""
    outlines: dict[int, ChunkOutline] = field(default_factory=dict)
    """Outlines that were read early, of chunks that are likely to be shown."""
    terms: list[str] = field(default_factory=list)
    """The terms of the query."""
    words_share: float = 1.0
    """The share of the query's terms that the best match by words has; set if words and vectors are fused."""
    has_failed: bool = False
    """Whether a service failed: the answer is worth less than the next one, and is not cached."""
    has_known_word: bool = False
    """Whether a word of the query is in the index; set if there is no list of words."""

    def add_space(self, info: SpaceInfo, near: list[Scored], calibration: Calibration) -> None:
        """Add the list of a space; spaces of the same model that are stored differently share one list."""
        name = self._list_name(info)
        merged = [*self.rows.get(name, ()), *near]
        unique = {row.id: row for row in merged}
        self.rows[name] = sorted(unique.values(), key=_by_score)
        coverage = self.coverage.get(name, 0.0) + info.coverage
        self.coverage[name] = min(1.0, coverage)
        self.spaces[name] = info
        self.calibrations[name] = calibration

    def _list_name(self, info: SpaceInfo) -> str:
        space = info.space
        for name, other in self.spaces.items():
            if other.space.fingerprint == space.fingerprint:
                return name
        if space.embedder in self.rows:
            return f"{space.embedder}:{space.model}"
        return space.embedder


@dataclass(frozen=True)
class FusedList:
    """The best chunks of several lists, the number of all chunks, and the lists with their normalised scores."""

    best: list[Scored]
    count: int
    lists: RankedLists
    normalised: Shares
    weights: Weights

    @cached_property
    def _places(self) -> dict[str, dict[int, int]]:
        """Return the place of each chunk in each list, from 0 on."""
        places = {}
        for name, rows in self.lists.items():
            places[name] = {row.id: place for place, row in enumerate(rows)}
        return places

    def traces(self, chunk: int) -> tuple[ListTrace, ...]:
        """Return the rank, score and weight of a chunk in each list that has it."""
        traces = []
        for name, places in self._places.items():
            place = places.get(chunk)
            if place is None:
                continue
            trace = ListTrace(
                name,
                rank=place + 1,
                score=self.lists[name][place].score,
                normalised=self.normalised[name][place],
                weight=self.weights.get(name, 0.0),
            )
            traces.append(trace)
        return tuple(traces)


def query_type(query: str) -> QueryType:
    """Return whether a query is a symbol, a question, a statement or keywords."""
    text = query.strip()
    is_plain_word = text.islower() and not _IDENTIFIER.search(text)
    if _SYMBOL.match(text) and not is_plain_word:
        return "symbol"
    if text.endswith("?") or _QUESTION.match(text):
        return "question"
    if len(text.split()) >= _STATEMENT_WORDS:
        return "statement"
    return "keywords"


def asked_definition(query: str) -> str:
    """Return the name whose definition a query asks for, such as "class Transport"; empty if it asks for something else.

    The other words of such a question are in many passages and in no definition.
    """
    text = " ".join(query.split()).rstrip("?. ")
    match = _WHERE_DEFINED.fullmatch(text)
    if match:
        return match["name"] or match["function"]
    match = _DEFINITION_OF.fullmatch(text)
    if match and _SPELT_AS_CODE.search(match["name"]):
        return match["name"]
    return ""


def list_weights(
    kind: QueryType,
    coverage: Mapping[str, float],
    *,
    words: bool,
    parameters: RankingParameters = RANKING_PARAMETERS,
) -> dict[str, float]:
    """Return the weight of each list.

    Vectors get a share that depends on the query type; it is divided among the spaces by their coverage. Words get
    the rest, if there is a list of them.
    """
    spaces = {name: share for name, share in coverage.items() if share > 0}
    if not spaces:
        return {"words": 1.0} if words else {}
    total = sum(spaces.values())
    if not words:
        return {name: share / total for name, share in spaces.items()}
    meaning = parameters.meaning[kind] * max(spaces.values())
    weights = {"words": 1.0 - meaning}
    for name, share in spaces.items():
        weights[name] = meaning * share / total
    return weights


def weighted_sum(
    lists: RankedLists,
    weights: Weights,
    *,
    calibrations: Mapping[str, Calibration] | None = None,
    words_share: float = 1.0,
    limit: int | None = None,
    parameters: RankingParameters = RANKING_PARAMETERS,
) -> FusedList:
    """Return the best chunks by the weighted sum of their normalised scores.

    Words are scaled so that the best match has 1, or less if it has few of the query's terms. Cosines count in standard
    deviations above those of unrelated chunks. So a list without a good match counts little. A list of words is scaled
    from zero and not from its last row, which depends on the number of rows.
    """
    normalised = {}
    for name, rows in lists.items():
        if name == "words":
            normalised[name] = _scale(rows, min(1.0, words_share / parameters.full_share))
        else:
            calibration = (calibrations or {}).get(name, Calibration())
            by_chance = deviations_by_chance(max(calibration.chunks, SMALL_SAMPLE))
            full = parameters.beyond_chance * by_chance
            normalised[name] = _scale_cosines(rows, calibration.collection, full)
    if "words" in weights and len(lists) > 1:
        normalised["words"] = _raise_without_vector(
            lists, normalised["words"], weights["words"]
        )
    return _fuse(lists, weights, normalised, limit)


def _raise_without_vector(
    lists: RankedLists, shares: Sequence[float], weight: float
) -> list[float]:
    """Return the shares of the list of words, so that texts without a vector yet count by words alone.

    Every other candidate by words has its cosine. Without this, a new text would lose the weight of its meaning.
    """
    with_vector: set[int] = set()
    for name, rows in lists.items():
        if name != "words":
            with_vector.update(row.id for row in rows)
    raised = []
    for row, share in zip(lists["words"], shares, strict=True):
        raised.append(share if row.id in with_vector or not weight else share / weight)
    return raised


def reciprocal_rank(
    lists: RankedLists, weights: Weights, *, limit: int | None = None
) -> FusedList:
    """Return the best chunks by reciprocal rank fusion, scaled so that a chunk that is first in all lists has 1."""
    equal_weights = {name: 1.0 / len(lists) for name in lists if name in weights}
    normalised = {name: _reciprocal_ranks(len(rows)) for name, rows in lists.items()}
    return _fuse(lists, equal_weights, normalised, limit)


def _reciprocal_ranks(count: int) -> list[float]:
    """Return the reciprocal ranks of a list, scaled so that the first is 1."""
    best = RRF_K + 1
    return [best / (RRF_K + rank) for rank in range(1, count + 1)]


def _scale(rows: Sequence[Scored], highest: float) -> list[float]:
    """Return the scores of a list scaled so that the best is `highest`."""
    scores = [row.score for row in rows]
    lowest = min(0.0, min(scores, default=0.0))
    width = (max(scores, default=1.0) - lowest) or 1.0
    return [highest * (score - lowest) / width for score in scores]


def _scale_cosines(
    rows: Sequence[Scored], background: Background, full_deviations: float
) -> list[float]:
    """Return cosines in units of `full_deviations` standard deviations above those of unrelated chunks."""
    return [max(0.0, background.deviations(row.score)) / full_deviations for row in rows]


def _fuse(
    lists: RankedLists,
    weights: Weights,
    normalised: Shares,
    limit: int | None,
) -> FusedList:
    sums: dict[int, float] = {}
    for name, rows in lists.items():
        weight = weights.get(name, 0.0)
        for row, share in zip(rows, normalised[name], strict=True):
            earlier = sums.get(row.id, 0.0)
            sums[row.id] = earlier + weight * share
    # Equal scores are ordered by id, so that the same index always gives the same answer.
    fused = [Scored(chunk, score) for chunk, score in sums.items()]
    fused.sort(key=lambda row: (-row.score, row.id))
    return FusedList(
        best=fused[:limit],
        count=len(sums),
        lists=lists,
        normalised=normalised,
        weights=weights,
    )


def filter_noise(
    fused: FusedList, floors: Mapping[str, float]
) -> tuple[list[Scored], list[Scored]]:
    """Return the best candidates that are related to the query, and some of those that are not.

    Some vector is always the nearest. It is no answer if it shares no word with the query and its cosine is noise.
    """
    related_ids: set[int] = set()
    for name, rows in fused.lists.items():
        if name != "words":
            floor = floors[name]
            rows = [row for row in rows if row.score > floor]
        related_ids.update(row.id for row in rows)
    related: list[Scored] = []
    unrelated: list[Scored] = []
    for row in fused.best:
        if row.id in related_ids:
            related.append(row)
        elif len(unrelated) < MAX_DROPPED:
            unrelated.append(row)
    return related, unrelated


def _by_score(row: Scored) -> tuple[float, int]:
    return -row.score, row.id
