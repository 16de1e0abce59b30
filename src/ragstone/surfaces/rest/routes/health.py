"""Health, metrics, the description of the interface, and the list of MCP tools."""

from __future__ import annotations

import sys
import time

from fastapi import Request, Response
from starlette.responses import PlainTextResponse

from ragstone import __version__
from ragstone.surfaces.rest.replies import JsonReply, reply
from ragstone.surfaces.rest.route import AuthorisedCall, needs
from ragstone.surfaces.rest.router import create_router
from ragstone.surfaces.tools import ALL_TOOLS, CODE_TOOLS, DEFAULT_TOOLS

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

router = create_router("server")


@router.get("/health")
@router.get("/api/rag/health", include_in_schema=False)
@needs("public")
async def health() -> Response:
    """Return that the server runs; it says nothing about projects."""
    return reply({"status": "ok", "version": __version__})


@router.get("/metrics", response_class=PlainTextResponse)
@router.get("/api/rag/metrics", response_class=PlainTextResponse, include_in_schema=False)
@needs("admin")
def metrics(call: AuthorisedCall) -> Response:
    """Return counters for Prometheus: those of the key's project; for the server's own project, of all."""
    server = call.server
    if not call.has_folder:
        return PlainTextResponse(server.metrics.render(call.project))
    gauges = (
        ("ragstone_up_seconds", "Seconds since the start.", time.time() - server.started),
        ("ragstone_projects", "Projects used since the start.", server.engines.count()),
        ("ragstone_requests_present", "Requests running or waiting.", server.admission.present),
        ("ragstone_refused_total", "Requests refused with 429.", server.admission.refused),
        ("ragstone_streams", "Open event streams.", server.streams.open),
        ("ragstone_memory_bytes", "Largest resident memory so far.", _memory_bytes()),
    )
    return PlainTextResponse(server.metrics.render(None, gauges))


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


def _memory_bytes() -> float:
    """Return the largest resident memory of this process; 0 on systems that do not say."""
    if resource is None:
        return 0.0
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(largest if sys.platform == "darwin" else largest * 1024)
