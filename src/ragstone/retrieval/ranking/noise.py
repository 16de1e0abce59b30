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
"""If no word of the query is in the index, a hit must also stand out from the median of the 50 nearest: five nonsense
queries over 3,674 texts reached .30 to .36 with a median of .24 to .27, a true paraphrase over 201 texts .38 with a
median of .21. Not set by an eval."""


def filter_noise(
    fused: FusedList, floors: Mapping[str, float]
) -> tuple[list[Scored], list[Dropped]]:
    """Return the best candidates that are related to the query, and some of those that are not.

    Some vector is always the nearest. It is no answer if it shares no word with the query and its cosine is noise.
    """
    related: set[int] = set()
    for name, rows in fused.lists.items():
        if name == "words":
            related.update(row.id for row in rows)
        else:
            related.update(row.id for row in rows if row.score > floors[name])
    related_rows = [row for row in fused.best if row.id in related]
    unrelated = [row for row in fused.best if row.id not in related]
    reason = "no word and hardly any meaning in common with the query"
    return related_rows, [
        Dropped(f"chunk {row.id}", row.score, reason) for row in unrelated[:MAX_DROPPED]
    ]


def similarity_floor(near: Sequence[Scored], related: float) -> float:
    """Return the cosine that stands out from the nearest ones; at most the cosine of surely related texts."""
    scores = sorted(row.score for row in near[:STANDOUT_SAMPLE])
    half = len(scores) // 2
    # Not by `statistics`: importing it takes 4 ms of a first search.
    median = (scores[half] + scores[~half]) / 2 if scores else 0.0
    return min(related, max(NOISE_COSINE, STANDOUT_FACTOR * median))


def explain_dropped(
    ranked: Sequence[RankedChunk], copies: Sequence[RankedChunk], chosen: Sequence[RankedChunk]
) -> list[Dropped]:
    """Return the candidates that are not shown, and why."""
    shown_ids = {member.id for entry in chosen for member in entry.members}
    lower = [entry for entry in ranked if entry.row.id not in shown_ids]
    dropped = [Dropped(entry.doc_id, entry.score, "ranked lower") for entry in lower[:MAX_DROPPED]]
    return dropped + [
        Dropped(entry.doc_id, entry.score, "same text as a hit above") for entry in copies
    ]
