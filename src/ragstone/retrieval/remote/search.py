"""Adds the hits of a remote collection to those of the store."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ragstone.errors import ProviderError
from ragstone.protocols import RemoteCollection
from ragstone.store.filters import META, holds
from ragstone.types import (
    Condition,
    Dropped,
    Explanation,
    Filter,
    Hit,
    ListTrace,
    RemotePassage,
    Request,
    Scalar,
    Span,
    Trace,
)

_LIST: Final = "remote"
_UNNAMED: Final = "passage"


def search_remote(
    collection: RemoteCollection, name: str, request: Request, local: Explanation | None
) -> Explanation:
    """Return the hits of the store and of a remote collection as one answer, best first.

    `local` is None if only the remote collection is searched; then its failure is raised. Otherwise it is a note.
    """
    started = time.perf_counter()
    answer = local or _empty(request)
    try:
        passages = collection.search(request.query, request.top_k)
    except ProviderError as error:
        if local is None:
            raise
        note = f"the remote collection {name!r} does not answer: {error}"
        return replace(answer, notes=(*answer.notes, note))
    hits = _remote_hits(passages, name, request)
    ranked = sorted((*answer.hits, *hits), key=lambda hit: -hit.score)
    rest = ranked[request.top_k :]
    lower = [Dropped(hit.doc_id, hit.score, "ranked lower", hit.citation) for hit in rest]
    return replace(
        answer,
        candidates=answer.candidates + len(passages),
        hits=tuple(ranked[: request.top_k]),
        dropped=(*answer.dropped, *lower),
        milliseconds=answer.milliseconds + (time.perf_counter() - started) * 1000,
    )


def _empty(request: Request) -> Explanation:
    complete = {_LIST: 1.0}
    return Explanation(request.query, _LIST, (), complete, complete, 0, (), (), (), 0.0)


def _remote_hits(passages: Sequence[RemotePassage], name: str, request: Request) -> list[Hit]:
    """Return the passages that pass the filter and the lowest score, as hits."""
    scores = _scores(passages)
    hits = [
        _hit(passage, name, rank, score)
        for rank, (passage, score) in enumerate(zip(passages, scores, strict=True))
    ]
    min_score = request.min_score or 0.0
    return [hit for hit in hits if hit.score >= min_score and _passes(hit, request.filter)]


def _scores(passages: Sequence[RemotePassage]) -> list[float]:
    """Return scores from 0 to 1: those of the server if all are, else 1/2, 1/3, … by rank."""
    scores = [passage.score for passage in passages]
    usable = [score for score in scores if score is not None and 0.0 <= score <= 1.0]
    if len(usable) == len(scores):
        return usable
    return [1.0 / (rank + 2) for rank in range(len(scores))]


def _hit(passage: RemotePassage, name: str, rank: int, score: float) -> Hit:
    path = passage.path or passage.title or f"{_UNNAMED} {rank + 1}"
    return Hit(
        doc_id=f"{name}:{path}__chunk_{rank}",
        text=passage.text,
        score=score,
        metadata=passage.metadata,
        source_doc_id=path,
        chunk_index=rank,
        collection=name,
        span=_span(passage),
        kind=passage.kind or "text",
        title=passage.title,
        trace=Trace((ListTrace(_LIST, rank + 1, score, score, 1.0),), fused=score),
        freshness="unverifiable",
    )


def _span(passage: RemotePassage) -> Span:
    """Return the span; positions count from the start of the passage, and lines from 1 if they are not known."""
    first = passage.line_start or 1
    last = passage.line_end or first + passage.text.rstrip("\n").count("\n")
    size = len(passage.text.encode("utf-8", "replace"))
    return Span(0, len(passage.text), 0, size, first, max(first, last), passage.page)


def _passes(hit: Hit, filter: Filter | None) -> bool:
    """Return whether a hit passes all conditions; a field that the server does not send is missing."""
    if filter is None:
        return True
    return all(
        holds(condition.operator, condition.value, _values(hit, condition))
        for condition in filter.conditions
    )


def _values(hit: Hit, condition: Condition) -> Sequence[Scalar]:
    fields = {
        "path": hit.source_doc_id,
        "kind": hit.kind,
        "language": hit.language,
        "title": hit.title,
    }
    if condition.field in fields:
        return [fields[condition.field]]
    value = hit.metadata.get(condition.field.removeprefix(META))
    return list(value) if isinstance(value, list | tuple) else [value]
