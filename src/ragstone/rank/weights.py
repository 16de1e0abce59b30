"""Every tuning number of ranking, each with its reason and the eval that set it, or the word that none did.

Figures beside a number come from replaying the questions of `evals/` over stored lists while that one number varied,
the others as they were at the time: they compare values of one number, and are not what `python -m evals` prints now.
"""

from __future__ import annotations

from typing import Final, Literal

QueryType = Literal["symbol", "keywords", "question"]

# Share of the meaning lists in the weighted sum; words get the rest.
# Chunking and LoCoMo (questions) are best at 0.3 to 0.45, SciFact (claims) at 0.5, code search at 0.5 to 0.6.
MEANING_WEIGHT: Final[dict[QueryType, float]] = {"symbol": 0.4, "keywords": 0.5, "question": 0.4}

# Reciprocal rank fusion's constant: SciFact .719 at 10, .714 at 60, in the design's figures; not varied here.
RRF_K: Final = 10

# A chunk that defines a name the query spells out is what a person looks for. Code search shows no gain (.824 without,
# .821 here, .824 at 1.5: within its error), having few queries that are names.
DEFINITION_BOOST: Final = 1.25
# Words of the query that stand in the file's path. Code search .812 without, .821 at 0.1, .829 at 0.4.
PATH_BOOST: Final = 0.30
# Tests, examples and generated files describe the thing; they are rarely it. Code search .808 → .813 (0.85 → 0.6).
SIDE_FILE_FACTOR: Final = 0.60

# A chunk is more likely to answer when the chunk before or behind it does too: this share of the better neighbour's
# score is added. Code search .785 → .799 at 0.2, chunking recall 85.8 → 86.7 at 0.2; SciFact loses a point there.
NEIGHBOUR_SUPPORT: Final = 0.1
NEIGHBOUR_SUPPORT_CODE: Final = 0.2

# The n-th chunk of one code file counts this much less than the one before it, so that one file does not flood the top.
# Code search .812 at 0.92, .826 here; 0.7 gains half a point more and would hide second answers of one file.
SAME_FILE_DECAY: Final = 0.80

# Neighbours are shown as one hit up to this many characters. Chunking, 170-token pieces, recall / IoU: 87.4 / 6.7
# without merging, 87.6 / 6.7 here, 89.4 / 5.7 up to 1,500.
MERGE_LIMIT: Final = 1000

# MMR's balance between relevance and novelty. Not set by an eval.
MMR_RELEVANCE: Final = 0.7

# How far down the fused list rows are loaded and looked at, as a multiple of top_k and at least. Not set by an eval.
SHORTLIST_FACTOR: Final = 6
SHORTLIST_LEAST: Final = 40
