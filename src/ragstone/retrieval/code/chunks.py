"""From places to chunks: the piece of a file that covers a line, as a hit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ragstone.protocols import Store
from ragstone.types import CONFIDENCES, Confidence, Hit, Node, Scope, StoredChunk

Place = tuple[str, int]
GRAPH: Final = "graph"
_PROSE: Final = "graph:"
"""How the uris of prose about nodes begin."""
_SURE: Final[Mapping[Confidence, float]] = dict(zip(CONFIDENCES, (1.0, 1.0, 0.95, 0.9, 0.7), strict=True))
"""What evidence scores by how it is known; not set by an eval, it only has to come before what was searched."""


@dataclass(slots=True)
class Chunks:
    """Chunks of one scope by their place; each document's are read once."""

    store: Store
    scope: Scope
    _held: dict[str, list[StoredChunk]] = field(default_factory=dict)

    def at(self, place: Place) -> StoredChunk | None:
        """Return the smallest chunk of a file that covers a line."""
        covering = [
            row for row in self.of(place[0]) if row.chunk.span.line_start <= place[1] <= row.chunk.span.line_end
        ]
        return min(covering, key=lambda row: row.chunk.span.end - row.chunk.span.start, default=None)

    def prose(self, node: Node) -> StoredChunk | None:
        """Return the prose that was rendered about a node."""
        kind, _, name = node.key.partition(":")
        return next(iter(self.of(f"{_PROSE}{kind}/{name}")), None)

    def of(self, uri: str) -> list[StoredChunk]:
        """Return a document's chunks in order, in whatever collection of the scope it is."""
        if uri not in self._held:
            self._held[uri] = []
            for name in self._collections():
                rows = self.store.document_chunks(self.scope.project, name, uri)
                if rows:
                    self._held[uri] = rows
                    break
        return self._held[uri]

    def _collections(self) -> Iterable[str]:
        if self.scope.collections is not None:
            return self.scope.collections
        return [one.name for one in self.store.collections(self.scope.project)]


def hit_of(row: StoredChunk, score: float, label: str) -> Hit:
    """Return a stored chunk as a hit."""
    chunk = row.chunk
    return Hit(
        doc_id=f"{row.uri}__chunk_{chunk.order}",
        text=chunk.text,
        score=score,
        metadata=row.metadata,
        source_doc_id=row.uri,
        chunk_index=chunk.order,
        collection=row.collection,
        span=chunk.span,
        kind=row.document_kind,
        language=row.language,
        title=row.title,
        symbol=chunk.symbol,
        header=chunk.header,
        label=label,
    )


def sureness(confidence: Confidence) -> float:
    """Return the score of evidence that is known so."""
    return _SURE[confidence]


def place_said(hit: Hit) -> Place | None:
    """Return the file and line that prose about a node is about."""
    uri, line = hit.metadata.get("file"), hit.metadata.get("line")
    return (uri, line) if isinstance(uri, str) and isinstance(line, int) and uri else None
