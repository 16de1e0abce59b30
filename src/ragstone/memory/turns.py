"""A turn as a document and back. Its date and the turns before it help to find it, and are not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.errors import InputError
from ragstone.memory.times import date_words
from ragstone.types import Document, Metadata, Turn

KIND: Final = "turn"
HOT: Final = 20
"""Turns of a session that are returned from memory."""
MAX_SESSION_NAME: Final = 200
TURNS_BEFORE: Final = 2
"""A turn is also found by this many turns before it: an answer seldom repeats the question."""
_SITTING_SECONDS: Final = 6 * 3600.0
"""Turns that are further apart belong to another talk."""
_MAX_CHARACTERS: Final = 400
"""Only the end of an earlier turn is used: questions are at the end."""
_OWN_FIELDS: Final = (
    "role",
    "speaker",
    "time",
    "index",
    "prefix",
    "length",
    "supersedes",
    "because",
    "session",
)
_DIGITS: Final = 9
MAX_TURNS: Final = 10**_DIGITS
ROLES: Final = "user, assistant, or any other word"
"""The roles of a turn, for help texts and schemas: every word is accepted."""


def check_turn(session: object, role: object, content: object) -> None:
    """Raise `InputError` if a turn has no session name, role or text."""
    if not isinstance(session, str) or not session.strip() or len(session) > MAX_SESSION_NAME:
        raise InputError(
            "a session has a name", hint=f"text of 1 to {MAX_SESSION_NAME} characters"
        )
    if not isinstance(role, str) or not role.strip():
        raise InputError("a turn has a role", hint=f"a word: {ROLES}")
    if not isinstance(content, str) or not content.strip():
        raise InputError("the message is empty", hint="give its text")


def turn_uri(index: int) -> str:
    """Return a turn's uri; the uris of a session sort in the order of its turns."""
    return f"turn:{index:0{_DIGITS}d}"


def turn_document(turn: Turn, before: Sequence[Turn]) -> Document:
    """Return a turn as it is stored: `speaker: content`, also found by its date and the turns before it."""
    prefix = f"{turn.speaker or turn.role}: "
    context = [date_words(turn.time)]
    for earlier in before[-TURNS_BEFORE:]:
        if _is_same_sitting(turn, earlier):
            context.append(_end_of_turn(earlier))
    own: dict[str, object] = {
        "role": turn.role,
        "time": turn.time,
        "index": turn.index,
        "session": turn.session,
        "prefix": len(prefix),
        "length": len(prefix) + len(turn.content),
    }
    if turn.speaker:
        own["speaker"] = turn.speaker
    if turn.supersedes:
        own["supersedes"] = list(turn.supersedes)
        own["because"] = turn.because
    metadata: Metadata = {**turn.metadata, **own}  # type: ignore[dict-item]  # plain values, by name
    return Document(
        turn_uri(turn.index),
        prefix + turn.content,
        kind=KIND,
        language="text",
        metadata=metadata,
        beside="\n".join(part for part in context if part),
    )


def turn_from_metadata(metadata: Mapping[str, object], text: str) -> Turn:
    """Return the turn of a stored document and its text."""
    supersedes = metadata.get("supersedes")
    if not isinstance(supersedes, list | tuple):
        supersedes = ()
    others = {key: value for key, value in metadata.items() if key not in _OWN_FIELDS}
    return Turn(
        session=str(metadata.get("session", "")),
        index=_integer(metadata.get("index")),
        role=str(metadata.get("role", "")),
        content=text[_integer(metadata.get("prefix")) :],
        time=_number(metadata.get("time")),
        speaker=str(metadata.get("speaker", "")),
        metadata=others,  # type: ignore[arg-type]  # as stored
        supersedes=tuple(_integer(index) for index in supersedes),
        because=str(metadata.get("because", "")),
    )


def _is_same_sitting(turn: Turn, earlier: Turn) -> bool:
    return abs(turn.time - earlier.time) <= _SITTING_SECONDS


def _end_of_turn(turn: Turn) -> str:
    return f"{turn.speaker or turn.role}: {turn.content[-_MAX_CHARACTERS:]}"


def _integer(value: object) -> int:
    return value if isinstance(value, int) else 0


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
