"""Hits and search explanations as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.surfaces.present import Json

if TYPE_CHECKING:  # a search loads few types
    from ragstone.types import Explanation, Hit, Trace


def hit_json(hit: Hit, *, trace: bool = False) -> Json:
    """Return a hit, with the trace of its score if asked."""
    span = hit.span
    default_unit = "" if span.page is None else "page"
    data: Json = {
        "doc_id": hit.doc_id,
        "text": hit.text,
        "score": hit.score,
        "metadata": dict(hit.metadata),
        "source_doc_id": hit.source_doc_id,
        "chunk_index": hit.chunk_index,
        "collection": hit.collection,
        "path": hit.source_doc_id,
        "place": hit.place,
        "lines": [span.line_start, span.line_end],
        "page": span.page,
        "page_label": span.page_label,
        "unit": span.unit or default_unit,
        "span": [span.start, span.end],
        "distance": hit.distance,
        "kind": hit.kind,
        "language": hit.language,
        "title": hit.title,
        "symbol": hit.symbol,
        "also_at": list(hit.also_at),
        "freshness": hit.freshness,
    }
    if trace:
        data["trace"] = _trace_json(hit.trace)
    return data


def answer_json(explanation: Explanation, *, trace: bool = False) -> Json:
    """Return a search's hits, its coverage and its notes."""
    return {
        "success": True,
        "query": explanation.query,
        "results": [hit_json(hit, trace=trace) for hit in explanation.hits],
        "coverage": dict(explanation.coverage),
        "notes": list(explanation.notes),
        "milliseconds": round(explanation.milliseconds, 3),
    }


def explanation_json(explanation: Explanation) -> Json:
    """Return everything about a search: hits with traces, terms, weights and dropped candidates."""
    dropped = [
        {"doc_id": candidate.doc_id, "score": candidate.score, "reason": candidate.reason}
        for candidate in explanation.dropped
    ]
    return {
        **answer_json(explanation, trace=True),
        "query_type": explanation.query_type,
        "terms": list(explanation.terms),
        "weights": dict(explanation.weights),
        "candidates": explanation.candidates,
        "dropped": dropped,
    }


def _trace_json(trace: Trace) -> Json:
    lists = [
        {
            "name": entry.name,
            "rank": entry.rank,
            "score": entry.score,
            "normalised": entry.normalised,
            "weight": entry.weight,
        }
        for entry in trace.lists
    ]
    return {
        "lists": lists,
        "boosts": [{"name": name, "factor": factor} for name, factor in trace.boosts],
        "merged": list(trace.merged),
        "fused": trace.fused,
        "confidence": trace.confidence,
    }
