"""Every tuning number of ranking, each with its reason.

The numbers were chosen on `code_search`, the development split of `code_search_more`, `mixed` and the prose sets, and
confirmed once on the validation split (docs/decisions/0025). Figures are NDCG@10 by chunk on the development split,
other sets where they are named. The optimum is flat: each number may be moved by a third for less than .005.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

QueryType = Literal["symbol", "keywords", "question", "statement"]


def _meaning_shares() -> dict[QueryType, float]:
    return {"symbol": 0.55, "keywords": 0.55, "question": 0.45, "statement": 0.55}


@dataclass(frozen=True, slots=True)
class RankingParameters:
    """The numbers that decide the order of hits; `RANKING_PARAMETERS` has the ones in use."""

    meaning: dict[QueryType, float] = field(default_factory=_meaning_shares)
    """Share of the vector lists in the weighted sum; words get the rest. Questions repeat the words of their answer
    more often than other queries. With .45 and .55 for all: chunking recall 86.8 and 85.5, mixed MRR .79 and .85."""

    beyond_chance: float = 1.25
    """A cosine counts as much as the best match by words if it is this many times as far above those of unrelated chunks
    as the best of so many chunks is by chance: 5 standard deviations above the mean of 3,000 chunks, 3.5 of 50 and fewer. Cosines
    are not scaled by the best of the list: the best of a bad list is no good match. With 5 deviations for any number:
    mixed MRR .786 and .793 (notes .718 → .762), SciFact .747 and .751, code within .002."""

    full_share: float = 0.40
    """The best match by words counts in full if it has this share of the query, else in proportion: a chunk with one word
    of an everyday question is no good match. Each term counts by its rarity in the collection. If all terms counted
    alike: SciFact .745 and .747, five languages .344 and .350, mixed MRR .784 and .786."""

    file_name: float = 0.30
    """For a file whose name is in the query: this share of the best score, by the share of the name's terms that the
    query has. .860 with it, .831 without; the share of the query's terms instead: .783 against .820, alone."""

    definition: float = 0.50
    """For a chunk that defines the symbol in the query: this share of the best score. .765 → .774, alone."""

    side_file_factor: float = 0.50
    """For tests, examples, generated and legacy files, which are rarely the answer. .765 → .779, alone."""

    summary_factor: float = 0.70
    """For texts that Ragstone wrote about code, so that the code itself comes first. Not set by an eval."""

    prose_factor: float = 1.20
    """For text, if the query names nothing of code. Folders with code and documents: MRR .790 at 1, .846 at 1.2, .855
    at 1.5."""

    file_support: float = 0.30
    """The best chunk of a code file gets this share of each of the next three: the file that owns a subject has
    several good chunks. .860 → .883."""

    neighbour_support: float = 0.20
    """A chunk of text is more likely to answer if the chunk before or after it does too: this share of the better
    neighbour's score is added. Not for code, which has `file_support`."""

    edge: float = 0.80
    """The first chunk of a text has no neighbour before it, and a short text has none at all. So that it does not lose
    against long texts, this share of its own score replaces the neighbour. SciFact .745 without, .748 with it."""

    same_file_decay: float = 0.70
    """Each further chunk of one code file is multiplied by this once more, so that one file does not fill the top.
    .765 at 1, .789 at 0.7, .791 at 0.5, alone."""

    merge_limit: int = 1000
    """Neighbours become one hit up to this many characters. Chunking, recall / IoU at 5 hits: 86.0 / 7.1 without,
    87.1 / 6.9 at 1,000, 87.5 / 6.4 at 1,200; in a context of 4,000 characters it makes no difference."""

    merge_limit_code: int = 2000
    """The same for code, whose chunks are larger."""


RANKING_PARAMETERS: Final = RankingParameters()

SUPPORTING_CHUNKS: Final = 3
"""Further chunks of a code file that support its best one."""

RRF_K: Final = 10
"""The constant of reciprocal rank fusion: SciFact .719 at 10, .714 at 60, measured for the design; not varied here."""

MMR_RELEVANCE: Final = 0.7
"""MMR's weight of relevance against novelty. Not set by an eval."""

SHORTLIST_FACTOR, MIN_SHORTLIST = 10, 100
"""Rows of the fused list that are ranked: this multiple of `top_k`, and at least this many. For ten hits 40 rows give
.874, 60 .878, 100 .8805, all of them .881. Up to ten hits have the same rows, so that `top_k` does not change the order."""
