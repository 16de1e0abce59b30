"""Events as they happen: searches, contexts, indexing, removals, audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import Query, Response

from ragstone.errors import InputError
from ragstone.indexing.events import NAMES, SEARCH_STARTED, EventRecord, LogPosition
from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.web.events_view import LABELS, EventView, view_event
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, page_router

NAV: Final = NavItem("Events", "/events", "events", "e")
_ROWS: Final = 200
_USUAL: Final = [name for name in NAMES if name != SEARCH_STARTED]
"""The events that are shown if none is chosen: each search once."""
router = page_router()
Names = Annotated[list[str] | None, Query(max_length=20)]


@router.get("/events")
@needs("read")
def show_events(page: AuthorisedPage, names: Names = None) -> Response:
    """Show the last events, newest first."""
    log = page.engine.admin.log
    log.flush()  # indexed documents of this process
    position = log.end()
    records = log.last(_ROWS, names or _USUAL)
    return page.render(
        "events.html",
        events=_newest_first(records),
        position=_write_position(position),
        labels=LABELS,
        names=names or (),
        is_logging=page.engine.settings.events.log,
    )


@router.get("/events/rows")
@needs("read")
def show_new_events(page: AuthorisedPage, position: str, names: Names = None) -> Response:
    """Show the events after a position in the log; the answer names the next position."""
    page.engine.admin.log.flush()
    records, end = page.engine.admin.log.since(_read_position(position), names or _USUAL)
    return page.render(
        "events_rows.html",
        headers={"x-position": _write_position(end)},
        events=_newest_first(records[-_ROWS:]),
    )


def _newest_first(records: Sequence[EventRecord]) -> list[EventView]:
    """Return the events in words. Several processes write the log, so its lines may not be in the order of time."""
    views = [view_event(record) for record in records]
    return sorted(reversed(views), key=lambda view: -view.time)


def _write_position(position: LogPosition) -> str:
    return f"{position.inode}-{position.offset}"


def _read_position(text: str) -> LogPosition:
    """Return a position that the page got before."""
    inode, _, offset = text.partition("-")
    if not inode.isdecimal() or not offset.isdecimal():
        raise InputError("this is no position in the log", hint="reload the page")
    return LogPosition(int(inode), int(offset))
