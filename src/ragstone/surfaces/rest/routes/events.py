"""Events: the log, and a stream of new ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Query, Request, Response

from ragstone.indexing.events import Event
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.route import AuthorisedCall, make_validity_check, needs
from ragstone.surfaces.rest.router import create_router
from ragstone.surfaces.rest.streams import EventQueue, EventStreamReply

router = create_router("events", "/api/rag/events")
Names = Annotated[list[str] | None, Query(description="Only these events; may be repeated.")]


@router.get("")
@needs("read")
def list_events(
    call: AuthorisedCall,
    names: Names = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Response:
    """Return the last events of the project, oldest first."""
    return reply({"events": call.engine.admin.log.last(limit, names)})


@router.get("/stream")
@needs("read", stream=True)
async def stream_events(
    call: AuthorisedCall, request: Request, names: Names = None
) -> Response:
    """Stream the events of the project as they happen (server-sent events)."""
    bus = call.engine.events

    @contextmanager
    def feed(queue: EventQueue) -> Iterator[None]:
        def send(event: Event) -> None:
            queue.put(event.name, {"time": event.time, **event.data})

        unsubscribe = bus.subscribe(send, names)
        try:
            yield
        finally:
            unsubscribe()

    return EventStreamReply(
        feed, may_go_on=make_validity_check(request, "read"), limit=call.server.streams
    )
