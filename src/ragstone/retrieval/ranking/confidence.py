"""How sure an answer is. The fused scores order the hits of one query; they do not say whether any hit is good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.retrieval.ranking.background import Calibration
from ragstone.text import terms
from ragstone.types import ListTrace, StoredChunk

Traces = Mapping[int, tuple[ListTrace, ...]]
"""The rank and score of each chunk in each list."""

Calibrations = Mapping[str, Calibration]
"""The scale of the cosines of each vector list."""

WEAK_CONFIDENCE: Final = 0.2
"""Below it an answer says that nothing fits well. On the small folders of the evals, nonsense reaches .07. Not set by an
eval."""
NOTHING_FITS: Final = "nothing fits well: these are only the nearest passages"


def confidence(
    best: Sequence[StoredChunk],
    traces: Traces,
    weights: Mapping[str, float],
    query_terms: Sequence[str],
    calibrations: Calibrations,
) -> float:
    """Return how sure the best hits are, from 0 to 1, comparable between queries and models.

    It is the weighted sum of the share of the query's terms in a chunk and of its cosines, for the surest chunk.
    """
    word_weight = weights.get("words", 0.0)
    surest = 0.0
    for row in best:
        meaning = _weighted_cosines(traces[row.id], weights, calibrations)
        if meaning + word_weight <= surest:
            continue  # not even all terms of the query would make this chunk surer
        chunk = row.chunk
        text = f"{row.uri} {chunk.symbol} {chunk.header} {chunk.text}"
        share = _share(query_terms, set(terms(text)))
        surest = max(surest, meaning + word_weight * share)
    return min(1.0, surest)


def _weighted_cosines(
    traces: tuple[ListTrace, ...], weights: Mapping[str, float], calibrations: Calibrations
) -> float:
    """Return the weighted sum of a chunk's cosines above those of unrelated chunks."""
    total = 0.0
    for trace in traces:
        if trace.name != "words":
            share = calibrations[trace.name].share(trace.score)
            total += weights.get(trace.name, 0.0) * share
    return total


def _share(query_terms: Sequence[str], present: set[str]) -> float:
    """Return the share of the query terms that are present."""
    if not query_terms:
        return 0.0
    count = sum(term in present for term in query_terms)
    return count / len(query_terms)
