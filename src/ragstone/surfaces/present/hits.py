"""Hits and search explanations as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.surfaces.present import Json, pick

if TYPE_CHECKING:  # a search loads few types
    from ragstone.types import Cited, Context, Explanation, Hit, Retrieval, Span, Trace


def hit_json(hit: Hit, *, trace: bool = False) -> Json:
    """Return a hit, with the trace of its score if asked."""
    data: Json = {
        **pick(
            hit,
            "doc_id",
            "text",
            "score",
            "metadata",
            "source_doc_id",
            "chunk_index",
            "collection",
        ),
        "path": hit.path,
        "citation": hit.citation,
        "place": hit.citation,
        **span_json(hit.span),
        "lines": list(hit.lines),
        **pick(hit, "distance", "kind", "language", "title", "symbol"),
        "duplicates": list(hit.duplicates),
        "also_at": list(hit.duplicates),
        **pick(hit, "freshness", "ingested_at"),
    }
    data |= slices_json(hit) | summary_json(hit)
    if trace:
        data["trace"] = _trace_json(hit.trace)
    return data


def span_json(span: Span) -> Json:
    """Return the position of a slice in its document."""
    default_unit = "" if span.page is None else "page"
    return {
        "lines": [span.line_start, span.line_end],
        "page": span.page,
        "page_label": span.page_label,
        "unit": span.unit or default_unit,
        "span": [span.start, span.end],
        "bytes": [span.byte_start, span.byte_end],
    }


def slices_json(passage: Hit | Cited) -> Json:
    """Return the parts of a compressed passage with their places; nothing if it has none, as a summary."""
    if not passage.slices or passage.is_summary:
        return {}
    parts = [{"text": part.text, **span_json(part.span)} for part in passage.slices]
    return {"slices": parts}


def summary_json(passage: Hit | Cited) -> Json:
    """Return `summary: true` for a text that Ragstone wrote; nothing for others."""
    return {"summary": True} if passage.is_summary else {}


def answer_json(explanation: Explanation, *, trace: bool = False) -> Json:
    """Return a search's hits, its coverage and its notes."""
    return {
        "success": True,
        "query": explanation.query,
        "results": [hit_json(hit, trace=trace) for hit in explanation.hits],
        **pick(explanation, "coverage", "notes", "suggestion"),
        "milliseconds": round(explanation.milliseconds, 3),
        **downgraded_json(explanation),
    }


def downgraded_json(answer: Explanation | Context | Retrieval) -> Json:
    """Return the options that the plan switched off; nothing if there are none."""
    if not answer.downgraded:
        return {}
    return {"downgraded": list(answer.downgraded)}


def explanation_json(explanation: Explanation) -> Json:
    """Return everything about a search: hits with traces, terms, weights and dropped candidates."""
    return {
        **answer_json(explanation, trace=True),
        **pick(explanation, "query_type", "terms", "weights", "candidates"),
        "dropped": [
            pick(candidate, "doc_id", "citation", "score", "reason")
            for candidate in explanation.dropped
        ],
    }


def _trace_json(trace: Trace) -> Json:
    return {
        "lists": [
            pick(entry, "name", "rank", "score", "normalised", "weight")
            for entry in trace.lists
        ],
        "boosts": [{"name": name, "factor": factor} for name, factor in trace.boosts],
        **pick(trace, "merged", "fused", "confidence"),
        **path_json(trace),
    }


def path_json(trace: Trace) -> Json:
    """Return the way in the code graph to a hit; nothing if it has none."""
    if not trace.path:
        return {}
    return {"graph_path": [pick(step, "node", "link", "place") for step in trace.path]}
