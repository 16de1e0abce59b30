"""Routers whose routes state their scope and document every status."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from ragstone.surfaces.present import Json
from ragstone.surfaces.rest.authorised_route import ScopedRoute


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
    504: "The work began and takes longer than `server.seconds`; it goes on.",
}


def create_router(tag: str, prefix: str = "") -> APIRouter:
    """Return a router for routes of one subject."""
    responses: dict[int | str, Json] = {
        status: {"model": FailureAnswer, "description": text}
        for status, text in _FAILURES.items()
    }
    responses[200] = {"model": Answer, "description": "The answer."}
    return APIRouter(prefix=prefix, route_class=ScopedRoute, tags=[tag], responses=responses)
