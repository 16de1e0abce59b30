"""Keys of a server, limits of a plan, and figures of use."""

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


@dataclass(frozen=True, slots=True)
class SearchStats:
    """How an index was used, as far as its event log goes back."""

    searches: int
    for_hits: int
    """Searches that asked for hits; the others, such as `retrieve -k 0`, asked the code graph alone."""
    with_hits: int
    median_milliseconds: float
    slow_milliseconds: float
    """Nineteen of twenty searches were faster."""
    tokens_returned: int
    tokens_of_files: int
    """Tokens of the whole files behind the hits."""
    since: float | None = None
    """The time of the first search, in seconds since 1970."""

    @property
    def hit_rate(self) -> float:
        """Return the share of searches with a hit among those that asked for hits."""
        return self.with_hits / self.for_hits if self.for_hits else 0.0

    @property
    def tokens_saved(self) -> int:
        """Return how many tokens fewer the hits have than their files."""
        return self.tokens_of_files - self.tokens_returned
