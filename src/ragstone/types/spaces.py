"""Embedding spaces and the vectors in them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Space:
    """An embedding space. Two vectors are comparable only if every field of their spaces is equal."""

    embedder: str
    model: str
    dimension: int
    query_prefix: str = ""
    document_prefix: str = ""
    normalised: bool = True
    version: str = "1"

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 over every field."""
        values = list(astuple(self))
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()


SpaceState = Literal["active", "building", "retired"]

DEFAULT_STORAGE: Final = "int10"
"""The codec of vectors if neither the settings nor the stored vectors name another."""


@dataclass(frozen=True, slots=True)
class SpaceInfo:
    """A space of a collection, and how much of the collection it covers."""

    id: int
    space: Space
    storage: str
    state: SpaceState
    texts: int
    embedded: int

    @property
    def coverage(self) -> float:
        """Return the share of the collection's texts that have a vector."""
        if not self.texts:
            return 1.0
        return self.embedded / self.texts


@dataclass(frozen=True, slots=True)
class RequestSize:
    """The largest request that is sent to a service, and how many are sent at the same time."""

    texts: int
    tokens: int
    at_once: int = 4


@dataclass(frozen=True, slots=True)
class EmbedUsage:
    """What a service was asked to embed, and the cost in dollars by its list price."""

    requests: int = 0
    texts: int = 0
    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: EmbedUsage) -> EmbedUsage:
        """Return both usages together."""
        return EmbedUsage(
            self.requests + other.requests,
            self.texts + other.texts,
            self.tokens + other.tokens,
            self.cost + other.cost,
        )

    def __sub__(self, earlier: EmbedUsage) -> EmbedUsage:
        """Return the usage since an earlier moment."""
        return EmbedUsage(
            self.requests - earlier.requests,
            self.texts - earlier.texts,
            self.tokens - earlier.tokens,
            self.cost - earlier.cost,
        )


@dataclass(frozen=True, slots=True)
class PendingText:
    """A stored text that has no vector in a space yet."""

    text_id: int
    text: str


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A stored vector: its row number (grows, never reused), the text it belongs to, its encoded bytes."""

    id: int
    text_id: int
    data: bytes
