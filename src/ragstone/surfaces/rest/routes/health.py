"""Health, metrics, the description of the interface, and the list of MCP tools."""

from __future__ import annotations

import time

from fastapi import Request, Response
from starlette.responses import PlainTextResponse

from ragstone import __version__
from ragstone.surfaces.present import Json
from ragstone.surfaces.rest.authorised_route import AuthorisedCall, needs
from ragstone.surfaces.rest.metrics import render
from ragstone.surfaces.rest.replies import JsonReply, reply
from ragstone.surfaces.rest.router import create_router
from ragstone.surfaces.rest.state import GAUGES
from ragstone.surfaces.tools import ALL_TOOLS, CODE_TOOLS, DEFAULT_TOOLS

router = create_router("server")


@router.get("/health")
@router.get("/api/rag/health", include_in_schema=False)
@needs("public")
async def health(request: Request) -> Response:
    """Return that the server runs; it says nothing about projects."""
    data: Json = {"status": "ok", "version": __version__}
    worker = request.app.state.server.worker
    if worker is not None:
        data["worker"] = worker
    return reply(data)


@router.get("/metrics", response_class=PlainTextResponse)
@router.get("/api/rag/metrics", response_class=PlainTextResponse, include_in_schema=False)
@needs("admin")
def metrics(call: AuthorisedCall) -> Response:
    """Return counters for Prometheus: those of the key's project; for the server's own project, of all."""
    server = call.server
    counts = server.metrics.all(server.gauges())
    if not call.has_folder:
        return PlainTextResponse(render(counts, call.project))
    gauges = [
        ("ragstone_up_seconds", "Seconds since the start.", time.time() - server.started),
        ("ragstone_projects", "Projects used since the start.", server.engines.count()),
        *((name, text, counts.gauges[name]) for name, text in GAUGES.items()),
    ]
    return PlainTextResponse(render(counts, None, gauges))


@router.get("/openapi.json", include_in_schema=False)
@needs("public")
async def openapi(request: Request) -> Response:
    """Return the description of all routes."""
    return JsonReply(request.app.openapi())


@router.get("/mcp/discovery")
@needs("read")
def discovery(call: AuthorisedCall) -> Response:
    """Return the tools that the MCP server offers, with their schemas."""
    return reply(
        {
            "endpoint": "/mcp",
            "endpoint_of_all_tools": "/mcp/all",
            "default_tools": [tool.name for tool in (*DEFAULT_TOOLS, *CODE_TOOLS)],
            "tools": [tool.mcp() for tool in ALL_TOOLS],
        }
    )
