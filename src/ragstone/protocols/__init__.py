"""The promises: what each replaceable part must do. A part is found by name through `registry`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.protocols.parts import (
    Chunker,
    Codec,
    Embedder,
    Framework,
    Nearest,
    Progress,
    Reader,
    Reranker,
    Source,
    Spaces,
    VectorIndex,
    VectorRows,
    World,
)
from ragstone.protocols.store import Store

if TYPE_CHECKING:
    from ragstone.protocols.parts import Keep as Keep
    from ragstone.protocols.parts import Matrix as Matrix

__all__ = [
    "Chunker",
    "Codec",
    "Embedder",
    "Framework",
    "Nearest",
    "Progress",
    "Reader",
    "Reranker",
    "Source",
    "Spaces",
    "Store",
    "VectorIndex",
    "VectorRows",
    "World",
]
