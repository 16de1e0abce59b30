"""The REST app: all routes, one shape of failures, and the guard in front."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

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
    memory,
    search,
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
)


class Answer(BaseModel):
    """A successful answer; its other fields are in docs/guides/server.md."""

    model_config = ConfigDict(extra="allow")
    success: bool


class FailureDetail(BaseModel):
    """Why a request failed."""

    code: str
    message: str
    hint: str
    retryable: bool


class FailureAnswer(BaseModel):
    """The shape of every failure."""

    success: bool
    error: FailureDetail


_FAILURES: Final = {
    400: "The request is wrong.",
    401: "A valid key is missing.",
    403: "The key, the Host or the Origin is not allowed.",
    404: "There is no such project, collection, document or job.",
    405: "The address has no such method.",
    408: "The body arrived too slowly.",
    409: "The stored state does not allow it.",
    413: "The body is too large.",
    422: "A file cannot be turned into text.",
    429: "A limit is reached; Retry-After says when to try again.",
    500: "A bug, or the store cannot be used.",
    501: "An optional package is not installed.",
    502: "A model or a remote service failed.",
    503: "Another writer holds the store.",
}


def create_app(server: ServerState) -> FastAPI:
    """Return the app of a server."""
    responses: dict[int | str, dict[str, Any]] = {
        status: {"model": FailureAnswer, "description": text}
        for status, text in _FAILURES.items()
    }
    responses[200] = {"model": Answer, "description": "The answer."}
    app = FastAPI(
        title="Ragstone",
        version=__version__,
        description="Knowledge for AI agents: collections, search, context, memory.",
        docs_url=None,  # the page of FastAPI loads scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
        responses=responses,
    )
    app.state.server = server
    for router in ROUTERS:
        app.include_router(router)
    for kind in (RagstoneError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, answer_failure)
    return app


def guarded(app: FastAPI, server: ServerState) -> Guard:
    """Return the app behind the checks of headers and bodies."""
    settings = server.engines.settings.server
    return Guard(
        app,
        hosts=(*settings.hosts, settings.host),
        origins=settings.origins,
        max_body_bytes=settings.max_body_mb * 1_000_000,
        body_seconds=settings.body_seconds,
    )
