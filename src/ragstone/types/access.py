"""Keys of a server and limits of a plan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a project; None means no limit."""

    collections: int | None = None
    chunks: int | None = None
    """Chunks in each collection."""
    turns: int | None = None
    """Turns in each session."""


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key as the store has it: only a digest of its secret."""

    id: str
    """The public part of the key."""
    project: str
    name: str
    scopes: tuple[str, ...]
    digest: bytes
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """How much a project stores."""

    collections: int
    documents: int
    chunks: int
    largest_collection: int
    """Chunks of the largest collection."""
    sessions: int
    turns: int
    longest_session: int
    """Turns of the longest session."""
