"""How text becomes numbers: spaces and vectors."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Space:
    """What makes two vectors comparable; another value anywhere is another space."""

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
        fields = [
            self.embedder,
            self.model,
            self.dimension,
            self.query_prefix,
            self.document_prefix,
            self.normalised,
            self.version,
        ]
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


SpaceState = Literal["active", "building", "retired"]

DEFAULT_STORAGE: Final = "int10"
"""The codec that vectors are kept in where neither the settings nor vectors that are there say another."""


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
        return self.embedded / self.texts if self.texts else 1.0


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
