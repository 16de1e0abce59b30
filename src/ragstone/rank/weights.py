"""Every tuning number of ranking, each with its reason and the eval that set it."""

from __future__ import annotations

from typing import Final, Literal

QueryType = Literal["symbol", "keywords", "question"]

# Share of the meaning lists in the weighted sum; words get the rest.
# 0.4 to 0.7 is best on each of chunking, LoCoMo, SciFact and code search; 0.6 is near the best on all of them.
MEANING_WEIGHT: Final[dict[QueryType, float]] = {"symbol": 0.4, "keywords": 0.6, "question": 0.6}

# Reciprocal rank fusion's constant; SciFact: .719 at 10 against .714 at 60.
RRF_K: Final = 10

# A chunk that defines a name the query spells out is what a person looks for.
DEFINITION_BOOST: Final = 1.25
# Words of the query that stand in the file's path.
PATH_BOOST: Final = 0.10
# Tests, examples and generated files describe the thing; they are rarely the thing.
SIDE_FILE_FACTOR: Final = 0.85

# The n-th chunk of one code file counts this much less than the one before it, so that one file does not flood the top.
SAME_FILE_DECAY: Final = 0.92

# Neighbours are shown as one hit up to this many characters.
MERGE_LIMIT: Final = 2400

# MMR's balance between relevance and novelty.
MMR_RELEVANCE: Final = 0.7

# How far down the fused list rows are loaded and looked at, as a multiple of top_k and at least.
SHORTLIST_FACTOR: Final = 6
SHORTLIST_LEAST: Final = 40
