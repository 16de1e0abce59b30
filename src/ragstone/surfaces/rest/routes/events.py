"""Events: the log, and a stream of new ones."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Final

from fastapi import Query, Request, Response

from ragstone.engine import Engine
from ragstone.indexing.events import Event, LogPosition, check_event_names
from ragstone.surfaces.rest.authorised_route import AuthorisedCall, make_validity_check, needs
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.router import create_router
from ragstone.surfaces.rest.streams import EventQueue, EventStreamReply

router = create_router("events", "/api/rag/events")
_POLL_SECONDS: Final = 0.2
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
    check_event_names(names)
    has_workers = call.server.worker is not None
    is_logged = has_workers and call.engine.settings.events.log
    feed = _feed_from_log if is_logged else _feed_from_bus
    return EventStreamReply(
        partial(feed, call.engine, names),
        may_go_on=make_validity_check(request, "read"),
        limit=call.server.streams,
    )


@contextmanager
def _feed_from_bus(
    engine: Engine, names: list[str] | None, queue: EventQueue
) -> Iterator[None]:
    """Send the events of this process while the block runs."""

    def send(event: Event) -> None:
        queue.put(event.name, {"time": event.time, **event.data})

    unsubscribe = engine.events.subscribe(send, names)
    try:
        yield
    finally:
        unsubscribe()


@contextmanager
def _feed_from_log(
    engine: Engine, names: list[str] | None, queue: EventQueue
) -> Iterator[None]:
    """Send the events of all workers, which write one log, while the block runs."""
    log = engine.admin.log
    is_over = threading.Event()

    def follow(position: LogPosition) -> None:
        while not is_over.wait(_POLL_SECONDS):
            records, position = log.since(position, names)
            for record in records:
                queue.put(str(record.pop("name")), record)

    threading.Thread(
        target=follow, args=(log.end(),), name="ragstone-events", daemon=True
    ).start()
    try:
        yield
    finally:
        is_over.set()
