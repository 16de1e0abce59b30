"""Every tuning number of ranking, each with its reason and the eval that set it.

`python -m evals tune` replays the questions of all sets over recorded lists and varies one number after another. It
chooses on all sets but one and tests on that one; docs/decisions/0009 has the results. The figures of a number come
from such replays, with the other numbers about as they are here, so they compare values of one number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

QueryType = Literal["symbol", "keywords", "question", "statement"]


def _meaning_shares() -> dict[QueryType, float]:
    return {"symbol": 0.50, "keywords": 0.50, "question": 0.45, "statement": 0.55}


@dataclass(frozen=True, slots=True)
class RankingParameters:
    """The numbers that decide the order of hits; `RANKING_PARAMETERS` has the ones in use."""

    meaning: dict[QueryType, float] = field(default_factory=_meaning_shares)
    """Share of the vector lists in the weighted sum; words get the rest. Questions (chunking, LoCoMo) are best at 0.4
    to 0.5, statements (SciFact's claims, descriptions in code search) at 0.55 to 0.6, short queries in code search at
    0.5. Weights by how sure a list looks (its gap, its best cosine) gained nothing over the four sets."""

    definition_boost: float = 1.25
    """For a chunk that defines the symbol in the query. Code search .842 → .843; .840 if every query with such a word
    gets it."""

    path_boost: float = 0.30
    """For terms of the query in the path of the file, by their share. Code search .818 without, .826 at 0.15, .832
    at 0.3, .830 at 0.5. Without stop words: .8497 → .851 at 0.3, .850 at 0.2, .851 at 0.4 and 0.5, all within the
    error (± .002)."""

    side_file_factor: float = 0.60
    """For tests, examples and generated files, which are rarely the answer. Code search .810 at 1, .832 at 0.6 and at
    0.4."""

    neighbour_support: float = 0.20
    """A chunk is more likely to answer if the chunk before or after it does too: this share of the better neighbour's
    score is added. At 0, 0.1, 0.2, 0.3: chunking recall 86.0, 86.7, 87.1, 86.6; code search .820, .831,
    .832, .829."""

    edge: float = 0.80
    """The first chunk of a text has no neighbour before it, and a short text has none at all. So that it does not lose
    against long texts, this share of its own score replaces the neighbour. SciFact .739 without, .747 at 0.6, .750 at
    0.8, .746 at 1. Not for code: the first chunk of a file has its imports (code search .832 → .827)."""

    same_file_decay: float = 0.70
    """Each further chunk of one code file is multiplied by this once more, so that one file does not fill the top.
    Code search .782 at 1, .832 at 0.8, .837 at 0.7, .840 at 0.5, which would hide second answers of one file."""

    merge_limit: int = 1000
    """Neighbours become one hit up to this many characters. Chunking, recall / IoU at 5 hits: 86.0 / 7.1 without,
    87.1 / 6.9 at 1,000, 87.5 / 6.4 at 1,200; in a context of 4,000 characters it makes no difference."""

    merge_limit_code: int = 2000
    """The same for code, whose chunks are larger. Code search .832 at 1,000, .836 at 1,500, .838 at 2,000 and 3,000."""


RANKING_PARAMETERS: Final = RankingParameters()

RRF_K: Final = 10
"""The constant of reciprocal rank fusion: SciFact .719 at 10, .714 at 60, measured for the design; not varied here."""

MMR_RELEVANCE: Final = 0.7
"""MMR's weight of relevance against novelty. Not set by an eval."""

SHORTLIST_FACTOR, MIN_SHORTLIST = 4, 36
"""Rows of the fused list that are ranked: this multiple of `top_k`, and at least this many. For ten hits 40 rows are as
good as 60 (SciFact .7509 and .7497 ± .0010, code search .8497, LoCoMo 78.8 with both), 30 hardly (code search .8450 ±
.0030); for five hits 36 are as good as 40 (chunking 86.91), 32 hardly (86.69 ± .21)."""
