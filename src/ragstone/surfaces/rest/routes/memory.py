"""Conversations: add turns, list them, search them, forget them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from ragstone.surfaces.present.memory import recalled_json, session_json, turn_json
from ragstone.surfaces.rest.bodies import RecallBody, TurnBody
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.route import AuthorisedCall, ScopedRoute, needs

router = APIRouter(prefix="/api/rag/memory", route_class=ScopedRoute, tags=["memory"])


@router.get("")
@needs("read")
def list_sessions(call: AuthorisedCall) -> Response:
    """List the conversations of the project."""
    sessions = call.engine.memory.sessions()
    return reply({"sessions": [session_json(session) for session in sessions]})


@router.post("/{session:path}/add")
@needs("write")
def add_turn(call: AuthorisedCall, session: str, body: TurnBody) -> Response:
    """Store a message of a conversation."""
    index = call.engine.remember(
        session,
        body.role,
        body.content,
        at=body.at,
        speaker=body.speaker,
        metadata=body.metadata,
    )
    return reply({"session_id": session, "turn_index": index, "role": body.role})


@router.post("/{session:path}/search")
@needs("read")
def search_turns(call: AuthorisedCall, session: str, body: RecallBody) -> Response:
    """Find the messages of a conversation that answer."""
    recalled = call.engine.recall(
        session, body.query, body.top_k, since=body.since, until=body.until
    )
    results = [recalled_json(result) for result in recalled]
    return reply({"session_id": session, "query": body.query, "results": results})


@router.get("/{session:path}")
@needs("read")
def list_turns(
    call: AuthorisedCall, session: str, limit: Annotated[int, Query(ge=0, le=1000)] = 20
) -> Response:
    """Return the last messages of a conversation, oldest first."""
    turns = call.engine.turns(session, limit)
    return reply({"session_id": session, "turns": [turn_json(turn) for turn in turns]})


@router.delete("/{session:path}")
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
