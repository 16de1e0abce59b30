"""The word index in the database: an FTS5 table over the terms that `ragstone.text` finds.

The table has no text. To remove a row, FTS5 must be given exactly the terms that were inserted, so they are
made again from the stored text. If the analysis has changed, or the text of a chunk to remove is damaged, the whole
index is rebuilt.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ragstone.errors import StoreDamaged, StoreError
from ragstone.store.fetch import fetch_value
from ragstone.store.words.scope import TermCounts, WordScope, chunks_in, file_rarity
from ragstone.store.words.terms import (
    ChunkTerms,
    ChunkText,
    chunk_terms,
    chunks_after,
    chunks_by_id,
    indexed_text,
    split_terms,
    stored_terms,
    version,
)
from ragstone.types import Scored

_BATCH: Final = 2000
_INSERT: Final = "INSERT INTO words (rowid, symbol, header, path, body) VALUES (?, ?, ?, ?, ?)"
_DELETE: Final = "INSERT INTO words (words, rowid, symbol, header, path, body) VALUES ('delete', ?, ?, ?, ?, ?)"
# Weights of the columns: body 1, symbol 4, header 1, path 8. The name that a chunk defines, and its path, say more
# about it than a name in its text. Code search, from 4 2 2 1: words .748 → .754; hybrid .800 → .807
_SCORED: Final = """
    SELECT w.rowid AS chunk, bm25(words, 1.0, 4.0, 1.0, 8.0) * ? AS score
    FROM words w CROSS JOIN chunks c ON c.id = w.rowid
    WHERE words MATCH ? AND w.rowid > ?"""
_SCORED_EVERYWHERE: Final = """
    SELECT rowid AS chunk, bm25(words, 1.0, 4.0, 1.0, 8.0) * ? AS score FROM words
    WHERE words MATCH ? AND rowid > ?"""
# `bm25` cannot be computed inside an aggregate, so the scores are collected first.
_SUMS: Final = """
    WITH scored AS MATERIALIZED ({union})
    SELECT chunk, sum(score) AS total FROM scored GROUP BY chunk ORDER BY total, chunk LIMIT ?"""
_BEST: Final = " ORDER BY score, chunk LIMIT ?"
_IN_COLLECTIONS: Final = " AND c.collection IN (SELECT value FROM json_each(?))"
_IN_DOCUMENTS: Final = """ AND c.document IN (
    SELECT d.id FROM documents d WHERE d.collection IN (SELECT value FROM json_each(?)) AND {condition})"""
_COUNT: Final = """
    SELECT count(*) FROM words w CROSS JOIN chunks c ON c.id = w.rowid
    WHERE words MATCH ? AND c.collection IN (SELECT value FROM json_each(?))"""
_MISSING_ROWS: Final = (
    "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT id FROM words_docsize)"
)
_EXTRA_ROWS: Final = (
    "SELECT count(*) FROM words_docsize WHERE id NOT IN (SELECT id FROM chunks)"
)
_KNOWN: Final = """
    SELECT term.value FROM json_each(?) term
    WHERE EXISTS (SELECT 1 FROM words WHERE words MATCH '"' || term.value || '"')"""
_KNOWN_IN: Final = """
    SELECT term.value FROM json_each(?) term
    WHERE EXISTS (
        SELECT 1 FROM words w CROSS JOIN chunks c ON c.id = w.rowid
        WHERE words MATCH '"' || term.value || '"' AND c.collection IN (SELECT value FROM json_each(?)))"""
_COUNTS_IN_FILE: Final = """
    SELECT term.value, w.doc FROM json_each(?) term CROSS JOIN words_terms w ON w.term = term.value"""


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def add(db: sqlite3.Connection, chunks: Iterable[ChunkText]) -> None:
    """Index new chunks; their ids must ascend."""
    _insert(db, map(chunk_terms, chunks))


def remove(db: sqlite3.Connection, chunk_ids: Sequence[int]) -> bool:
    """Remove chunks from the index before their rows are deleted; False if only `rebuild` after that can do it."""
    if chunk_ids:
        try:
            terms = [chunk_terms(indexed_text(row)) for row in chunks_by_id(db, chunk_ids)]
        except StoreDamaged:
            return False
        db.executemany(_DELETE, map(_columns, terms))
    return True


def rebuild(db: sqlite3.Connection) -> None:
    """Index every chunk again; a chunk with a damaged text is found by its path and symbol."""
    clear(db)
    last = 0
    while rows := chunks_after(db, last, _BATCH):
        _insert(db, stored_terms(rows))
        last = rows[-1].id
    db.execute("UPDATE meta SET value = ? WHERE key = 'words_version'", (version(),))


def clear(db: sqlite3.Connection) -> None:
    """Remove all chunks from the index."""
    db.execute("INSERT INTO words (words) VALUES ('delete-all')")


def optimise(db: sqlite3.Connection) -> None:
    """Merge the index into one segment without removed rows."""
    db.execute("INSERT INTO words (words) VALUES ('optimize')")


def is_current(db: sqlite3.Connection) -> bool:
    """Return whether the index was made by the current text analysis."""
    stored_version = fetch_value(db, "SELECT value FROM meta WHERE key = 'words_version'")
    return bool(stored_version == version())


def require_current(db: sqlite3.Connection) -> None:
    """Raise `StoreError` if a program with another text analysis has rebuilt the index since the store was opened."""
    if not is_current(db):
        raise StoreError(
            "the word index was made by another version of Ragstone",
            hint="open the store again",
        )


def find_differences(db: sqlite3.Connection) -> str:
    """Return a message if the index and the chunks differ, else an empty text."""
    missing = fetch_value(db, _MISSING_ROWS)
    extra = fetch_value(db, _EXTRA_ROWS)
    if not missing and not extra:
        return ""
    return f"{missing} chunks cannot be found by words, {extra} rows point nowhere"


def _insert(db: sqlite3.Connection, terms: Iterable[ChunkTerms]) -> None:
    db.executemany(_INSERT, map(_columns, terms))


def _columns(terms: ChunkTerms) -> tuple[int, str, str, str, str]:
    return terms.id, terms.symbol, terms.header, terms.path, terms.body


# ── searching ─────────────────────────────────────────────────────────────────────────────────────


class Fts5Search:
    """Implements `WordSearch`, for all chunks or for those with an id larger than `after`."""

    def __init__(self, db: sqlite3.Connection, after: int = 0) -> None:
        """Take the connection."""
        self._db = db
        self._after = after

    def count_terms(self, scope: WordScope, terms: Sequence[str]) -> TermCounts:
        """Return how many chunks the collections in scope have, and how many have each term."""
        chunks = chunks_in(self._db, scope)
        if scope.collections is None:
            in_file = self._counts_in_file(terms)
            return TermCounts(chunks, {term: in_file.get(term, 0) for term in terms})
        counts = {}
        for term in terms:
            query = _match_any([term])
            counts[term] = fetch_value(self._db, _COUNT, query, scope.collection_list)
        return TermCounts(chunks, counts)

    def search(self, scope: WordScope, terms: Sequence[str], limit: int) -> list[Scored]:
        """Return the best chunks with any of the terms; rarities are those of the whole file."""
        if not terms:
            return []
        statement, parameters = _restricted(scope)
        rows = self._db.execute(
            statement + _BEST, (1.0, _match_any(terms), self._after, *parameters, limit)
        )
        return [Scored(row, -score) for row, score in rows]

    def search_part(
        self, scope: WordScope, rarities: Mapping[str, float], limit: int
    ) -> list[Scored]:
        """Return the best chunks with any of the terms; the given rarities replace those of the file."""
        statement, scope_parameters = _restricted(scope)
        chunks = fetch_value(self._db, "SELECT total(chunks) FROM collections")
        selects: list[str] = []
        parameters: list[str | bytes | int | float] = []
        in_file = self._counts_in_file(list(rarities))
        for term, count in in_file.items():
            selects.append(statement)
            weight = rarities[term] / file_rarity(chunks, count)
            parameters += [weight, _match_any([term]), self._after, *scope_parameters]
        if not selects:
            return []
        union = " UNION ALL ".join(selects)
        rows = self._db.execute(_SUMS.format(union=union), (*parameters, limit))
        return [Scored(row, -score) for row, score in rows]

    def _counts_in_file(self, terms: Sequence[str]) -> dict[str, int]:
        """Return how many chunks of the whole file have each term; terms without a chunk are left out."""
        return dict(self._db.execute(_COUNTS_IN_FILE, (json.dumps(terms),)).fetchall())


def known_terms(db: sqlite3.Connection, scope: WordScope, terms: Sequence[str]) -> set[str]:
    """Return those of the terms that a chunk of the collections in scope has."""
    joined = " ".join(terms).encode("utf-8", "replace").decode()
    unsplit = set(split_terms(joined)).intersection(terms)
    term_list = json.dumps(sorted(unsplit))
    if scope.collections is None:
        rows = db.execute(_KNOWN, (term_list,))
    else:
        rows = db.execute(_KNOWN_IN, (term_list, scope.collection_list))
    return {term for (term,) in rows}


def _restricted(scope: WordScope) -> tuple[str, tuple[str | bytes, ...]]:
    """Return the statement for a scope, and its parameters after the query and the first id."""
    if scope.collections is None:
        return _SCORED_EVERYWHERE, ()
    if scope.condition is None:
        return _SCORED + _IN_COLLECTIONS, (scope.collection_list,)
    documents = _IN_DOCUMENTS.format(condition=scope.condition.sql)
    return _SCORED + documents, (scope.collection_list, *scope.condition.parameters)


def _match_any(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)
