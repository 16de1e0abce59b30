"""Candidates that have nothing to do with the query, and the report of those that are not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.retrieval.ranking.fusion import FusedList
from ragstone.retrieval.ranking.ranked_chunk import RankedChunk
from ragstone.types import Dropped, Scored

MAX_DROPPED: Final = 50
"""Dropped candidates that an explanation lists."""
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
