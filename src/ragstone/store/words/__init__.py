"""The word index: FTS5 in the database, and a faster derived index for large stores."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ragstone.store.connection import Database
from ragstone.store.words.derived import DerivedIndex, TantivySearch, store_state
from ragstone.store.words.fts5 import Fts5Search
from ragstone.store.words.scope import WordScope, WordSearch, best_rows, can_count_terms
from ragstone.store.words.tantivy import IndexUnusable
from ragstone.store.words.terms import clean_terms
from ragstone.types import Scored


class WordIndex:
    """Searches by words, and decides which index answers."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        self.derived = DerivedIndex(database)

    def search(
        self, db: sqlite3.Connection, scope: WordScope, terms: Sequence[str], limit: int
    ) -> list[Scored]:
        """Return chunks with any of the terms, best first."""
        cleaned = clean_terms(terms)
        state = store_state(db)
        # The derived index knows no conditions on documents.
        reader = self.derived.reader(state) if scope.condition is None else None
        if reader is not None:
            searches: list[WordSearch] = [TantivySearch(db, reader, state)]
            if reader.last_chunk < state.last_chunk:
                searches.append(Fts5Search(db, after=reader.last_chunk))
            try:
                rows = _search(db, searches, scope, cleaned, limit)
                self.derived.after_search()
                return rows
            except IndexUnusable:
                self.derived.mark_unusable(state)
        rows = _search(db, [Fts5Search(db)], scope, cleaned, limit)
        self.derived.after_search()
        return rows


def _search(
    db: sqlite3.Connection,
    searches: Sequence[WordSearch],
    scope: WordScope,
    terms: Sequence[str],
    limit: int,
) -> list[Scored]:
    """Return the best rows of several searches. The first one, which has most chunks, counts the terms."""
    if can_count_terms(db, scope):
        rarities = searches[0].count_terms(scope, terms).rarities()
        return best_rows(
            [search.search_part(scope, rarities, limit) for search in searches], limit
        )
    return best_rows([search.search(scope, terms, limit) for search in searches], limit)
