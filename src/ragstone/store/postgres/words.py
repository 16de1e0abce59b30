"""Search by words: every term of a chunk is a row, and a search adds up BM25 scores.

The scores are those of FTS5 in SQLite: the same terms, weights and formula. A term's rarity is counted in the
collections in scope, and the usual length of a chunk in the whole project. Equality of texts is all that a search
needs, so its index works under row-level security; the operators of `tsvector` do not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ragstone.store.postgres.connection import Transaction
from ragstone.store.words.scope import MOST_CHUNKS, MOST_COLLECTIONS, TermCounts
from ragstone.store.words.terms import (
    ChunkText,
    chunk_terms,
    clean_terms,
    split_terms,
)
from ragstone.types import Scored

_WEIGHTS: Final = (4.0, 1.0, 8.0, 1.0)  # symbol, header, path, body: as in `words.fts5`
_LONGEST_TERM: Final = 250  # an index row has a limit
_ADD: Final = """
    INSERT INTO chunk_terms (project, collection, chunk, term, frequency, terms)
    SELECT %s, %s, * FROM unnest(%s::bigint[], string_to_array(%s, ' '), %s::real[], %s::integer[])"""
_REMOVE: Final = "DELETE FROM chunk_terms WHERE chunk = ANY(%s)"
_COUNTS: Final = """
    SELECT coalesce(sum(chunks) FILTER (WHERE id = ANY(%s)), 0)::bigint, sum(terms)::float8 / nullif(sum(chunks), 0)
    FROM collections WHERE project = %s"""
# The server adds up in any order, so sums are rounded: equal chunks get equal scores, and each search the same ones.
# k1 is 1.2 and b is .75: a term adds rarity * 2.2 f / (f + 0.3 + 0.9 terms / average). Numbers are written as float8,
# because `numeric` is ten times slower. A rarity is never 0 in a small scope; in a large one it is that of FTS5.
_SMALL_SCOPE: Final = """
    ln(1 + (greatest(%(chunks)s, c.chunks) - c.chunks + 0.5::float8) / (c.chunks + 0.5::float8))"""
_LARGE_SCOPE: Final = """
    greatest(0.000001::float8, ln(
        (greatest(%(chunks)s, c.chunks) - c.chunks + 0.5::float8) / (c.chunks + 0.5::float8)))"""
# Each term is looked up by its own index scan. A join of all rows with the rarities is slower, and takes seconds until
# the server has counted the rows of a new table.
_SEARCH: Final = """
    WITH counts AS MATERIALIZED (
        SELECT wanted.term, (
            SELECT count(*) FROM chunk_terms t
            WHERE t.collection = ANY(%(collections)s) AND t.term = wanted.term) AS chunks
        FROM unnest(%(terms)s::text[]) AS wanted (term)),
    rarities AS MATERIALIZED (SELECT c.term, 2.2::float8 * {rarity} AS rarity FROM counts c),
    scores AS (
        SELECT h.chunk, round(1e9::float8 * sum(
            r.rarity * h.frequency / (h.frequency + 0.3::float8 + %(slope)s::float8 * h.terms))) / 1e9::float8 AS score
        FROM rarities r CROSS JOIN LATERAL (
            SELECT t.chunk, t.frequency::float8 AS frequency, t.terms FROM chunk_terms t
            WHERE t.collection = ANY(%(collections)s) AND t.term = r.term) h {condition} GROUP BY h.chunk)
    SELECT chunk, score FROM scores ORDER BY score DESC, chunk LIMIT %(limit)s"""
_IN_DOCUMENTS: Final = """
    WHERE h.chunk IN (SELECT c.id FROM chunks c WHERE c.document = ANY(%(documents)s))"""

_COUNT_TERMS: Final = """
    SELECT wanted.term, (
        SELECT count(*) FROM chunk_terms t WHERE t.collection = ANY(%s) AND t.term = wanted.term)
    FROM unnest(%s::text[]) AS wanted (term)"""

# LIMIT keeps the server from joining all terms of the collections.
_KNOWN: Final = """
    SELECT wanted.term FROM unnest(%s::text[]) AS wanted (term) CROSS JOIN LATERAL (
        SELECT 1 FROM chunk_terms t WHERE t.collection = ANY(%s) AND t.term = wanted.term LIMIT 1) AS known"""


class ChunkWords(NamedTuple):
    """The terms of a chunk: how often each occurs, weighted by its part, and how many there are in all."""

    chunk: int
    frequencies: dict[str, float]
    length: int


def count_words(chunk: ChunkText) -> ChunkWords:
    """Return the terms of a chunk."""
    terms = chunk_terms(chunk)
    frequencies: defaultdict[str, float] = defaultdict(float)
    length = 0
    parts = (terms.symbol, terms.header, terms.path, terms.body)
    for part, weight in zip(parts, _WEIGHTS, strict=True):
        for term in split_terms(part):
            frequencies[term[:_LONGEST_TERM]] += weight
            length += 1
    return ChunkWords(chunk.id, frequencies, length)


def add(db: Transaction, project: int, collection: int, chunks: Iterable[ChunkWords]) -> None:
    """Index new chunks."""
    ids: list[int] = []
    terms: list[str] = []
    frequencies: list[float] = []
    lengths: list[int] = []
    for chunk in chunks:
        ids += [chunk.chunk] * len(chunk.frequencies)
        terms += chunk.frequencies
        frequencies += chunk.frequencies.values()
        lengths += [chunk.length] * len(chunk.frequencies)
    if ids:
        db.execute(_ADD, (project, collection, ids, " ".join(terms), frequencies, lengths))


def remove(db: Transaction, chunk_ids: Sequence[int]) -> None:
    """Remove chunks from the index."""
    if chunk_ids:
        db.execute(_REMOVE, (list(chunk_ids),))


def search(
    db: Transaction,
    project: int,
    collections: Sequence[int],
    terms: Sequence[str],
    *,
    limit: int,
    documents: Sequence[int] | None,
) -> list[Scored]:
    """Return chunks with any of the terms, best first; only those of some documents if these are given."""
    cleaned = [term[:_LONGEST_TERM] for term in clean_terms(terms)]
    if not cleaned or not collections:
        return []
    ((chunks, average),) = db.execute(_COUNTS, (list(collections), project)).fetchall()
    is_large = chunks > MOST_CHUNKS or len(collections) > MOST_COLLECTIONS
    statement = _SEARCH.format(
        rarity=_LARGE_SCOPE if is_large else _SMALL_SCOPE,
        condition="" if documents is None else _IN_DOCUMENTS,
    )
    parameters = {
        "collections": list(collections),
        "terms": cleaned,
        "chunks": chunks,
        "slope": 0.9 / (average or 1.0),
        "limit": limit,
        "documents": list(documents or ()),
    }
    return [Scored(chunk, score) for chunk, score in db.execute(statement, parameters)]


def known_terms(db: Transaction, collections: Sequence[int], terms: Sequence[str]) -> set[str]:
    """Return those of the terms that a chunk of the collections has."""
    clean = [term for term in terms if clean_terms([term]) == [term]]
    if not clean or not collections:
        return set()
    return {term for (term,) in db.execute(_KNOWN, (clean, list(collections)))}


def term_rarities(
    db: Transaction, project: int, collections: Sequence[int], terms: Sequence[str]
) -> Mapping[str, float]:
    """Return how rare each term is in the collections."""
    cleaned = [term[:_LONGEST_TERM] for term in clean_terms(terms)]
    if not cleaned or not collections:
        return {}
    ((chunks, _),) = db.execute(_COUNTS, (list(collections), project)).fetchall()
    rows = db.execute(_COUNT_TERMS, (list(collections), cleaned)).fetchall()
    return TermCounts(chunks, {term: count for term, count in rows}).rarities()
