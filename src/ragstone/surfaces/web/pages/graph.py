"""The code graph as a picture that can be searched, filtered and walked."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import Query, Response
from starlette.responses import JSONResponse

from ragstone.errors import NotFound
from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.web.graph_picture import (
    MAX_NODES,
    GraphFrame,
    describe_picture,
    draw_picture,
    node_label,
    picture_json,
)
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, page_router
from ragstone.types import Story

NAV: Final = NavItem("Graph", "/graph", "graph", "r")
_MAX_LINKS: Final = 200
router = page_router()
Kinds = Annotated[list[str] | None, Query()]
Key = Annotated[str, Query(max_length=2000)]


@router.get("/graph")
@needs("read")
def show_graph(
    page: AuthorisedPage,
    kinds: Kinds = None,
    node: Key = "",
    arrange: Literal["", "kind", "file"] = "",
    connected: bool = False,
) -> Response:
    """Show the picture as the address says, and the details of a node if one is named."""
    frame = GraphFrame([])
    if page.engine.enabled:
        frame = describe_picture(page.engine, kinds or ())
    return page.render(
        "graph.html",
        frame=frame,
        arrange=arrange or frame.arrangement,
        is_connected=connected,
        node=node,
        story=_story(page, node) if node else None,
        node_label=node_label,
        max_nodes=MAX_NODES,
    )


@router.get("/graph/picture")
@needs("read")
def send_picture(page: AuthorisedPage, kinds: Kinds = None) -> Response:
    """Return the nodes and links of the picture as data for its script."""
    return JSONResponse(picture_json(draw_picture(page.engine, kinds or ())))


@router.get("/graph/node")
@needs("read")
def show_node(page: AuthorisedPage, key: Key) -> Response:
    """Show a node: its place, its signature and its links."""
    return page.render("graph_node.html", story=_story(page, key), node_label=node_label)


def _story(page: AuthorisedPage, key: str) -> Story | None:
    """Return everything about a node; None if it does not exist any more."""
    graph = page.engine.graph
    try:
        return graph.explain(graph.node(key), _MAX_LINKS)
    except NotFound:
        return None
