"""Turns of a conversation, and the results of recalling them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict

from ragstone.types.documents import Metadata, Value


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, word for word."""

    session: str
    index: int
    role: str
    content: str
    time: float
    """The time of the message, in seconds since 1970."""
    speaker: str = ""
    metadata: Metadata = field(default_factory=dict)
    supersedes: tuple[int, ...] = ()
    """Earlier turns that this turn contradicts on the same subject."""
    because: str = ""
    """Why it supersedes them."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A turn that answers a question, with its score and the turns related to it."""

    turn: Turn
    score: float
    said_again: tuple[int, ...] = ()
    """Turns with the same content, which are not listed themselves."""
    superseded_by: int | None = None
    """A later turn that contradicts it."""
    because: str = ""
    """Why it counts as superseded."""
    boosts: tuple[tuple[str, float], ...] = ()


class TurnOptions(TypedDict, total=False):
    """Optional fields of a turn."""

    at: float | None
    """The time of the message, in seconds since 1970; now if left out."""
    speaker: str
    metadata: Mapping[str, Value] | None
