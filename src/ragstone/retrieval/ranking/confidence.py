"""How sure an answer is: what the fused scores of one query cannot say."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Final

from ragstone.text import beginnings, squeezed, terms
from ragstone.types import ListTrace, StoredChunk

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
    begin = beginnings(wanted)
    possible = []
    for row in best:
        meaning = sum(
            weights.get(trace.name, 0.0) * max(0.0, (trace.score - COSINE_FLOOR) / (1 - COSINE_FLOOR))
            for trace in traces[row.id]
            if trace.name != "words"
        )
        text = f"{row.uri} {row.chunk.symbol} {row.chunk.header} {row.chunk.text}"
        plain = squeezed(text)
        may_be = 1.0 if plain is None else _share(begin, plain)
        possible.append((meaning + words * may_be, meaning, text))
    surest = 0.0
    for most, meaning, text in sorted(possible, reverse=True):
        if most <= surest:  # not even all words that may be there would make it surer
            break
        surest = max(surest, meaning + words * _share(wanted, set(terms(text))))
    return min(1.0, surest)


def _share(wanted: Sequence[str], there: Container[str]) -> float:
    return sum(one in there for one in wanted) / len(wanted) if wanted else 0.0
