"""Server-sent events: a queue per client, filled by other threads, ended when the server stops or the key does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Final

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ragstone.errors import Overloaded

CHECK_SECONDS: Final = 0.5
"""How often a stream checks if its key is still valid and if the server stops."""
KEEP_ALIVE_SECONDS: Final = 15.0
_MAX_WAITING: Final = 1000

Feed = Callable[["EventQueue"], AbstractContextManager[object]]
"""Fills a queue while its context is open."""


class StreamLimit:
    """Counts open streams; used by one event loop."""

    def __init__(self, limit: int) -> None:
        """Take the number of streams that may be open."""
        self._limit = limit
        self.open = 0

    def enter(self) -> None:
        """Count a stream; raise `Overloaded` if there are too many."""
        if self.open >= self._limit:
            raise Overloaded("too many event streams are open", hint="close one, or poll")
        self.open += 1

    def leave(self) -> None:
        """Count that a stream ended."""
        self.open -= 1


class EventQueue:
    """Events for one client. `put` may be called from any thread; a slow client loses the oldest events."""

    def __init__(self) -> None:
        """Belong to the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[tuple[str, Mapping[str, object]]] = asyncio.Queue()

    def put(self, name: str, data: Mapping[str, object]) -> None:
        """Add an event and wake the client."""
        self._loop.call_soon_threadsafe(self._put, name, data)

    async def next(self, seconds: float) -> tuple[str, Mapping[str, object]] | None:
        """Return the next event, or None if none arrives in time."""
        try:
            return await asyncio.wait_for(self._events.get(), seconds)
        except TimeoutError:
            return None

    def _put(self, name: str, data: Mapping[str, object]) -> None:
        if self._events.qsize() >= _MAX_WAITING:
            self._events.get_nowait()
        self._events.put_nowait((name, data))


class EventStreamReply(StreamingResponse):
    """A stream of server-sent events."""

    media_type = "text/event-stream"

    def __init__(
        self,
        feed: Feed,
        *,
        may_go_on: Callable[[], Awaitable[bool]],
        limit: StreamLimit,
        last: str = "",
    ) -> None:
        """Take the source of events; the stream ends after an event named `last`, or if it may not go on."""
        limit.enter()
        self._limit = limit
        super().__init__(_events(feed, may_go_on, last))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the stream ends or the client leaves."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._limit.leave()


async def _events(
    feed: Feed, may_go_on: Callable[[], Awaitable[bool]], last: str
) -> AsyncIterator[bytes]:
    queue = EventQueue()
    idle = 0.0
    with feed(queue):
        yield b": connected\n\n"
        while await may_go_on():
            event = await queue.next(CHECK_SECONDS)
            if event is None:
                idle += CHECK_SECONDS
                if idle >= KEEP_ALIVE_SECONDS:
                    idle = 0.0
                    yield b": keep-alive\n\n"
                continue
            name, data = event
            yield f"event: {name}\ndata: {json.dumps(data, default=str)}\n\n".encode("ascii")
            if name == last:
                return
