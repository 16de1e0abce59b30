"""Several ranked lists made into one: a weighted sum of normalised scores, or reciprocal ranks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ragstone.retrieval.ranking.weights import NUMBERS, RRF_K, Numbers, QueryType
from ragstone.types import ListTrace, Scored

_SYMBOL: Final = re.compile(r"^[\w$]+(?:(?:::|->|\.|/|\\|@|#|-)[\w$]+)*(?:\(\))?$")
_IDENTIFIER: Final = re.compile(r"[a-z][A-Z]|_|::|->|\.\w|/|\\|\(\)|[A-Z]{2,}[a-z]")
_QUESTION: Final = re.compile(
    r"^\s*(?:what|when|where|which|who|whom|whose|why|how|is|are|was|were|do|does|did|can|could|should|has|have)\b",
    re.I,
)
_MANY_WORDS: Final = 7


@dataclass(frozen=True)
class Fused:
    """One list made of several: the best of it, of how many, and where each came from."""

    best: list[Scored]
    count: int
    lists: Mapping[str, Sequence[Scored]]
    shares: Mapping[str, Sequence[float]]
    weights: Mapping[str, float]

    @cached_property
    def _places(self) -> dict[str, dict[int, int]]:
        """Where each chunk stands in each list."""
        return {name: {row.id: at for at, row in enumerate(rows)} for name, rows in self.lists.items()}

    def traces(self, chunk: int) -> tuple[ListTrace, ...]:
        """Return where a chunk stood in each list, and what that gave it."""
        return tuple(
            ListTrace(name, at + 1, self.lists[name][at].score, self.shares[name][at], self.weights.get(name, 0.0))
            for name, places in self._places.items()
            if (at := places.get(chunk)) is not None
        )


def query_type(query: str) -> QueryType:
    """Return how a query reads: a name, a question, a statement, or a few words."""
    text = query.strip()
    if text and _SYMBOL.match(text) and (_IDENTIFIER.search(text) or not text.islower()):
        return "symbol"
    if text.endswith("?") or _QUESTION.match(text):
        return "question"
    return "statement" if len(text.split()) >= _MANY_WORDS else "keywords"


def list_weights(
    kind: QueryType, coverage: Mapping[str, float], *, words: bool, numbers: Numbers = NUMBERS
) -> dict[str, float]:
    """Return each list's share: meaning by query type, divided among the spaces by how much each covers."""
    spaces = {name: share for name, share in coverage.items() if share > 0}
    if not spaces:
        return {"words": 1.0} if words else {}
    meaning = numbers.meaning[kind] * max(spaces.values()) if words else 1.0
    total = sum(spaces.values())
    weights = {name: meaning * share / total for name, share in spaces.items()}
    return {"words": 1.0 - meaning, **weights} if words else weights


def weighted_sum(
    lists: Mapping[str, Sequence[Scored]], weights: Mapping[str, float], *, limit: int | None = None
) -> Fused:
    """Return the best chunks by the weighted sum of each list's scores, scaled so that its best is 1.

    Both scores have a meaningful zero (no word in common, no likeness), so a list is scaled from there and not from
    its last row, which depends on how many rows were asked for.
    """
    shares = {name: _scaled(rows) for name, rows in lists.items()}
    return _fuse(lists, weights, shares, limit)


def reciprocal_rank(
    lists: Mapping[str, Sequence[Scored]], weights: Mapping[str, float], *, limit: int | None = None
) -> Fused:
    """Return the best chunks by reciprocal rank fusion, scaled so that first everywhere is 1."""
    even = {name: 1.0 / len(lists) for name in lists if name in weights}
    shares = {name: [(RRF_K + 1) / (RRF_K + rank) for rank in range(1, len(rows) + 1)] for name, rows in lists.items()}
    return _fuse(lists, even, shares, limit)


def _scaled(rows: Sequence[Scored]) -> list[float]:
    """Return a list's scores brought to 0..1."""
    scores = [row.score for row in rows]
    floor = min(0.0, min(scores, default=0.0))
    width = (max(scores, default=1.0) - floor) or 1.0
    return [(score - floor) / width for score in scores]


def _fuse(
    lists: Mapping[str, Sequence[Scored]],
    weights: Mapping[str, float],
    shares: Mapping[str, Sequence[float]],
    limit: int | None,
) -> Fused:
    sums: dict[int, float] = {}
    for name, rows in lists.items():
        weight = weights.get(name, 0.0)
        for row, share in zip(rows, shares[name], strict=True):
            sums[row.id] = sums.get(row.id, 0.0) + weight * share
    # Equal scores are ordered by id, so that the same index always gives the same answer.
    best = sorted((-score, chunk) for chunk, score in sums.items())[:limit]
    return Fused([Scored(chunk, 0.0 - score) for score, chunk in best], len(sums), lists, shares, weights)
