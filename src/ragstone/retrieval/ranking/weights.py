"""Every tuning number of ranking, each with its reason and the eval that set it, or the word that none did.

`python -m evals tune` replays the questions of all sets over recorded lists while one number after another varies,
chooses on all sets but one, and tests on the one left out; what came of it is in docs/decisions/0009. Figures beside a
number are from such replays, the other numbers about as they stand here: they compare values of one number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

QueryType = Literal["symbol", "keywords", "question", "statement"]


def _meaning() -> dict[QueryType, float]:
    return {"symbol": 0.50, "keywords": 0.50, "question": 0.45, "statement": 0.55}


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers that order a search's hits; `NUMBERS` has those in force."""

    meaning: dict[QueryType, float] = field(default_factory=_meaning)
    """Share of the meaning lists in the weighted sum; words get the rest. Questions (chunking, LoCoMo) are best at 0.4
    to 0.5, statements (SciFact's claims, descriptions in code search) at 0.55 to 0.6, short queries in code search at
    0.5. Weights that follow how sure a list looks (its gap, its best cosine) gained nothing over the four sets."""

    definition_boost: float = 1.25
    """A chunk that defines the name that the query is. Code search .842 → .843; given to every query that has such a
    word in it, .840."""

    path_boost: float = 0.30
    """Words of the query that stand in the file's path, by their share. Code search .818 without, .826 at 0.15, .832
    here, .830 at 0.5. Since stop words do not count: .8497 → .851 here, .850 at 0.2, .851 at 0.4 and 0.5, each within
    what chance may do (± .002)."""

    side_file_factor: float = 0.60
    """Tests, examples and generated files describe the thing; they are rarely it. Code search .810 at 1, .832 here and
    at 0.4."""

    neighbour_support: float = 0.20
    """A chunk is more likely to answer when the chunk before or behind it does too: this share of the better
    neighbour's score is added. At 0, 0.1, 0.2, 0.3: chunking recall 86.0, 86.7, 87.1, 86.6; code search .820, .831,
    .832, .829."""

    edge: float = 0.80
    """The first chunk of a text has nothing before it, and a short text has nothing beside it at all: it is not to lose
    against long ones for that, so this share of its own score stands for the neighbour. SciFact .739 without, .747 at
    0.6, .750 here, .746 at 1. Not for code: the first chunk of a file is its imports (code search .832 → .827)."""

    same_file_decay: float = 0.70
    """The n-th chunk of one code file counts this much less than the one before it, so that one file does not flood the
    top. Code search .782 at 1, .832 at 0.8, .837 here, .840 at 0.5, which would hide second answers of one file."""

    merge_limit: int = 1000
    """Neighbours are shown as one hit up to this many characters. Chunking, recall / IoU at 5 hits: 86.0 / 7.1 without,
    87.1 / 6.9 here, 87.5 / 6.4 up to 1,200; in 4,000 characters it makes no difference."""

    merge_limit_code: int = 2000
    """The same for code, whose chunks are larger. Code search .832 at 1,000, .836 at 1,500, .838 here and at 3,000."""


NUMBERS: Final = Numbers()

# Reciprocal rank fusion's constant: SciFact .719 at 10, .714 at 60, in the design's figures; not varied here.
RRF_K: Final = 10

# MMR's balance between relevance and novelty. Not set by an eval.
MMR_RELEVANCE: Final = 0.7

# How far down the fused list rows are loaded and looked at, as a multiple of top_k and at least. For ten hits 40 rows
# are as good as 60 (SciFact .7509 and .7497 ± .0010, code search .8497, LoCoMo 78.8 with both), 30 hardly (code search
# .8450 ± .0030); for five 36 are as good as 40 (chunking 86.91), 32 hardly (86.69 ± .21).
SHORTLIST_FACTOR: Final = 4
SHORTLIST_LEAST: Final = 36
