"""What a conversation leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict

from ragstone.types.documents import Metadata, Value


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said, as it was said."""

    session: str
    index: int
    role: str
    content: str
    time: float
    """When it was said, in seconds since 1970."""
    speaker: str = ""
    metadata: Metadata = field(default_factory=dict)
    supersedes: tuple[int, ...] = ()
    """Earlier turns that this one contradicts on the same subject."""
    because: str = ""
    """Why it supersedes them."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A turn that answers, with what should be known about it."""

    turn: Turn
    score: float
    said_again: tuple[int, ...] = ()
    """Turns that say the same and are not listed: the receipts of a collapse."""
    superseded_by: int | None = None
    """A later turn that contradicts it."""
    because: str = ""
    """Why it counts as superseded."""
    boosts: tuple[tuple[str, float], ...] = ()


class TurnOptions(TypedDict, total=False):
    """Optional fields of a turn."""

    at: float | None
    """When it was said, in seconds since 1970; now if left out."""
    speaker: str
    metadata: Mapping[str, Value] | None
