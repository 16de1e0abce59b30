"""How sure an answer is: what the fused scores of one query cannot say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.types import ListTrace, StoredChunk
from ragstone.words import terms

Traces = Mapping[int, tuple[ListTrace, ...]]
"""Where each chunk that is shown stood in each list."""

# A cosine below this says nothing for the built-in model; confidence starts counting here.
COSINE_FLOOR: Final = 0.05


def confidence(
    best: Sequence[StoredChunk], traces: Traces, weights: Mapping[str, float], wanted: Sequence[str]
) -> float:
    """Return how sure the best hits are, 0 to 1, comparable between queries: word coverage and cosine, weighted.

    The fused score orders the hits of one query; it says nothing about whether any of them is good.
    """
    words = weights.get("words", 0.0)
    surest = 0.0
    for row in best:
        meaning = sum(
            weights.get(trace.name, 0.0) * max(0.0, (trace.score - COSINE_FLOOR) / (1 - COSINE_FLOOR))
            for trace in traces[row.id]
            if trace.name != "words"
        )
        if meaning + words > surest:  # else not even all of the words would make it surer
            surest = max(surest, meaning + words * _share_of_terms(row, wanted))
    return min(1.0, surest)


def _share_of_terms(row: StoredChunk, wanted: Sequence[str]) -> float:
    chunk = row.chunk
    there = set(terms(f"{row.uri} {chunk.symbol} {chunk.header} {chunk.text}"))
    return sum(term in there for term in wanted) / len(wanted) if wanted else 0.0
