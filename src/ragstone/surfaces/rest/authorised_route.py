"""A route that authorises before it reads the body, waits for its turn, and answers in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Annotated, Final, Literal, TypeVar, cast

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from ragstone.access.identity import Identity, KeyScope, authorize
from ragstone.engine import Engine
from ragstone.errors import NotFound
from ragstone.indexing.events import ACTOR
from ragstone.surfaces.rest.replies import answer_failure
from ragstone.surfaces.rest.state import ServerState
from ragstone.types import Collection

Handler = Callable[[Request], Coroutine[object, object, Response]]
Endpoint = TypeVar("Endpoint", bound=Callable[..., object])
RouteScope = KeyScope | Literal["public"]
_SCOPE: Final = "key_scope"
_STREAM: Final = "is_stream"


def needs(scope: RouteScope, *, stream: bool = False) -> Callable[[Endpoint], Endpoint]:
    """Mark an endpoint with the scope that a key must have; `public` needs no key. Every endpoint has a mark."""

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _SCOPE, scope)
        setattr(endpoint, _STREAM, stream)
        return endpoint

    return mark


class Call:
    """One authorised request: the identity of the caller, and the engine of its project."""

    def __init__(self, request: Request) -> None:
        """Take a request that `ScopedRoute` has authorised."""
        self.server: ServerState = request.app.state.server
        self.identity: Identity = request.state.identity

    @property
    def project(self) -> str:
        """Return the name of the caller's project."""
        return self.identity.project

    @property
    def engine(self) -> Engine:
        """Return the engine of the caller's project."""
        return self.server.engines.engine(self.project)

    @property
    def has_folder(self) -> bool:
        """Return whether the project is the one with the server's folder."""
        return self.project == self.server.engines.own_project

    def collection(self, name_or_uuid: str) -> Collection:
        """Return a collection of the caller's project by its uuid or name; `NotFound` if there is none."""
        collections = self.engine.admin.collections()
        for attribute in ("uuid", "name"):
            for collection in collections:
                if getattr(collection, attribute) == name_or_uuid:
                    return collection
        raise NotFound(
            f"there is no collection {name_or_uuid!r}",
            hint="GET /api/rag/collections lists them",
        )


async def authorised_call(request: Request) -> Call:
    """Return the call of a request, for the endpoints."""
    return Call(request)


AuthorisedCall = Annotated[Call, Depends(authorised_call)]


def make_validity_check(
    request: Request, scope: KeyScope
) -> Callable[[], Coroutine[object, object, bool]]:
    """Return a check that a stream repeats: whether the server runs and the key still allows it."""
    server: ServerState = request.app.state.server

    async def check() -> bool:
        if server.stopping.is_set():
            return False
        identity = await run_in_threadpool(server.identify, request.headers)
        return identity is not None and identity.allows(scope)

    return check


class ScopedRoute(APIRoute):
    """A route whose endpoint is marked with `needs`; FastAPI alone would read the body first."""

    @property
    def key_scope(self) -> RouteScope:
        """Return the scope that a key must have."""
        return cast(RouteScope, getattr(self.endpoint, _SCOPE))

    def get_route_handler(self) -> Handler:
        """Return the handler of requests: authorise, wait for a turn, answer, count."""
        handle = super().get_route_handler()
        scope = self.key_scope
        is_free = getattr(self.endpoint, _STREAM) or scope == "public"
        limited = _run_at_once if is_free else _run_in_time

        async def answer(request: Request) -> Response:
            started = time.perf_counter()
            server: ServerState = request.app.state.server
            request.state.identity = None
            try:
                if scope != "public":
                    await self.authorize_request(request, scope)
                response = await limited(server, handle, request)
            except Exception as error:  # noqa: BLE001 - every failure becomes an answer
                response = await self.answer_failure(request, error)
            identity = request.state.identity
            project = identity.project if identity else ""
            seconds = time.perf_counter() - started
            server.metrics.record(
                project, request.method, self.path, response.status_code, seconds
            )
            return response

        return answer

    async def authorize_request(self, request: Request, scope: KeyScope) -> None:
        """Store the identity of the caller in the request, or raise; nothing of the body is read."""
        server: ServerState = request.app.state.server
        identity = await run_in_threadpool(server.identify, request.headers, request.method)
        request.state.identity = authorize(
            identity,
            scope,
            project=request.path_params.get("project"),
            key_sent="authorization" in request.headers,
        )
        ACTOR.set(request.state.identity.key_id)

    async def answer_failure(self, request: Request, error: Exception) -> Response:
        """Return the answer to a failed request."""
        return await answer_failure(request, error)


async def _run_in_time(server: ServerState, handle: Handler, request: Request) -> Response:
    """Return the answer, in its turn and within the time limit."""
    seconds = server.engines.settings.server.seconds
    return await server.admission.run_in_time(lambda: handle(request), seconds)


async def _run_at_once(server: ServerState, handle: Handler, request: Request) -> Response:
    """Return the answer of a public route, or a stream, which counts itself (`streams.py`)."""
    return await handle(request)
