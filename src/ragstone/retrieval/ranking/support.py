"""Support by other chunks of the same document, and the decay that keeps one file from filling the top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ragstone.retrieval.ranking.parameters import (
    RANKING_PARAMETERS,
    SUPPORTING_CHUNKS,
    RankingParameters,
)
from ragstone.retrieval.ranking.ranked_chunk import RankedChunk, sort_by_score

_COMPARED_FILES: Final = 10
"""Code files whose support is averaged for the text among the candidates."""


def apply_neighbour_support(
    ranked: Sequence[RankedChunk], parameters: RankingParameters = RANKING_PARAMETERS
) -> None:
    """Raise each chunk of text by a share of the better score of its two neighbours."""
    scores = {(entry.document, entry.row.order): entry.score for entry in ranked}
    for entry in ranked:
        if entry.is_code:
            continue
        row = entry.row
        score = entry.score
        before = (entry.document, row.order - 1)
        after = (entry.document, row.order + 1)
        best = max(scores.get(before, 0.0), scores.get(after, 0.0))
        reason = "neighbour"
        own_share = parameters.edge * score
        if row.order == 0 and best < own_share:
            best = own_share
            reason = "start"
        entry.add(reason, parameters.neighbour_support * best)


def apply_file_support(
    ranked: Sequence[RankedChunk], parameters: RankingParameters = RANKING_PARAMETERS
) -> None:
    """Raise the best chunk of each code file by shares of the file's next best chunks.

    Text among code gets the average support of the best code files, so that no kind wins by its kind.
    """
    files: dict[tuple[str, str], list[RankedChunk]] = {}
    for entry in sort_by_score(ranked):
        if entry.is_code:
            files.setdefault(entry.document, []).append(entry)
    gains: list[float] = []
    for entries in files.values():
        first = entries[0]
        others = entries[1 : 1 + SUPPORTING_CHUNKS]
        support = parameters.file_support * sum(entry.score for entry in others)
        if first.score > 0:
            gains.append(support / first.score)
        first.add("same file", support)
    compared = gains[:_COMPARED_FILES]
    if not compared:
        return
    average = sum(compared) / len(compared)
    for entry in ranked:
        if not entry.is_code:
            entry.boost("among code", 1.0 + average)


def apply_same_file_decay(
    ranked: Sequence[RankedChunk], parameters: RankingParameters = RANKING_PARAMETERS
) -> list[RankedChunk]:
    """Return sorted candidates, sorted again after each further chunk of one code file was lowered."""
    counts: Counter[tuple[str, str]] = Counter()
    for entry in ranked:
        if not entry.is_code:
            continue
        earlier = counts[entry.document]
        counts[entry.document] += 1
        if earlier:
            entry.boost("further chunk", parameters.same_file_decay**earlier)
    if all(count == 1 for count in counts.values()):
        return list(ranked)
    return sort_by_score(ranked)
