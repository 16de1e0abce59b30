"""The protocols of the replaceable parts. `ragstone.registry` finds a part by its name."""

from __future__ import annotations

from ragstone.protocols.access import KeyStore
from ragstone.protocols.code import (
    CodeQuestions,
    Framework,
    KindRules,
    ProjectFiles,
    RuntimeListing,
)
from ragstone.protocols.parts import (
    Chunker,
    Codec,
    Embedder,
    IndexSettings,
    Nearest,
    Progress,
    Reader,
    RemoteCollection,
    RemoteModel,
    Reranker,
    SharedVectors,
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
    "IndexSettings",
    "KeyStore",
    "KindRules",
    "Nearest",
    "Progress",
    "ProjectFiles",
    "Reader",
    "RemoteModel",
    "RemoteCollection",
    "Reranker",
    "RuntimeListing",
    "SharedVectors",
    "Source",
    "Spaces",
    "StateStore",
    "VectorIndex",
    "VectorReader",
    "VectorRows",
    "VectorStore",
]
