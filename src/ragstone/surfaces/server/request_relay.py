"""Passes requests from one worker to another: each session and each job is known to one process only.

A worker answers requests itself that need the store only. All others go to the first worker, and those of an MCP session
to the worker that opened it. A request that was passed on is checked again where it is answered.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

import h11
import httpx2
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragstone.errors import Overloaded, ProviderError, RagstoneError
from ragstone.surfaces.rest.metrics import Counts
from ragstone.surfaces.rest.replies import JsonReply, failure_response
from ragstone.surfaces.rest.state import SESSION_COOKIE, ServerState
from ragstone.surfaces.server.worker_group import WorkerPlace

COUNTS_PATH: Final = "/worker/counts"
"""The counters of one worker; only other workers reach it."""
MCP_SESSION: Final = "mcp-session-id"
_MCP_PATH: Final = "/mcp"
_STORE_ONLY: Final = (
    "/health",
    "/openapi.json",
    _MCP_PATH,
    "/api/rag/health",
    "/api/rag/collections",
    "/api/rag/search",
    "/api/rag/explain",
    "/api/rag/context",
    "/api/rag/get_context_for_prompt",
    "/api/rag/inject",
    "/api/rag/retrieve",
    "/api/rag/documents",
    "/api/rag/remove",
    "/api/rag/memory",
    "/api/rag/turns",
    "/api/rag/recall",
    "/api/rag/graph",
    "/api/rag/runs",
    "/api/rag/keys",
)
"""Beginnings of the paths that every worker answers itself."""
_UPLOADS: Final = "/files"
_CONNECTION_HEADERS: Final = frozenset({b"connection", b"date", b"transfer-encoding"})
_START_SECONDS: Final = 10.0
"""How long a request waits for a worker that starts again."""
_PART_BYTES: Final = 65_536


class Relay:
    """ASGI middleware of a worker, behind the checks of headers and bodies."""

    def __init__(self, app: ASGIApp, place: WorkerPlace, server: ServerState) -> None:
        """Take the app of this worker, its place, and its state."""
        self._app = app
        self._place = place
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request here, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_passed_on = scope["server"] is None or scope["server"][1] is None
        if is_passed_on and scope["path"] == COUNTS_PATH:
            counts = self._server.counts().to_json()
            await JsonReply(counts)(scope, receive, send)
            return
        owner = self._place.number if is_passed_on else self._owner(scope)
        if owner == self._place.number:
            await self._answer(scope, receive, send)
            return
        try:
            await _PassedRequest(scope, receive, send).run(self._place.socket_of(owner))
        except RagstoneError as error:
            await failure_response(error)(scope, receive, send)

    def _owner(self, scope: Scope) -> int:
        """Return the number of the worker that answers a request."""
        headers = Headers(scope=scope)
        path = scope["path"]
        if path == COUNTS_PATH:  # of a client: it must not look like the request of a worker
            return self._place.number
        if SESSION_COOKIE in headers.get("cookie", ""):
            return 0
        if path.startswith(_MCP_PATH) and MCP_SESSION in headers:
            number = headers[MCP_SESSION].rpartition("-")[2]
            is_worker = number.isascii() and number.isdigit()
            return int(number) % self._place.count if is_worker else self._place.number
        if path.endswith(_UPLOADS) or not path.startswith(_STORE_ONLY):
            return 0
        return self._place.number

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer here. The id of an MCP session ends with the number of its worker."""
        ending = f"-{self._place.number}"

        async def send_numbered(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if MCP_SESSION in headers:
                    headers[MCP_SESSION] += ending
            await send(message)

        headers = MutableHeaders(scope=scope)
        if MCP_SESSION in headers:
            headers[MCP_SESSION] = headers[MCP_SESSION].removesuffix(ending)
        await self._app(scope, receive, send_numbered)


class _PassedRequest:
    """One request that another worker answers, over a connection of its own."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the request; nothing is read yet."""
        self._scope = scope
        self._receive = receive
        self._send = send
        self._connection = h11.Connection(h11.CLIENT)
        self._has_started = False

    async def run(self, path: str) -> None:
        """Send the request to the socket of a worker, and its answer to the client."""
        worker = await _connect(path)
        sending: asyncio.Task[None] | None = None
        try:
            await _write(worker, self._head())
            sending = asyncio.create_task(self._send_body(worker))
            answering = asyncio.create_task(self._pass_answer(worker))
            await asyncio.wait({sending, answering}, return_when=asyncio.FIRST_COMPLETED)
            if (
                not answering.done()
            ):  # the body is too large or too slow, or the client has left
                answering.cancel()
                await sending
                return
            await answering
        finally:
            if sending is not None:
                sending.cancel()
            worker.close()

    def _head(self) -> bytes:
        scope = self._scope
        target = scope.get("raw_path") or scope["path"].encode()
        if scope["query_string"]:
            target += b"?" + scope["query_string"]
        headers = _without_connection(scope["headers"])
        request = h11.Request(
            method=scope["method"], target=target, headers=[*headers, (b"connection", b"close")]
        )
        data = self._connection.send(request)
        assert data is not None  # noqa: S101 - a request has a head
        return data

    async def _send_body(self, worker: socket.socket) -> None:
        """Send the body as it arrives, until the client leaves."""
        is_complete = False
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return
            if is_complete:
                continue
            part = message.get("body", b"")
            is_complete = not message.get("more_body", False)
            # Our own events would need a length; the head has said how the body is framed.
            with suppress(h11.LocalProtocolError):
                if part:
                    await _write(worker, self._connection.send(h11.Data(data=part)))
                if is_complete:
                    await _write(worker, self._connection.send(h11.EndOfMessage()))

    async def _pass_answer(self, worker: socket.socket) -> None:
        """Send the answer to the client; raise `ProviderError` if the worker ends before it begins."""
        while True:
            event = self._next_event()
            if event is h11.NEED_DATA:
                self._connection.receive_data(await _read(worker))
            elif isinstance(event, h11.Response):
                self._has_started = True
                await self._send(
                    {
                        "type": "http.response.start",
                        "status": event.status_code,
                        "headers": list(_without_connection(event.headers)),
                    }
                )
            elif isinstance(event, h11.Data):
                part = {"type": "http.response.body", "body": bytes(event.data)}
                await self._send({**part, "more_body": True})
            elif isinstance(event, h11.EndOfMessage):
                await self._send({"type": "http.response.body", "body": b""})
                return

    def _next_event(self) -> object:
        """Return the next part of the answer."""
        try:
            return self._connection.next_event()
        except h11.RemoteProtocolError as error:
            if self._has_started:
                raise  # the client sees that the connection breaks
            raise ProviderError(
                "the worker ended before it answered",
                hint="see what is stored before you send the request again",
            ) from error


async def _connect(path: str) -> socket.socket:
    """Return a connection to a worker; wait for a new one that takes the place of a dead one.

    It is a plain socket. A stream of asyncio forgets an answer that has arrived if the worker refuses the body after it.
    """
    deadline = time.monotonic() + _START_SECONDS
    while True:
        worker = socket.socket(socket.AF_UNIX)
        worker.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(worker, path)
        except (FileNotFoundError, ConnectionRefusedError, BlockingIOError) as error:
            worker.close()
            if time.monotonic() > deadline:
                raise Overloaded(
                    "a worker of the server starts again", hint="try again later"
                ) from error
        else:
            return worker
        await asyncio.sleep(0.1)


async def _write(worker: socket.socket, data: bytes | None) -> None:
    """Send bytes; if the worker reads no more, they are dropped, because its answer may have arrived."""
    with suppress(ConnectionError):
        await asyncio.get_running_loop().sock_sendall(worker, data or b"")


async def _read(worker: socket.socket) -> bytes:
    """Return the next bytes; none at the end or if the connection breaks."""
    try:
        return await asyncio.get_running_loop().sock_recv(worker, _PART_BYTES)
    except ConnectionError:
        return b""


def _without_connection(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers that do not belong to one connection."""
    return [(name, value) for name, value in headers if name.lower() not in _CONNECTION_HEADERS]


def read_counts_of_others(place: WorkerPlace) -> list[Counts]:
    """Return the counters of the other workers; one that starts again just now is left out."""
    counts = []
    for number in range(place.count):
        if number == place.number:
            continue
        transport = httpx2.HTTPTransport(uds=place.socket_of(number))
        with suppress(httpx2.HTTPError), httpx2.Client(transport=transport) as client:
            answer = client.get(f"http://localhost{COUNTS_PATH}")
            counts.append(Counts.from_json(answer.json()))
    return counts
