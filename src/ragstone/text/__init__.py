"""Which words a text has: the terms it is indexed under and asked for by."""

from __future__ import annotations

from ragstone.text.identifiers import LONGEST_TERM, STOPWORDS, beginnings, query_terms, spaced_terms, squeezed, terms
from ragstone.text.stemming import stem

VERSION = 1
"""Raised with every change of what `terms` returns: stores index their words anew then."""

__all__ = [
    "LONGEST_TERM",
    "STOPWORDS",
    "VERSION",
    "beginnings",
    "query_terms",
    "spaced_terms",
    "squeezed",
    "stem",
    "terms",
]
