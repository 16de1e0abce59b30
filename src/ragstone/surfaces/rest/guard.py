"""Checks of every request before any route: the Host and Origin headers, and the size and speed of the body."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragstone.errors import AccessError, RagstoneError, SlowRequest, TooLarge
from ragstone.surfaces.rest.replies import failure_response

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
UPLOAD_FACTOR: Final = 5
_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
"""Headers of every answer; a route that sets one of them keeps its own."""


class Guard:
    """ASGI middleware in front of everything, the MCP server and the dashboard included."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Sequence[str] = (),
        origins: Sequence[str] = (),
        max_body_bytes: int,
        body_seconds: float,
    ) -> None:
        """Take the next app and the limits. Loopback names are always served."""
        self.app = app
        self._hosts = frozenset(name.lower() for name in (*LOOPBACK, *hosts))
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._max_body_bytes = max_body_bytes
        self._body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the headers, then pass the request on with a body that is limited."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            self._check_origin(headers)
        except RagstoneError as error:
            await failure_response(error)(scope, receive, send_with_headers)
            return
        body = LimitedBody(headers, receive, self._max_body_bytes, self._body_seconds)
        await self.app(scope, body.receive, send_with_headers)

    def _check_host(self, headers: Headers) -> None:
        """Refuse names that are not ours: another page may have pointed its own name at this address."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or host_name(hosts[0]) not in self._hosts:
            names = ", ".join(hosts) or "no name"
            raise AccessError(
                f"this server does not answer to {names[:100]!r}",
                hint="add the name to the setting server.hosts",
            )

    def _check_origin(self, headers: Headers) -> None:
        """Refuse pages of other sites. Programs send no Origin."""
        for origin in headers.getlist("origin"):
            if origin.lower() in self._origins:
                continue
            if origin_host(origin) != headers["host"].lower():
                raise AccessError(
                    f"pages of {origin[:100]!r} may not call this server",
                    hint="add the origin to the setting server.origins",
                )


class LimitedBody:
    """The body of one request; reading it raises `TooLarge` or `SlowRequest` at the limits."""

    def __init__(
        self, headers: Headers, receive: Receive, max_bytes: int, seconds: float
    ) -> None:
        """Take the headers and the limits; nothing is read before the app asks for it."""
        is_upload = headers.get("content-type", "").startswith("multipart/")
        self._receive = receive
        self._max_bytes = max_bytes * UPLOAD_FACTOR if is_upload else max_bytes
        self._declared = _number(headers.get("content-length"))
        self._deadline = time.monotonic() + seconds
        self._received = 0
        self._complete = False

    async def receive(self) -> Message:
        """Return the next part of the body, or later the end of the connection."""
        if self._complete:
            return await self._receive()
        if self._declared > self._max_bytes:
            raise self._too_large()
        message = await self._receive_in_time()
        if message["type"] == "http.request":
            self._received += len(message.get("body", b""))
            if self._received > self._max_bytes:
                raise self._too_large()
            self._complete = not message.get("more_body", False)
        return message

    async def _receive_in_time(self) -> Message:
        try:
            with anyio.fail_after(max(0.0, self._deadline - time.monotonic())):
                return await self._receive()
        except TimeoutError as error:
            raise SlowRequest(
                "the body of the request arrived too slowly", hint="send less at once"
            ) from error

    def _too_large(self) -> TooLarge:
        return TooLarge(
            f"the body of the request has more than {self._max_bytes:,} bytes",
            hint="send less at once, or raise the setting server.max_body_mb",
        )


def host_name(host: str) -> str:
    """Return the name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def origin_host(origin: str) -> str:
    """Return host and port of an origin; an empty text if it has none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 0
