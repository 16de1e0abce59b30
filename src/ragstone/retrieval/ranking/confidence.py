"""How sure an answer is. The fused scores order the hits of one query; they do not say whether any hit is good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.text import terms
from ragstone.types import ListTrace, StoredChunk

Traces = Mapping[int, tuple[ListTrace, ...]]
"""The rank and score of each chunk in each list."""

COSINE_FLOOR: Final = 0.05
"""A smaller cosine of the built-in model means nothing; confidence counts from here."""


def confidence(
    best: Sequence[StoredChunk],
    traces: Traces,
    weights: Mapping[str, float],
    query_terms: Sequence[str],
) -> float:
    """Return how sure the best hits are, from 0 to 1, comparable between queries.

    It is the weighted sum of the share of the query's terms in a chunk and of its cosines, for the surest chunk.
    """
    word_weight = weights.get("words", 0.0)
    surest = 0.0
    for row in best:
        meaning = _weighted_cosines(traces[row.id], weights)
        if meaning + word_weight <= surest:
            continue  # not even all terms of the query would make this chunk surer
        chunk = row.chunk
        text = f"{row.uri} {chunk.symbol} {chunk.header} {chunk.text}"
        share = _share(query_terms, set(terms(text)))
        surest = max(surest, meaning + word_weight * share)
    return min(1.0, surest)


def _weighted_cosines(traces: tuple[ListTrace, ...], weights: Mapping[str, float]) -> float:
    """Return the weighted sum of a chunk's cosines above the floor."""
    total = 0.0
    for trace in traces:
        if trace.name == "words":
            continue
        above_floor = trace.score - COSINE_FLOOR
        share = max(0.0, above_floor / (1 - COSINE_FLOOR))
        total += weights.get(trace.name, 0.0) * share
    return total


def _share(query_terms: Sequence[str], present: set[str]) -> float:
    """Return the share of the query terms that are present."""
    if not query_terms:
        return 0.0
    count = sum(term in present for term in query_terms)
    return count / len(query_terms)
