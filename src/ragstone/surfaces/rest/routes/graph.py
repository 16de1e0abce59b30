"""The code graph, and the runs of agents."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from ragstone.surfaces.present.graph import change_json, impact_json, node_json, related_json
from ragstone.surfaces.present.reports import add_report_json
from ragstone.surfaces.rest.authorised_route import AuthorisedCall, needs
from ragstone.surfaces.rest.bodies import RunBody
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.router import create_router

router = create_router("graph", "/api/rag")
Limit = Annotated[int, Query(ge=1, le=10_000)]
Name = Annotated[str, Query(min_length=1, description="A key, path or name of a node.")]
Kinds = Annotated[list[str] | None, Query(description="Kinds of nodes; may be repeated.")]


@router.get("/graph/nodes")
@needs("read")
def list_nodes(call: AuthorisedCall, kinds: Kinds = None, limit: Limit = 100) -> Response:
    """List nodes: routes, tables, classes, files."""
    nodes = call.engine.graph.nodes(kinds=kinds, limit=limit)
    return reply({"nodes": [node_json(node) for node in nodes]})


@router.get("/graph/related")
@needs("read")
def related(
    call: AuthorisedCall,
    name: Name,
    kinds: Kinds = None,
    hops: Annotated[int, Query(ge=1, le=6)] = 1,
    limit: Limit = 50,
) -> Response:
    """Return the nodes that a node is connected to."""
    nodes = call.engine.graph.related(name, kinds=kinds, hops=hops, limit=limit)
    return reply({"related": [related_json(node) for node in nodes]})


@router.get("/graph/impact")
@needs("read")
def impact(call: AuthorisedCall, name: Name) -> Response:
    """Return the nodes that depend on a file or a symbol."""
    return reply(impact_json(call.engine.graph.impact(name)))


@router.get("/graph/history")
@needs("read")
def history(call: AuthorisedCall, name: Name, limit: Limit = 50) -> Response:
    """Return the changes of a file, a symbol or a table, newest first."""
    changes = call.engine.graph.history(name, limit=limit, commits=call.has_folder)
    return reply({"changes": [change_json(change) for change in changes]})


@router.post("/runs")
@needs("write")
def record_run(call: AuthorisedCall, body: RunBody) -> Response:
    """Store the run of an agent with the files that it changed."""
    changes = [change.model_dump() for change in body.changes]
    report = call.engine.record_run(
        body.run_id, body.summary, changes, at=body.at, collection=body.collection
    )
    return reply({**add_report_json(report), "run_id": body.run_id})
