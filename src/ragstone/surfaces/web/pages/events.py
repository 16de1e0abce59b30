"""Events as they happen: searches, contexts, indexing, removals, audit."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query, Response

from ragstone.errors import InputError
from ragstone.indexing.events import LogPosition
from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.web.events_view import LABELS, view_event
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, page_router

NAV: Final = NavItem("Events", "/events", "events", "e")
_ROWS: Final = 200
router = page_router()
Names = Annotated[list[str] | None, Query(max_length=20)]


@router.get("/events")
@needs("read")
def show_events(page: AuthorisedPage, names: Names = None) -> Response:
    """Show the last events, newest first."""
    log = page.engine.admin.log
    position = log.end()
    records = log.last(_ROWS, names)
    return page.render(
        "events.html",
        events=[view_event(record) for record in reversed(records)],
        position=_write_position(position),
        labels=LABELS,
        names=names or (),
        is_logging=page.engine.settings.events.log,
    )


@router.get("/events/rows")
@needs("read")
def show_new_events(page: AuthorisedPage, position: str, names: Names = None) -> Response:
    """Show the events after a position in the log; the answer names the next position."""
    records, end = page.engine.admin.log.since(_read_position(position), names)
    return page.render(
        "events_rows.html",
        headers={"x-position": _write_position(end)},
        events=[view_event(record) for record in reversed(records[-_ROWS:])],
    )


def _write_position(position: LogPosition) -> str:
    return f"{position.inode}-{position.offset}"


def _read_position(text: str) -> LogPosition:
    """Return a position that the page got before."""
    inode, _, offset = text.partition("-")
    if not inode.isdecimal() or not offset.isdecimal():
        raise InputError("this is no position in the log", hint="reload the page")
    return LogPosition(int(inode), int(offset))
