"""The code graph as JSON: nodes, links, changes, impact and answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ragstone.surfaces.present import Json, format_time, pick
from ragstone.surfaces.present.hits import downgraded_json, hit_json, path_json
from ragstone.types import (
    Affected,
    Change,
    Confidence,
    GraphAnswer,
    GraphReport,
    Impact,
    Link,
    Node,
    Related,
    Retrieval,
    Unresolved,
)

CONFIDENCE_MEANINGS: Final[dict[Confidence, str]] = {
    "runtime": "reported by the running application",
    "evaluated": "found by following the framework's files",
    "declared": "written in the source",
    "convention": "follows from the framework's naming rules",
    "heuristic": "a guess",
}
"""What the confidence of a link means, the surest first."""


def explain_confidences(confidences: Iterable[Confidence]) -> dict[Confidence, str]:
    """Return the meaning of these confidences, the surest first."""
    used = set(confidences)
    return {
        confidence: meaning
        for confidence, meaning in CONFIDENCE_MEANINGS.items()
        if confidence in used
    }


def node_summary_json(node: Node) -> Json:
    """Return the identity of a node and the line that defines it."""
    return pick(node, "key", "kind", "name", "place", "collection")


def node_json(node: Node) -> Json:
    """Return a node with its signature, documentation and attributes."""
    return {
        **node_summary_json(node),
        **pick(node, "signature", "doc", "language", "framework", "attributes"),
    }


def link_json(link: Link) -> Json:
    """Return a link and the line that proves it."""
    return {
        **pick(link, "kind", "source", "target", "confidence", "conditional", "attributes"),
        "place": format_place(link),
    }


def format_place(item: Link | Unresolved | Change) -> str:
    """Return `path:line`, or the path if there is no line."""
    if item.line:
        return f"{item.uri}:{item.line}"
    return item.uri


def unresolved_json(reference: Unresolved) -> Json:
    """Return a reference whose target is unknown."""
    return {
        **pick(reference, "kind", "name", "receiver", "reason"),
        "place": format_place(reference),
    }


def related_json(related: Related) -> Json:
    """Return a connected node and the links that lead to it."""
    return {
        **node_summary_json(related.node),
        **pick(related, "hops", "confidence"),
        "links": [link_json(link) for link in related.links],
    }


def change_json(change: Change) -> Json:
    """Return a recorded run, a migration or a commit that changed something."""
    return {
        **pick(change, "kind", "key", "title", "text", "exact"),
        "when": format_time(change.when),
        "place": format_place(change),
    }


def impact_json(impact: Impact) -> Json:
    """Return everything that depends on a file or symbol, by kind."""
    return {
        "success": True,
        **pick(impact, "roots", "total", "more"),
        "groups": {kind: _affected_json(nodes) for kind, nodes in impact.groups},
    }


def _affected_json(nodes: Sequence[Affected]) -> list[Json]:
    return [
        {
            **pick(node, "key", "hops", "confidence", "conditional"),
            "links": [link_json(link) for link in node.links],
        }
        for node in nodes
    ]


def graph_report_json(report: GraphReport) -> Json:
    """Return the result of a graph update."""
    return {
        **pick(
            report,
            "collection",
            "files",
            "read",
            "resolved",
            "frameworks",
            "changed",
            "rendered",
            "removed",
        ),
        **pick(report, "remarks", "notes"),
        "seconds": round(report.seconds, 3),
    }


def retrieval_json(retrieval: Retrieval) -> Json:
    """Return the answer to a question about code, its chunks and its debug information."""
    return {
        "success": True,
        **pick(retrieval, "query", "debug"),
        "answer": None if retrieval.answer is None else graph_answer_json(retrieval.answer),
        "chunks": [
            {**hit_json(chunk), "label": chunk.label, **path_json(chunk.trace)}
            for chunk in retrieval.chunks
        ],
        "notes": list(retrieval.notes),
        **downgraded_json(retrieval),
    }


def graph_answer_json(answer: GraphAnswer) -> Json:
    """Return an answer from the graph with its evidence."""
    return {
        **pick(answer, "intent", "said", "facts", "confidence", "negative", "looked_in"),
        "evidence": [f"{uri}:{line}" for uri, line in answer.evidence],
        "nodes": [node_summary_json(node) for node in answer.nodes],
    }
