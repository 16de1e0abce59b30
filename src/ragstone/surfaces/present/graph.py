"""The code graph as JSON: nodes, links, changes, impact and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from ragstone.surfaces.present import Json, format_time
from ragstone.surfaces.present.hits import hit_json
from ragstone.types import (
    Affected,
    Change,
    GraphAnswer,
    GraphReport,
    Impact,
    Link,
    Node,
    Related,
    Retrieval,
    Unresolved,
)


def node_summary_json(node: Node) -> Json:
    """Return the identity of a node and the line that defines it."""
    return {
        "key": node.key,
        "kind": node.kind,
        "name": node.name,
        "place": node.place,
        "collection": node.collection,
    }


def node_json(node: Node) -> Json:
    """Return a node with its signature, documentation and attributes."""
    return {
        **node_summary_json(node),
        "signature": node.signature,
        "doc": node.doc,
        "language": node.language,
        "framework": node.framework,
        "attributes": dict(node.attributes),
    }


def link_json(link: Link) -> Json:
    """Return a link and the line that proves it."""
    return {
        "kind": link.kind,
        "source": link.source,
        "target": link.target,
        "place": format_place(link),
        "confidence": link.confidence,
        "conditional": link.conditional,
        "attributes": dict(link.attributes),
    }


def format_place(item: Link | Unresolved | Change) -> str:
    """Return `path:line`, or the path if there is no line."""
    if item.line:
        return f"{item.uri}:{item.line}"
    return item.uri


def unresolved_json(reference: Unresolved) -> Json:
    """Return a reference whose target is unknown."""
    return {
        "kind": reference.kind,
        "name": reference.name,
        "receiver": reference.receiver,
        "place": format_place(reference),
        "reason": reference.reason,
    }


def related_json(related: Related) -> Json:
    """Return a connected node and the links that lead to it."""
    return {
        **node_summary_json(related.node),
        "hops": related.hops,
        "confidence": related.confidence,
        "links": [link_json(link) for link in related.links],
    }


def change_json(change: Change) -> Json:
    """Return a recorded run, a migration or a commit that changed something."""
    return {
        "kind": change.kind,
        "key": change.key,
        "title": change.title,
        "text": change.text,
        "when": format_time(change.when),
        "place": format_place(change),
        "exact": change.exact,
    }


def impact_json(impact: Impact) -> Json:
    """Return everything that depends on a file or symbol, by kind."""
    return {
        "success": True,
        "roots": list(impact.roots),
        "groups": {kind: _affected_json(nodes) for kind, nodes in impact.groups},
        "total": impact.total,
        "more": impact.more,
    }


def _affected_json(nodes: Sequence[Affected]) -> list[Json]:
    return [
        {
            "key": node.key,
            "hops": node.hops,
            "confidence": node.confidence,
            "conditional": node.conditional,
            "links": [link_json(link) for link in node.links],
        }
        for node in nodes
    ]


def graph_report_json(report: GraphReport) -> Json:
    """Return the result of a graph update."""
    return {**asdict(report), "seconds": round(report.seconds, 3)}


def retrieval_json(retrieval: Retrieval) -> Json:
    """Return the answer to a question about code, its chunks and its debug information."""
    answer = None
    if retrieval.answer is not None:
        answer = graph_answer_json(retrieval.answer)
    return {
        "success": True,
        "query": retrieval.query,
        "answer": answer,
        "chunks": [{**hit_json(chunk), "label": chunk.label} for chunk in retrieval.chunks],
        "debug": dict(retrieval.debug),
    }


def graph_answer_json(answer: GraphAnswer) -> Json:
    """Return an answer from the graph with its evidence."""
    return {
        "intent": answer.intent,
        "said": answer.said,
        "facts": dict(answer.facts),
        "evidence": [f"{uri}:{line}" for uri, line in answer.evidence],
        "confidence": answer.confidence,
        "negative": answer.negative,
        "looked_in": list(answer.looked_in),
        "nodes": [node_summary_json(node) for node in answer.nodes],
    }
