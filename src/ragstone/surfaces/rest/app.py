"""The REST app: all routes, one shape of failures, and the guard in front."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from ragstone import __version__
from ragstone.errors import RagstoneError
from ragstone.surfaces.rest.guard import Guard
from ragstone.surfaces.rest.replies import answer_failure
from ragstone.surfaces.rest.routes import (
    collections,
    documents,
    events,
    graph,
    health,
    jobs,
    keys,
    memory,
    search,
    session,
)
from ragstone.surfaces.rest.state import ServerState

ROUTERS: Final[tuple[APIRouter, ...]] = (
    health.router,
    collections.router,
    documents.router,
    search.router,
    memory.router,
    graph.router,
    jobs.router,
    events.router,
    keys.router,
    session.router,
)


_CROSS_SITE_HEADERS: Final = (
    "authorization",
    "content-type",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
)
"""Headers that pages of `server.origins` may send."""

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
"""Parts that run as long as the app does."""


def create_app(server: ServerState, *, lifespan: Lifespan | None = None) -> FastAPI:
    """Return the app of a server."""
    app = FastAPI(
        title="Ragstone",
        version=__version__,
        description="Knowledge for AI agents: collections, search, context, memory.",
        docs_url=None,  # the page of FastAPI loads scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
    )
    app.state.server = server
    for router in ROUTERS:
        app.router.routes += router.routes
    for kind in (RagstoneError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, answer_failure)
    return app


def guarded(app: FastAPI, server: ServerState) -> Guard:
    """Return the app behind the checks of headers and bodies."""
    settings = server.engines.settings.server
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.lower().rstrip("/") for origin in settings.origins],
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=_CROSS_SITE_HEADERS,
            expose_headers=["retry-after", "mcp-session-id"],
        )
    return Guard(
        app,
        hosts=(*settings.hosts, settings.host),
        origins=settings.origins,
        max_body_bytes=settings.max_body_mb * 1_000_000,
        body_seconds=settings.body_seconds,
    )
