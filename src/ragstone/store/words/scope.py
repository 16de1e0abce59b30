"""Where a search by words looks, and how rare its terms are there.

FTS5 counts how rare a term is in the whole file. In one conversation among many, or one project of several, that is
wrong: a name that every turn uses is not rare there, even if it is rare in the file. So terms are counted in the
collections in scope, unless these are so large that counting takes too long.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple, Protocol

from ragstone.store.catalog import id_list
from ragstone.store.fetch import fetch_value
from ragstone.store.filters import Where
from ragstone.types import Scored

MOST_CHUNKS: Final = 20_000  # in larger scopes counting costs more and changes less
MOST_COLLECTIONS: Final = 16
_LEAST_RARITY: Final = 1e-6  # FTS5 gives this to a term that more than half of the rows have
_CHUNKS_IN: Final = """
    SELECT total(chunks) FROM collections WHERE id IN (SELECT value FROM json_each(?))"""


@dataclass(frozen=True, slots=True)
class WordScope:
    """The collections to search by id, None for the whole index, and a condition on documents."""

    collections: Sequence[int] | None
    condition: Where | None

    @property
    def collection_list(self) -> str:
        """Return the ids as the JSON list that `json_each(?)` takes."""
        return id_list(self.collections or ())


class TermCounts(NamedTuple):
    """How many chunks there are, and how many of them have each term."""

    chunks: int
    by_term: dict[str, int]

    def rarities(self) -> dict[str, float]:
        """Return how rare each term is."""
        return {term: part_rarity(self.chunks, count) for term, count in self.by_term.items()}


class WordSearch(Protocol):
    """Searches one index of words. FTS5 and tantivy each implement it."""

    def count_terms(self, scope: WordScope, terms: Sequence[str]) -> TermCounts:
        """Return how many chunks of the collections in scope the index has, and how many have each term."""

    def search(self, scope: WordScope, terms: Sequence[str], limit: int) -> list[Scored]:
        """Return the best chunks with any of the terms; rarities are those of the whole file."""

    def search_part(
        self, scope: WordScope, rarities: Mapping[str, float], limit: int
    ) -> list[Scored]:
        """Return the best chunks with any of the terms; rarities are given."""


def can_count_terms(db: sqlite3.Connection, scope: WordScope) -> bool:
    """Return whether the scope is small enough to count the terms in it."""
    if scope.collections is not None and len(scope.collections) > MOST_COLLECTIONS:
        return False
    return chunks_in(db, scope) <= MOST_CHUNKS


def chunks_in(db: sqlite3.Connection, scope: WordScope) -> int:
    """Return how many chunks the collections in scope have."""
    if scope.collections is None:
        return int(fetch_value(db, "SELECT total(chunks) FROM collections"))
    return int(fetch_value(db, _CHUNKS_IN, scope.collection_list))


def part_rarity(chunks: int, count: int) -> float:
    """Return how rare a term is that `count` of `chunks` have; it is never 0, since a part may be tiny."""
    return math.log1p((max(chunks, count) - count + 0.5) / (count + 0.5))


def file_rarity(chunks: int, count: int) -> float:
    """Return the rarity by which FTS5 weights a term that `count` of `chunks` have."""
    return max(_LEAST_RARITY, math.log((max(chunks, count) - count + 0.5) / (count + 0.5)))


def best_rows(results: Iterable[Iterable[Scored]], limit: int) -> list[Scored]:
    """Return the rows with the highest scores of all results; equal scores are ordered by id."""
    rows = chain.from_iterable(results)
    return sorted(rows, key=lambda row: (-row.score, row.id))[:limit]
