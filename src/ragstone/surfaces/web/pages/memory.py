"""Conversations: sessions, their turns, facts that later turns replaced, recall and forgetting."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query, Response

from ragstone.errors import NotFound
from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.web.addresses import session_path
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, PageCall, page_router
from ragstone.types import Turn

NAV: Final = NavItem("Memory", "/memory", "memory", "m")
_PAGE: Final = 50
router = page_router()
QueryText = Annotated[str, Query(max_length=10_000)]
Limit = Annotated[int, Query(ge=1, le=10_000)]


@router.get("/memory")
@needs("read")
def show_sessions(
    page: AuthorisedPage, session: str = "", q: QueryText = "", limit: Limit = _PAGE
) -> Response:
    """List the conversations; `session` opens one. With a question, recall turns."""
    if session:
        return _show_session(page, session, q, limit)
    memory = page.engine.memory
    recalled = memory.recall(None, q, 10) if q.strip() else None
    return page.render(
        "memory.html", sessions=memory.sessions(), query=q, recalled=recalled, session=None
    )


@router.get("/memory/{session:path}")
@needs("read")
def show_turns(
    page: AuthorisedPage, session: str, q: QueryText = "", limit: Limit = _PAGE
) -> Response:
    """Show the last turns of a conversation; with a question, recall some of them."""
    return _show_session(page, session, q, limit)


def _show_session(page: PageCall, session: str, q: str, limit: int) -> Response:
    memory = page.engine.memory
    counts = {stored.name: stored.documents for stored in memory.sessions()}
    if session not in counts:
        raise NotFound(f"nothing is remembered of {session!r}", hint="go back to the sessions")
    turns = memory.turns(session, limit + 1)
    return page.render(
        "memory_session.html",
        session=session,
        turns=turns[-limit:],
        turn_count=counts[session],
        replaced_by=_replacements(turns),
        older=limit + _PAGE if len(turns) > limit else 0,
        query=q,
        recalled=memory.recall(session, q, 10) if q.strip() else None,
    )


@router.delete("/memory")
@needs("write")
def forget(
    page: AuthorisedPage, session: str, turn: Annotated[int | None, Query(ge=0)] = None
) -> Response:
    """Forget a turn, or a whole conversation."""
    count = page.engine.memory.forget(session, turn=turn)
    if not count:
        raise NotFound("there is nothing to forget", hint="reload the page")
    if turn is None:
        return page.toast(f"Forgot {session}.", location="/memory")
    return page.toast(f"Forgot turn {turn}.", location=session_path(session))


@router.post("/memory")
@needs("write")
def restore(page: AuthorisedPage, session: str, turn: Annotated[int, Query(ge=0)]) -> Response:
    """Cancel that a turn replaces earlier ones."""
    page.engine.memory.restore(session, turn)
    message = f"Turn {turn} does not replace other turns any more."
    return page.toast(message, location=session_path(session))


def _replacements(turns: list[Turn]) -> dict[int, Turn]:
    """Return the turn that replaces each replaced one."""
    replacements: dict[int, Turn] = {}
    for turn in turns:
        replacements.update(dict.fromkeys(turn.supersedes, turn))
    return replacements
