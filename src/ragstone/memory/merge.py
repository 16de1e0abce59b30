"""Turns among documents: a turn as a hit that says which conversation it is from, and two lists as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from ragstone.types import Dropped, Explanation, Hit, Turn

SUPERSEDED: Final = 0.6
"""What the score of a turn that no longer holds is multiplied by."""
_SPEECH: Final = "memory:"
_COPY: Final = re.compile(r"(?:(?P<session>.*)/)?turn:(?P<index>\d+):\d+", re.S)

Later = Callable[[str], Mapping[int, Turn]]
"""Returns, for a session, which of its turns no longer hold, and since which turn."""


def together(documents: Explanation, turns: Explanation, later: Later, *, top_k: int, least: float) -> Explanation:
    """Return both answers as one, best first; whatever falls behind `top_k` or below `least` is told as dropped."""
    spoken = [as_hit(hit, later(hit.collection)) for hit in turns.hits]
    ranked = sorted((*documents.hits, *spoken), key=lambda hit: -hit.score)
    shown = [hit for hit in ranked if hit.score >= least][:top_k]
    kept = {id(hit) for hit in shown}
    behind = [Dropped(hit.doc_id, hit.score, "ranked lower") for hit in ranked if id(hit) not in kept]
    return replace(
        documents,
        candidates=documents.candidates + turns.candidates,
        coverage={**turns.coverage, **documents.coverage},
        hits=tuple(shown),
        dropped=(*documents.dropped, *turns.dropped, *behind),
        notes=tuple(dict.fromkeys((*documents.notes, *turns.notes))),
        milliseconds=documents.milliseconds + turns.milliseconds,
    )


def as_hit(hit: Hit, later: Mapping[int, Turn]) -> Hit:
    """Return a turn that was found as a hit of kind `turn`: its place is `memory:session turn N`."""
    index = hit.metadata.get("index")
    number = index if isinstance(index, int) else 0
    source = f"{_SPEECH}{hit.collection}"
    by = later.get(number)
    label = f"{number} (superseded by turn {by.index})" if by else str(number)
    return replace(
        hit,
        doc_id=f"{source}__turn_{number}__chunk_{hit.chunk_index}",
        source_doc_id=source,
        score=hit.score * SUPERSEDED if by else hit.score,
        metadata={**hit.metadata, **({"superseded_by": by.index, "superseded_because": by.because} if by else {})},
        span=replace(hit.span, page=number, page_label=label, unit="turn"),
        also_at=tuple(_place(at, hit.collection) for at in hit.also_at),
    )


def _place(at: str, session: str) -> str:
    told = _COPY.fullmatch(at)
    return f"{_SPEECH}{told['session'] or session} turn {int(told['index'])}" if told else at
