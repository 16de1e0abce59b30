"""A turn as a document and back: the words of the turns before it and its date help to find it, and are not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.errors import InputError
from ragstone.memory import HOT as HOT
from ragstone.memory.times import words_of
from ragstone.types import Document, Metadata, StoredDocument, Turn

KIND: Final = "turn"
LONGEST_SESSION_NAME: Final = 200
BEFORE: Final = 2
"""Turns before it that a turn is found by: an answer seldom repeats the question, or what the question was about."""
_SITTING_SECONDS: Final = 6 * 3600.0
"""What was said longer before belongs to another talk."""
_CHARACTERS: Final = 400
"""Of a turn before: its end, where a question stands."""
_OWN: Final = ("role", "speaker", "time", "index", "prefix", "length", "supersedes", "because", "session")
_DIGITS: Final = 9
MOST_TURNS: Final = 10**_DIGITS


def check(session: object, role: object, content: object) -> None:
    """Raise `InputError` where one of them is not what a turn is made of."""
    if not isinstance(session, str) or not session.strip() or len(session) > LONGEST_SESSION_NAME:
        raise InputError("a session has a name", hint=f"text of 1 to {LONGEST_SESSION_NAME} characters")
    if not isinstance(role, str) or not role.strip():
        raise InputError("a turn has a role", hint='"user" or "assistant"')
    if not isinstance(content, str) or not content.strip():
        raise InputError("a turn says something", hint="content is text that is not empty")


def uri_of(index: int) -> str:
    """Return a turn's uri; uris of a session are in the order of its turns."""
    return f"turn:{index:0{_DIGITS}d}"


def document(turn: Turn, before: Sequence[Turn]) -> Document:
    """Return a turn as it is stored: `speaker: content`, found by its date and the turns before it too."""
    prefix = f"{turn.speaker or turn.role}: "
    talk = [one for one in before[-BEFORE:] if abs(turn.time - one.time) <= _SITTING_SECONDS]
    beside = "\n".join(part for part in (words_of(turn.time), *map(_said, talk)) if part)
    own: dict[str, object] = {
        "role": turn.role,
        "time": turn.time,
        "index": turn.index,
        "session": turn.session,
        "prefix": len(prefix),
        "length": len(prefix) + len(turn.content),
    }
    own |= {"speaker": turn.speaker} if turn.speaker else {}
    own |= {"supersedes": list(turn.supersedes), "because": turn.because} if turn.supersedes else {}
    metadata: Metadata = {**turn.metadata, **own}  # type: ignore[dict-item]  # plain values, by name
    return Document(uri_of(turn.index), prefix + turn.content, KIND, "text", "", metadata, beside=beside)


def turn_of(metadata: Mapping[str, object], text: str) -> Turn:
    """Return the turn that a stored document holds."""
    supersedes = metadata.get("supersedes") or ()
    return Turn(
        session=str(metadata.get("session", "")),
        index=_whole(metadata.get("index")),
        role=str(metadata.get("role", "")),
        content=text[_whole(metadata.get("prefix")) :],
        time=_number(metadata.get("time")),
        speaker=str(metadata.get("speaker", "")),
        metadata={key: value for key, value in metadata.items() if key not in _OWN},  # type: ignore[misc]  # as stored
        supersedes=tuple(_whole(one) for one in supersedes) if isinstance(supersedes, list | tuple) else (),
        because=str(metadata.get("because", "")),
    )


def of_stored(stored: StoredDocument, text: str) -> Turn:
    """Return the turn of a listed document and its text."""
    return turn_of(stored.metadata, text)


def _said(before: Turn) -> str:
    return f"{before.speaker or before.role}: {before.content[-_CHARACTERS:]}"


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
