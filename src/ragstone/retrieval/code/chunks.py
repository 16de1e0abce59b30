"""Finds the chunk that covers a line of a file, or that describes a node, and turns it into a hit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ragstone.protocols import DocumentStore
from ragstone.retrieval.hits import hit_metadata
from ragstone.types import (
    CONFIDENCES,
    SUMMARY_PREFIX,
    CollectionKey,
    Confidence,
    Hit,
    Node,
    Scope,
    StoredChunk,
)

GRAPH_LABEL: Final = "graph"
_EVIDENCE_SCORES: Final[Mapping[Confidence, float]] = dict(
    zip(CONFIDENCES, (1.0, 1.0, 0.95, 0.9, 0.7), strict=True)
)
"""Score of evidence by confidence. Not chosen by an eval: evidence only has to rank before search hits."""


@dataclass(slots=True)
class ChunkFinder:
    """Chunks of one scope by place. Each document's chunks are read once."""

    store: DocumentStore
    scope: Scope
    _by_uri: dict[str, list[StoredChunk]] = field(default_factory=dict)

    def at(self, place: tuple[str, int]) -> StoredChunk | None:
        """Return the smallest chunk of a file that covers a line."""
        uri, line = place
        covering = [row for row in self.of_document(uri) if _covers_line(row, line)]
        return min(covering, key=_length, default=None)

    def description_of(self, node: Node) -> StoredChunk | None:
        """Return the first chunk of the description that was written about a node."""
        kind, _, name = node.key.partition(":")
        chunks = self.of_document(f"{SUMMARY_PREFIX}{kind}/{name}")
        return chunks[0] if chunks else None

    def of_document(self, uri: str) -> list[StoredChunk]:
        """Return a document's chunks in order, from the first collection of the scope that has the document."""
        if uri not in self._by_uri:
            self._by_uri[uri] = self._load(uri)
        return self._by_uri[uri]

    def _load(self, uri: str) -> list[StoredChunk]:
        for name in self._collection_names():
            key = CollectionKey(self.scope.project, name, self.scope.kind)
            chunks = self.store.document_chunks(key, uri)
            if chunks:
                return chunks
        return []

    def _collection_names(self) -> Iterable[str]:
        if self.scope.collections is not None:
            return self.scope.collections
        return [
            collection.name
            for collection in self.store.collections(self.scope.project, self.scope.kind)
        ]


def hit_from_chunk(row: StoredChunk, score: float, label: str) -> Hit:
    """Return a stored chunk as a hit."""
    chunk = row.chunk
    return Hit(
        doc_id=f"{row.uri}__chunk_{chunk.order}",
        text=chunk.text,
        score=score,
        metadata=hit_metadata(row),
        source_doc_id=row.uri,
        chunk_index=chunk.order,
        collection=row.collection,
        span=chunk.span,
        kind=row.kind,
        language=row.language,
        title=row.title,
        symbol=chunk.symbol,
        header=chunk.header,
        label=label,
        content_hash=row.content_hash,
        ingested_at=row.ingested_at,
    )


def evidence_score(confidence: Confidence) -> float:
    """Return the score of evidence with this confidence."""
    return _EVIDENCE_SCORES[confidence]


def _covers_line(row: StoredChunk, line: int) -> bool:
    return row.chunk.span.line_start <= line <= row.chunk.span.line_end


def _length(row: StoredChunk) -> int:
    return row.chunk.span.end - row.chunk.span.start
