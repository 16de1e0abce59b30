"""Turns ranked chunks into hits: text, place, score, duplicates and trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from ragstone.errors import StoreDamaged
from ragstone.retrieval.ranking.compression import (
    answering_slices,
    cut_slices,
    is_cut_by_lines,
    join_slices,
    outer_span,
)
from ragstone.text import query_terms
from ragstone.types import CollectionKey, Dropped, Hit, Slice, Span, StoredChunk, Trace
from ragstone.types.documents import is_summary

if TYPE_CHECKING:
    from ragstone.protocols import DocumentReader
    from ragstone.retrieval.ranking.boosts import RankedChunk
    from ragstone.retrieval.ranking.confidence import Traces
    from ragstone.retrieval.ranking.order import ChunkLoader
    from ragstone.types import Request
    from ragstone.types.documents import Value


@dataclass(frozen=True, slots=True)
class HitBuilder:
    """Builds the hits of one search."""

    request: Request
    view: DocumentReader
    chunks: ChunkLoader
    traces: Traces
    confidence: float

    def build(self, chosen: Sequence[RankedChunk]) -> tuple[list[Hit], list[Dropped]]:
        """Return the hits, and the entries whose score is below `min_score`."""
        hits: list[Hit] = []
        weak: list[Dropped] = []
        duplicates = self._duplicates(chosen)
        min_score = self.request.min_score
        scores = [entry.score for entry in chosen]
        best = max(scores, default=0.0) or 1.0
        for entry in chosen:
            score = min(1.0, self.confidence * entry.score / best)
            if min_score is not None and score < min_score:
                reason = f"score below min_score {min_score}"
                weak.append(Dropped(entry.doc_id, score, reason, entry.row.citation))
            else:
                hits.append(self._hit(entry, score, duplicates))
        return hits, weak

    def _hit(
        self, entry: RankedChunk, score: float, duplicates: Mapping[int, tuple[str, ...]]
    ) -> Hit:
        row = self.chunks.rows[entry.row.id]
        span, text = self._span_and_text(entry)
        slices: tuple[Slice, ...] = ()
        if self.request.compress:
            slices = self._answering_slices(row, span, text)
            span, text = outer_span(slices), join_slices(slices)
        merged = tuple(member.order for member in entry.members if member.id != row.id)
        own_citation = span.citation(row.uri)
        places = duplicates.get(row.text_id, ())
        return Hit(
            doc_id=entry.doc_id,
            text=text,
            score=score,
            metadata=hit_metadata(row),
            source_doc_id=row.uri,
            chunk_index=row.chunk.order,
            collection=row.collection,
            span=span,
            kind=row.kind,
            language=row.language,
            title=row.title,
            symbol=" ".join(member.symbol for member in entry.members if member.symbol),
            header=row.chunk.header,
            duplicates=tuple(place for place in places if place != own_citation),
            trace=Trace(
                self.traces[row.id],
                entry.boosts,
                merged,
                fused=entry.score,
                confidence=self.confidence,
            ),
            content_hash=row.content_hash,
            ingested_at=row.ingested_at,
            slices=slices,
        )

    def _span_and_text(self, entry: RankedChunk) -> tuple[Span, str]:
        """Return the place and text of a hit: one chunk, or neighbours as one piece."""
        chunk = self.chunks.rows[entry.row.id].chunk
        span, text = chunk.span, chunk.text
        if len(entry.members) > 1:
            with suppress(StoreDamaged):  # the best of the neighbours is shown alone
                span, text = self._joined_neighbours(entry)
        return span, text

    def _answering_slices(self, row: StoredChunk, span: Span, text: str) -> tuple[Slice, ...]:
        """Return the sentences or lines of a hit that answer the query."""
        terms = query_terms(self.request.query)
        by_lines = is_cut_by_lines(row.document_kind)
        return cut_slices(text, span, answering_slices(text, terms, by_lines=by_lines))

    def _joined_neighbours(self, entry: RankedChunk) -> tuple[Span, str]:
        chunks = [self.chunks.rows[member.id].chunk for member in entry.members]
        first, last = chunks[0].span, chunks[-1].span
        scope = self.request.scope
        key = CollectionKey(scope.project, entry.row.collection, scope.kind)
        text = self.view.slice(key, entry.row.uri, (first.start, last.end))
        return first.extended_to(last), text

    def _duplicates(self, chosen: Sequence[RankedChunk]) -> dict[int, tuple[str, ...]]:
        """Return the other places of each shown text, each once; none if a filter is set, since they may not pass it."""
        if self.request.filter is not None:
            return {}
        collections = {entry.row.text_id: entry.row.collection for entry in chosen}
        copies = self.view.copies(self.request.scope, list(collections))
        shown_ids = _member_ids(chosen)
        all_ids = chain.from_iterable(copies.values())
        rows = self._load_others(
            [chunk_id for chunk_id in all_ids if chunk_id not in shown_ids]
        )
        duplicates: dict[int, tuple[str, ...]] = {}
        for text_id, chunk_ids in copies.items():
            others = [rows[chunk_id] for chunk_id in chunk_ids if chunk_id in rows]
            places = [_cite(row, collections[text_id]) for row in others]
            duplicates[text_id] = tuple(dict.fromkeys(places))
        return duplicates

    def _load_others(self, ids: Sequence[int]) -> Mapping[int, StoredChunk]:
        if not ids:
            return {}
        return self.view.chunks(self.request.scope.project, ids)


def _member_ids(chosen: Sequence[RankedChunk]) -> set[int]:
    """Return the ids of all chunks that are shown."""
    members = chain.from_iterable(entry.members for entry in chosen)
    return {member.id for member in members}


def hit_metadata(row: StoredChunk) -> dict[str, Value]:
    """Return the metadata of a hit: that of its document, with the path and the number of the chunk."""
    path = row.uri
    if is_summary(row.uri, row.metadata):
        path = str(row.metadata["file"])
    return {"path": path, "chunk_index": row.chunk.order, **row.metadata}


def _cite(row: StoredChunk, collection: str) -> str:
    """Return the citation of a chunk; it begins with the collection if that is another one than the hit's."""
    uri = row.uri if row.collection == collection else f"{row.collection}/{row.uri}"
    return row.chunk.span.citation(uri)
