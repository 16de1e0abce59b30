"""What every door shows of the graph of the code: nodes, links, stories and reports as plain JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.surfaces.present import Json, hit, moment

if TYPE_CHECKING:
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
        Story,
        Unresolved,
    )


def node(one: Node) -> Json:
    """Return a node with all that is known of it."""
    return {**brief(one), "signature": one.signature, "doc": one.doc, "language": one.language,
            "framework": one.framework, "attributes": dict(one.attributes)}  # fmt: skip


def brief(one: Node) -> Json:
    """Return what a node is and where it stands."""
    return {"key": one.key, "kind": one.kind, "name": one.name, "place": one.place, "collection": one.collection}


def link(one: Link) -> Json:
    """Return a link with the place that says so."""
    return {
        "kind": one.kind,
        "source": one.source,
        "target": one.target,
        "place": place(one),
        "confidence": one.confidence,
        "conditional": one.conditional,
        "attributes": dict(one.attributes),
    }


def place(one: Link | Unresolved | Change) -> str:
    """Return where it is written: `path:line`."""
    return f"{one.uri}:{one.line}" if one.line else one.uri


def story(told: Story) -> Json:
    """Return what is known of a node: its links by kind, and what nothing written decides."""
    return {
        "success": True,
        "node": node(told.node),
        "out_of": {kind: [link(one) for one in links] for kind, links in told.out_of},
        "into": {kind: [link(one) for one in links] for kind, links in told.into},
        "nodes": {key: brief(one) for key, one in told.nodes.items()},
        "unresolved": [unresolved(one) for one in told.unresolved],
        "confidence": told.confidence,
        "more": told.more,
    }


def unresolved(one: Unresolved) -> Json:
    """Return a use of a name that could be anything of that name."""
    return {"kind": one.kind, "name": one.name, "receiver": one.receiver, "place": place(one), "reason": one.reason}


def related(one: Related) -> Json:
    """Return something that hangs together with what was asked about, and by which links."""
    return {
        **brief(one.node),
        "hops": one.hops,
        "confidence": one.confidence,
        "links": [link(each) for each in one.links],
    }


def change(one: Change) -> Json:
    """Return something that changed what was asked about."""
    return {
        "kind": one.kind,
        "key": one.key,
        "title": one.title,
        "text": one.text,
        "when": moment(one.when),
        "place": place(one),
        "exact": one.exact,
    }


def impact(told: Impact) -> Json:
    """Return what depends on something, by kind."""
    return {
        "success": True,
        "roots": list(told.roots),
        "groups": {kind: [_affected(one) for one in found] for kind, found in told.groups},
        "total": told.total,
        "more": told.more,
    }


def _affected(one: Affected) -> Json:
    return {
        "key": one.key,
        "hops": one.hops,
        "confidence": one.confidence,
        "conditional": one.conditional,
        "links": [link(each) for each in one.links],
    }


def graph_report(one: GraphReport) -> Json:
    """Return what it took to bring a graph level."""
    return {
        "collection": one.collection,
        "files": one.files,
        "read": one.read,
        "resolved": one.resolved,
        "frameworks": list(one.frameworks),
        "changed": dict(one.changed),
        "rendered": one.rendered,
        "removed": one.removed,
        "remarks": list(one.remarks),
        "notes": list(one.notes),
        "seconds": round(one.seconds, 3),
    }


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
        "nodes": [brief(one) for one in told.nodes],
    }
