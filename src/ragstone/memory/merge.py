"""Merges hits from documents with hits from conversations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from ragstone.memory.session_cache import explain_replacement
from ragstone.memory.turns import turn_from_metadata
from ragstone.retrieval.ranking.confidence import NOTHING_FITS, WEAK_CONFIDENCE
from ragstone.types import Dropped, Explanation, Hit, Turn

SUPERSEDED: Final = 0.6
"""Factor for the score of a turn that no longer holds."""
_MEMORY_PREFIX: Final = "memory:"
_TURN_PLACE: Final = re.compile(r"(?:(?P<session>.*)/)?turn:(?P<index>\d+):\d+(?:-\d+)?", re.S)

SupersededTurns: TypeAlias = Callable[[str], Mapping[int, Turn]]
"""Returns, for a session, the turns that no longer hold and the turn that supersedes each."""


def merge_explanations(
    documents: Explanation,
    turns: Explanation,
    superseded: SupersededTurns,
    *,
    top_k: int,
    min_score: float,
) -> Explanation:
    """Return both answers as one, best first; hits after `top_k` or below `min_score` are listed as dropped."""
    turn_hits = raise_newer_turns(
        [turn_hit(hit, superseded(hit.collection)) for hit in turns.hits]
    )
    ranked = sorted((*documents.hits, *turn_hits), key=lambda hit: -hit.score)
    good = [hit for hit in ranked if hit.score >= min_score]
    hits = good[:top_k]
    rest = [hit for hit in ranked if not any(hit is chosen for chosen in hits)]
    lower = [Dropped(hit.doc_id, hit.score, "ranked lower", hit.citation) for hit in rest]
    return replace(
        documents,
        candidates=documents.candidates + turns.candidates,
        coverage={**turns.coverage, **documents.coverage},
        hits=tuple(hits),
        dropped=(*documents.dropped, *turns.dropped, *lower),
        notes=_merge_notes((*documents.notes, *turns.notes), hits),
        milliseconds=documents.milliseconds + turns.milliseconds,
    )


def _merge_notes(notes: Sequence[str], hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return the notes once each; that nothing fits well is said only if it is true of the hits of both."""
    fits = any(hit.score >= WEAK_CONFIDENCE for hit in hits)
    return tuple(dict.fromkeys(note for note in notes if not (fits and note == NOTHING_FITS)))


def raise_newer_turns(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits of turns, newest first; a turn has at least the score of a turn that it supersedes."""
    newest_first = sorted(hits, key=lambda hit: -(hit.span.page or 0))
    lowest: dict[tuple[str, object], float] = {}
    raised: list[Hit] = []
    for hit in reversed(newest_first):
        score = max(hit.score, lowest.get((hit.collection, hit.span.page), 0.0))
        newer = (hit.collection, hit.metadata.get("superseded_by"))
        lowest[newer] = max(score, lowest.get(newer, 0.0))
        raised.append(replace(hit, score=score))
    return raised[::-1]


def turn_hit(hit: Hit, superseded: Mapping[int, Turn]) -> Hit:
    """Return a found turn as a hit of kind `turn` with the place `memory:session turn N`."""
    index = hit.metadata.get("index")
    number = index if isinstance(index, int) else 0
    source = f"{_MEMORY_PREFIX}{hit.collection}"
    later = superseded.get(number)
    label = str(number)
    score = hit.score
    metadata = dict(hit.metadata)
    if later is not None:
        label = f"{number} (superseded by turn {later.index})"
        score *= SUPERSEDED
        content = turn_from_metadata(hit.metadata, hit.text).content
        because = explain_replacement(content, later)
        metadata |= {"superseded_by": later.index, "superseded_because": because}
    return replace(
        hit,
        doc_id=f"{source}__turn_{number}__chunk_{hit.chunk_index}",
        source_doc_id=source,
        score=score,
        metadata=metadata,
        span=replace(hit.span, page=number, page_label=label, unit="turn"),
        duplicates=tuple(_memory_citation(place, hit.collection) for place in hit.duplicates),
    )


def _memory_citation(place: str, session: str) -> str:
    match = _TURN_PLACE.fullmatch(place)
    if match is None:
        return place
    return f"{_MEMORY_PREFIX}{match['session'] or session} turn {int(match['index'])}"
