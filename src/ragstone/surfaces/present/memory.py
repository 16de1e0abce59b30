"""Conversations as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ragstone.engine.project import empty_query_notes
from ragstone.retrieval.context.builder import WEAK_SHARE
from ragstone.retrieval.ranking.confidence import WEAK_CONFIDENCE
from ragstone.sources.secrets.placeholders import PLACEHOLDER_START
from ragstone.surfaces.present import Json, format_time, pick
from ragstone.types import Collection, Recalled, Turn

_MAX_NAMED: Final = 20


def turn_json(turn: Turn) -> Json:
    """Return a message of a conversation."""
    names = ("role", "speaker", "content", "time", "metadata", "supersedes", "because")
    return {"turn_index": turn.index, **pick(turn, *names)}


def recalled_json(recalled: Recalled) -> Json:
    """Return a recalled message with its score and the messages that repeat or supersede it."""
    return {
        **turn_json(recalled.turn),
        **pick(recalled, "score", "said_again", "superseded_by"),
        "superseded_because": recalled.because,
        "boosts": [{"name": name, "factor": factor} for name, factor in recalled.boosts],
    }


def find_weak_score(results: Sequence[Recalled]) -> float:
    """Return the score below which a recalled message hardly answers, or much less than the best one."""
    best = max((result.score for result in results), default=0.0)
    return max(WEAK_CONFIDENCE, WEAK_SHARE * best)


def session_json(session: Collection) -> Json:
    """Return a conversation as a listing shows it."""
    return {
        "session_id": session.name,
        "turns": session.documents,
        "updated_at": format_time(session.updated_at),
    }


def describe_no_message(
    session: str | None, names: Iterable[str], query: str | None = None
) -> list[str]:
    """Return why no message of a conversation, or of all if it is None, answers a query; empty if one may answer."""
    sessions = list(names)
    if not sessions:
        return ["nothing is remembered yet"]
    if session is not None and session not in sessions:
        listed = ", ".join(sessions[:_MAX_NAMED])
        return [f"nothing is remembered of {session!r}: the conversations are {listed}"]
    if query is None:
        return []
    return list(empty_query_notes(query))


def describe_redaction(content: str, stored: str) -> list[str]:
    """Return a note if secrets were removed from a message before it was stored."""
    count = stored.count(PLACEHOLDER_START) - content.count(PLACEHOLDER_START)
    if count <= 0:
        return []
    secrets = "1 secret was" if count == 1 else f"{count} secrets were"
    return [f"{secrets} removed from the message before it was stored"]
