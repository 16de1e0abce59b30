"""Conversations as JSON."""

from __future__ import annotations

from ragstone.surfaces.present import Json, format_time
from ragstone.types import Collection, Recalled, Turn


def turn_json(turn: Turn) -> Json:
    """Return one message of a conversation."""
    return {
        "turn_index": turn.index,
        "role": turn.role,
        "speaker": turn.speaker,
        "content": turn.content,
        "time": turn.time,
        "metadata": dict(turn.metadata),
        "supersedes": list(turn.supersedes),
        "because": turn.because,
    }


def recalled_json(recalled: Recalled) -> Json:
    """Return a recalled message with its score and the messages that repeat or supersede it."""
    return {
        **turn_json(recalled.turn),
        "score": recalled.score,
        "said_again": list(recalled.said_again),
        "superseded_by": recalled.superseded_by,
        "superseded_because": recalled.because,
        "boosts": [{"name": name, "factor": factor} for name, factor in recalled.boosts],
    }


def session_json(session: Collection) -> Json:
    """Return a conversation as a listing shows it."""
    return {
        "session_id": session.name,
        "turns": session.documents,
        "updated_at": format_time(session.updated_at),
    }
