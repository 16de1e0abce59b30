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
