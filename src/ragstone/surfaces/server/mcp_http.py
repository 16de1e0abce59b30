"""The MCP server over streamable HTTP, behind the same keys as the REST routes."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from ragstone.access.identity import Identity, authorize
from ragstone.errors import AccessError, RagstoneError
from ragstone.indexing.events import ACTOR
from ragstone.protocols.cancellation import Cancellation
from ragstone.surfaces.mcp.server import create_server
from ragstone.surfaces.mcp.session import McpSession, RequestContext, Result
from ragstone.surfaces.present.failures import failure_json
from ragstone.surfaces.rest.replies import failure_response
from ragstone.surfaces.rest.state import ServerState
from ragstone.surfaces.rest.streams import CHECK_SECONDS
from ragstone.surfaces.tools import ALL_TOOLS, DEFAULT_TOOLS
from ragstone.surfaces.tools.tool import Tool, ToolAnswer

PATHS: Final[Mapping[str, Sequence[Tool]]] = {"/mcp": DEFAULT_TOOLS, "/mcp/all": ALL_TOOLS}
"""The small set of tools for coding agents, and all tools."""
_IDENTITY: Final = "identity"


class KeyedSession(McpSession):
    """Answers tool calls for one identity; tools that write need a key that may write."""

    def __init__(self, server: ServerState, identity: Identity) -> None:
        """Use the engine of the identity's project. The server keeps its index up to date."""
        super().__init__(server.engines.engine(identity.project), first_call_seconds=0)
        self._server = server
        self._identity = identity
        self.use_index_as_it_is()

    @property
    def note(self) -> str:
        """Return the state of the server's folder; other projects have no folder."""
        is_own = self._identity.project == self._server.engines.own_project
        return self._server.sync.note if is_own else ""

    async def run(self, work: Callable[[], Result]) -> Result:
        """Return the result of some work in one of the server's turns, within the time limit of a request."""

        async def run_in_thread() -> Result:
            return await run_in_threadpool(work)

        seconds = self._server.engines.settings.server.seconds
        return await self._server.admission.run_in_time(run_in_thread, seconds)

    def answer(
        self,
        tool: Tool,
        arguments: Mapping[str, object],
        cancellation: Cancellation | None = None,
    ) -> ToolAnswer:
        """Return a tool's answer, or a failure if the key does not allow it."""
        ACTOR.set(self._identity.key_id)
        try:
            authorize(self._identity, "read" if tool.read_only else "write")
        except AccessError as error:
            data = {"success": False, "error": failure_json(error)}
            return ToolAnswer(str(error), data, failed=True)
        return super().answer(tool, arguments, cancellation)


class McpEndpoint:
    """ASGI app of one MCP server: authorises every request before its body is read."""

    def __init__(self, server: ServerState, tools: Sequence[Tool]) -> None:
        """Take the state of the server and the tools to offer."""
        self._server = server
        self._lock = threading.Lock()
        self._sessions: dict[Identity, KeyedSession] = {}
        self.manager = StreamableHTTPSessionManager(
            create_server(self._find_session, tools),
            max_request_body_size=server.engines.settings.server.max_body_mb * 1_000_000,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request and count it; an open one counts as a stream."""
        started = time.perf_counter()
        project = ""

        async def send_and_count(message: Message) -> None:
            if message["type"] == "http.response.start":
                seconds = time.perf_counter() - started
                self._server.metrics.record(
                    project, scope["method"], scope["path"], message["status"], seconds
                )
            await send(message)

        headers = Headers(scope=scope)
        try:
            identity = authorize(
                await self._identify(headers, scope["method"]),
                "read",
                key_sent="authorization" in headers,
            )
            project = identity.project
            self._server.streams.enter()
        except RagstoneError as error:
            await failure_response(error)(scope, receive, send_and_count)
            return
        try:
            await self._handle(identity, headers, scope, receive, send_and_count)
        finally:
            self._server.streams.leave()

    async def _handle(
        self, identity: Identity, headers: Headers, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Pass a request on; a stream ends when the server stops or the key is revoked."""
        scope.setdefault("state", {})[_IDENTITY] = identity
        if identity.key_id:  # a session belongs to the key that opened it
            scope["user"] = AuthenticatedUser(
                AccessToken(token="", client_id=identity.key_id, scopes=[])
            )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._end_when_invalid, headers, tasks.cancel_scope)
            await self.manager.handle_request(scope, receive, send)
            tasks.cancel_scope.cancel()

    async def _end_when_invalid(self, headers: Headers, request: anyio.CancelScope) -> None:
        while not self._server.stopping.is_set():
            await anyio.sleep(CHECK_SECONDS)
            if await self._identify(headers) is None:
                break
        request.cancel()

    async def _identify(self, headers: Headers, method: str = "GET") -> Identity | None:
        return await run_in_threadpool(self._server.identify, headers, method)

    def _find_session(self, context: RequestContext) -> McpSession:
        """Return the session of the identity that `__call__` put into the request."""
        request: Any = context.request
        identity: Identity = request.scope["state"][_IDENTITY]
        with self._lock:
            if identity not in self._sessions:
                self._sessions[identity] = KeyedSession(self._server, identity)
            return self._sessions[identity]


class McpEndpoints:
    """All MCP endpoints of a server, and the time in which they run."""

    def __init__(self, server: ServerState) -> None:
        """Make the endpoints; they answer while `run` is open."""
        self._endpoints = {path: McpEndpoint(server, tools) for path, tools in PATHS.items()}

    def routes(self) -> list[Route]:
        """Return a route for each endpoint."""
        return [Route(path, endpoint) for path, endpoint in self._endpoints.items()]

    @asynccontextmanager
    async def run(self, app: object) -> AsyncIterator[None]:
        """Run the servers while the block runs; the lifespan of the app."""
        async with AsyncExitStack() as stack:
            for endpoint in self._endpoints.values():
                await stack.enter_async_context(endpoint.manager.run())
            yield
