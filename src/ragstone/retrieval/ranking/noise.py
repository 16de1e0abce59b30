"""Candidates that have nothing to do with the query, and the report of those that are not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.retrieval.ranking.fusion import FusedList
from ragstone.retrieval.ranking.order import RankedChunk
from ragstone.types import Dropped, Scored

MAX_DROPPED: Final = 50
"""Dropped candidates that an explanation lists."""
NOISE_COSINE: Final = 0.15
"""A hit that shares no word with the query needs a larger cosine."""
STANDOUT_FACTOR, STANDOUT_SAMPLE = 1.5, 50
"""If no word of the query is in the index, a hit must also be well above the median of the 50 nearest: five nonsense
queries over 3,674 texts reached .30 to .36 with a median of .24 to .27, a true paraphrase over 201 texts .38 with a
median of .21. Not set by an eval."""
_UNRELATED: Final = "no word and hardly any meaning in common with the query"


def filter_noise(
    fused: FusedList, floors: Mapping[str, float]
) -> tuple[list[Scored], list[Dropped]]:
    """Return the best candidates that are related to the query, and some of those that are not.

    Some vector is always the nearest. It is no answer if it shares no word with the query and its cosine is noise.
    """
    related_ids: set[int] = set()
    for name, rows in fused.lists.items():
        if name != "words":
            floor = floors[name]
            rows = [row for row in rows if row.score > floor]
        related_ids.update(row.id for row in rows)
    related: list[Scored] = []
    dropped: list[Dropped] = []
    for row in fused.best:
        if row.id in related_ids:
            related.append(row)
        elif len(dropped) < MAX_DROPPED:
            name = f"chunk {row.id}"
            dropped.append(Dropped(name, row.score, _UNRELATED))
    return related, dropped


def similarity_floor(near: Sequence[Scored], related: float) -> float:
    """Return the cosine that is well above the nearest ones; at most the cosine of surely related texts."""
    nearest = near[:STANDOUT_SAMPLE]
    scores = sorted(row.score for row in nearest)
    median = 0.0
    if scores:  # Not by `statistics`: importing it takes 4 ms of a first search.
        half = len(scores) // 2
        median = (scores[half] + scores[~half]) / 2
    floor = max(NOISE_COSINE, STANDOUT_FACTOR * median)
    return min(related, floor)


def explain_dropped(
    ranked: Sequence[RankedChunk], copies: Sequence[RankedChunk], chosen: Sequence[RankedChunk]
) -> list[Dropped]:
    """Return the candidates that are not shown, and why."""
    shown_ids: set[int] = set()
    for entry in chosen:
        shown_ids.update(member.id for member in entry.members)
    lower = [entry for entry in ranked if entry.row.id not in shown_ids]
    dropped = [_drop(entry, "ranked lower") for entry in lower[:MAX_DROPPED]]
    dropped += [_drop(entry, "same text as a hit above") for entry in copies]
    return dropped


def _drop(entry: RankedChunk, reason: str) -> Dropped:
    return Dropped(entry.doc_id, entry.score, reason)
