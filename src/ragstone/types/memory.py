"""What a conversation leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone.types.documents import Metadata


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
