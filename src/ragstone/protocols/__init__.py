"""The promises: what each replaceable part must do. A part is found by name through `registry`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone import types
from ragstone.protocols.code import CodeQuestions, Framework, ProjectFiles, RuntimeListing
from ragstone.protocols.parts import (
    Chunker,
    Codec,
    Embedder,
    Nearest,
    Progress,
    Reader,
    Reranker,
    Source,
    Spaces,
    VectorIndex,
    VectorRows,
)
from ragstone.protocols.store import (
    DocumentReader,
    DocumentStore,
    GraphReader,
    GraphStore,
    StateStore,
    VectorReader,
    VectorStore,
)

if TYPE_CHECKING:
    from ragstone.types import Matrix as Matrix

__all__ = [
    "Chunker",
    "CodeQuestions",
    "Codec",
    "DocumentReader",
    "DocumentStore",
    "Embedder",
    "Framework",
    "GraphReader",
    "GraphStore",
    "Matrix",
    "Nearest",
    "Progress",
    "ProjectFiles",
    "Reader",
    "Reranker",
    "RuntimeListing",
    "Source",
    "Spaces",
    "StateStore",
    "VectorIndex",
    "VectorReader",
    "VectorRows",
    "VectorStore",
]


def __getattr__(name: str) -> object:
    """Return the matrix that parts hand each other: numpy is imported for it now, and not before."""
    if name != "Matrix":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = types.Matrix
    return value
