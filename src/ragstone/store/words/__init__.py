"""The word index: FTS5 in the database, and a faster derived index for large stores."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from ragstone.store.connection import Database
from ragstone.store.words.derived_index import (
    DerivedIndex,
    StoreState,
    TantivySearch,
    store_state,
)
from ragstone.store.words.fts5 import Fts5Search
from ragstone.store.words.scope import (
    WordScope,
    WordSearch,
    best_rows,
    can_count_terms,
)
from ragstone.store.words.tantivy import IndexUnusable
from ragstone.store.words.terms import clean_terms
from ragstone.types import Scored
from ragstone.types.bounded_cache import BoundedCache

_QUERIES_COUNTED: Final = 256
_WHOLE_FILE: Final = WordScope(None, None)

CountKey: TypeAlias = tuple[StoreState, tuple[int, ...] | None, tuple[str, ...]]
"""The state of the store, the collections in scope and the terms."""


class WordIndex:
    """Searches by words, and decides which index answers."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self.derived = DerivedIndex(database)
        self._rarities: BoundedCache[CountKey, Mapping[str, float]] = BoundedCache(
            _QUERIES_COUNTED
        )

    def search(
        self, db: sqlite3.Connection, scope: WordScope, terms: Sequence[str], limit: int
    ) -> list[Scored]:
        """Return chunks with any of the terms, best first."""
        cleaned = clean_terms(terms)
        state = store_state(db)
        searches = self._searches(db, state, scope)
        try:
            rows = self._search(db, state, searches, scope, cleaned, limit)
        except IndexUnusable:
            self.derived.mark_unusable(state)
            rows = self._search(db, state, [Fts5Search(db)], scope, cleaned, limit)
        self.derived.after_search()
        return rows

    def rarities(
        self, db: sqlite3.Connection, scope: WordScope, terms: Sequence[str]
    ) -> Mapping[str, float]:
        """Return how rare each term is in the collections in scope, or in the whole file if these are large."""
        cleaned = clean_terms(terms)
        state = store_state(db)
        counted = scope if can_count_terms(db, scope) else _WHOLE_FILE
        first = self._searches(db, state, counted)[0]
        try:
            return self._count(state, first, counted, cleaned)
        except IndexUnusable:
            self.derived.mark_unusable(state)
            return self._count(state, Fts5Search(db), counted, cleaned)

    def _searches(
        self, db: sqlite3.Connection, state: StoreState, scope: WordScope
    ) -> list[WordSearch]:
        """Return the searches that together have all chunks; the first one has most of them."""
        # The derived index knows no conditions on documents.
        reader = self.derived.reader(state) if scope.condition is None else None
        if reader is None:
            return [Fts5Search(db)]
        searches: list[WordSearch] = [TantivySearch(db, reader, state)]
        if reader.last_chunk < state.last_chunk:
            searches.append(Fts5Search(db, after=reader.last_chunk))
        return searches

    def _search(
        self,
        db: sqlite3.Connection,
        state: StoreState,
        searches: Sequence[WordSearch],
        scope: WordScope,
        terms: Sequence[str],
        limit: int,
    ) -> list[Scored]:
        """Return the best rows of several searches. Terms are counted in scope if it is small."""
        if can_count_terms(db, scope):
            rarities = self._count(state, searches[0], scope, terms)
            results = [search.search_part(scope, rarities, limit) for search in searches]
        else:
            results = [search.search(scope, terms, limit) for search in searches]
        return best_rows(results, limit)

    def _count(
        self,
        state: StoreState,
        search: WordSearch,
        scope: WordScope,
        terms: Sequence[str],
    ) -> Mapping[str, float]:
        """Return how rare each term is in scope. A search and its ranking ask for the same terms, so they are cached."""
        collections = None if scope.collections is None else tuple(scope.collections)
        key = (state, collections, tuple(terms))
        rarities = self._rarities.get(key)
        if rarities is None:
            rarities = search.count_terms(scope, terms).rarities()
            self._rarities[key] = rarities
        return rarities
