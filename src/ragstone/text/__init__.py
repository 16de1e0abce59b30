"""Text: the terms it is indexed under and searched by, its sentences, and the number of its tokens."""

from __future__ import annotations

from ragstone.text.identifiers import (
    LONGEST_TERM,
    STOPWORDS,
    has_content_words,
    is_random,
    query_terms,
    spaced_terms,
    terms,
)
from ragstone.text.stemming import stem

VERSION = 1
"""Raise it if `terms` returns something else: stores then index their words again."""

__all__ = [
    "LONGEST_TERM",
    "STOPWORDS",
    "VERSION",
    "has_content_words",
    "is_random",
    "query_terms",
    "spaced_terms",
    "stem",
    "terms",
]
