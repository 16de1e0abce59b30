"""Conversations: add turns, list them, search them, forget them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from ragstone.surfaces.present.memory import recalled_json, session_json, turn_json
from ragstone.surfaces.rest.authorised_route import AuthorisedCall, Call, needs
from ragstone.surfaces.rest.bodies import (
    RecallBody,
    SessionRecallBody,
    SessionTurnBody,
    TurnBody,
)
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.router import create_router

router = create_router("memory", "/api/rag")
Limit = Annotated[int, Query(ge=0, le=1000)]


@router.get("/memory")
@needs("read")
def list_sessions(call: AuthorisedCall) -> Response:
    """List the conversations of the project."""
    sessions = call.engine.memory.sessions()
    return reply({"sessions": [session_json(session) for session in sessions]})


@router.post("/memory/{session:path}/add")
@needs("write")
def add_turn(call: AuthorisedCall, session: str, body: TurnBody) -> Response:
    """Store a message of a conversation."""
    return _remember(call, session, body)


@router.post("/memory/{session:path}/search")
@needs("read")
def search_turns(call: AuthorisedCall, session: str, body: RecallBody) -> Response:
    """Find the messages of a conversation that answer."""
    return _recall(call, session, body)


@router.get("/memory/{session:path}")
@needs("read")
def list_turns(call: AuthorisedCall, session: str, limit: Limit = 20) -> Response:
    """Return the last messages of a conversation, oldest first."""
    return _turns(call, session, limit)


@router.delete("/memory/{session:path}")
@needs("write")
def forget_turns(
    call: AuthorisedCall,
    session: str,
    turn: Annotated[int | None, Query(ge=0)] = None,
    before: float | None = None,
) -> Response:
    """Forget a conversation, one message of it, or the messages before a time."""
    count = call.engine.memory.forget(session, turn=turn, before=before)
    return reply({"session_id": session, "forgotten": count})


# ── the same with the session in the body or the query: its name may have any characters ─────────


@router.post("/turns")
@needs("write")
def remember(call: AuthorisedCall, body: SessionTurnBody) -> Response:
    """Store a message of a conversation."""
    return _remember(call, body.session_id, body)


@router.get("/turns")
@needs("read")
def turns(call: AuthorisedCall, session_id: str, limit: Limit = 20) -> Response:
    """Return the last messages of a conversation, oldest first."""
    return _turns(call, session_id, limit)


@router.post("/recall")
@needs("read")
def recall(call: AuthorisedCall, body: SessionRecallBody) -> Response:
    """Find the messages of a conversation that answer."""
    return _recall(call, body.session_id, body)


def _remember(call: Call, session: str, body: TurnBody) -> Response:
    index = call.engine.remember(
        session,
        body.role,
        body.content,
        at=body.at,
        speaker=body.speaker,
        metadata=body.metadata,
    )
    return reply({"session_id": session, "turn_index": index, "role": body.role})


def _turns(call: Call, session: str, limit: int) -> Response:
    listed = call.engine.turns(session, limit)
    return reply({"session_id": session, "turns": [turn_json(turn) for turn in listed]})


def _recall(call: Call, session: str, body: RecallBody) -> Response:
    recalled = call.engine.recall(
        session, body.query, body.top_k, since=body.since, until=body.until
    )
    results = [recalled_json(result) for result in recalled]
    return reply({"session_id": session, "query": body.query, "results": results})
