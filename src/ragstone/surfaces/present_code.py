"""What every door shows of code that is understood: answers of the graph and the chunks behind them, as plain JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.surfaces.present import Json, hit

if TYPE_CHECKING:
    from ragstone.types import GraphAnswer, Retrieval


def retrieval(made: Retrieval, *, trace: bool = False) -> Json:
    """Return what a question about code brought: chunks, each with what brought it, and how it came about."""
    return {
        "success": True,
        "query": made.query,
        "answer": graph_answer(made.answer) if made.answer else None,
        "chunks": [{**hit(found, trace=trace), "label": found.label} for found in made.chunks],
        "debug": dict(made.debug),
    }


def graph_answer(told: GraphAnswer) -> Json:
    """Return what the graph says, with its evidence."""
    return {
        "intent": told.intent,
        "said": told.said,
        "facts": dict(told.facts),
        "evidence": [f"{uri}:{line}" for uri, line in told.evidence],
        "confidence": told.confidence,
        "negative": told.negative,
        "looked_in": list(told.looked_in),
        "nodes": [{"key": node.key, "kind": node.kind, "place": node.place} for node in told.nodes],
    }
