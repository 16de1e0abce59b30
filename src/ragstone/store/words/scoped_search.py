"""Search by words in a small part of the file, where words are as rare as they are there.

FTS5 counts how rare a term is in the whole file. In one conversation among many, or one project beside others, that is
wrong both ways: the name that everybody uses there tells nothing, however rare it is elsewhere, and a word that is
common elsewhere may be just what tells two texts apart. So where the collections searched are a small part, their own
rarities are counted and take the place of the file's.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ragstone.store.catalog import id_list
from ragstone.store.words.fts5_search import Within, clean, rarity_in_file
from ragstone.types import Scored

LARGEST_PART: Final = 0.5  # of the chunks; what is more of the file has much the same rarities as the whole
MOST_CHUNKS: Final = 20_000  # counting costs more in more of them, and is needed less
MOST_COLLECTIONS: Final = 4  # likewise: four terms in one of 100 collections of 1,000 chunks take 0.07 ms, in five 0.4
_INSIDE: Final = """
    SELECT total(chunks) FILTER (WHERE id IN (SELECT value FROM json_each(?))), total(chunks) FROM collections"""
_HOW_MANY: Final = "SELECT doc FROM words_terms WHERE term = ?"
_WITH_TERM: Final = """
    SELECT w.rowid, bm25(words, 1.0, 4.0, 1.0, 8.0), c.document FROM words w CROSS JOIN chunks c ON c.id = w.rowid
    WHERE words MATCH ? AND w.rowid > ? AND c.collection IN (SELECT value FROM json_each(?))"""
_ALLOWED: Final = """
    SELECT d.id FROM documents d WHERE d.collection IN (SELECT value FROM json_each(?)) AND {where}"""

_Row = tuple[int, float, int]


def chunks_of(db: sqlite3.Connection, within: Within) -> int:
    """Return how many chunks the collections searched have where their rarities are to be their own; else 0."""
    if within.collections is None or len(within.collections) > MOST_COLLECTIONS:
        return 0
    inside, every = db.execute(_INSIDE, (id_list(within.collections),)).fetchone()
    return int(inside) if inside <= min(MOST_CHUNKS, every * LARGEST_PART) else 0


def rarity(chunks: int, count: int) -> float:
    """Return how telling a term is that so many of so many chunks have: never nothing, since a part may be tiny."""
    return math.log1p((max(chunks, count) - count + 0.5) / (count + 0.5))


def search(db: sqlite3.Connection, within: Within, terms: Sequence[str], limit: int, *, chunks: int) -> list[Scored]:
    """Return the chunks of a part that have any of the terms, best first; `chunks`: what `chunks_of` gave."""
    allowed = _allowed(db, within)
    sums: dict[int, float] = {}
    for term in clean(terms):
        found = _with_term(db, within, term)
        own = rarity(chunks, len(found))
        _add(sums, ((row, own * score) for row, score, document in found if allowed is None or document in allowed))
    return _best(sums, limit)


def tail(
    db: sqlite3.Connection, within: Within, rarities: Mapping[str, float], limit: int, *, after: int
) -> list[Scored]:
    """Return the best chunks of a part behind a number, with rarities counted elsewhere; filters are not heeded."""
    sums: dict[int, float] = {}
    for term, own in rarities.items():
        _add(sums, ((row, own * score) for row, score, _ in _with_term(db, within, term, after=after)))
    return _best(sums, limit)


def _with_term(db: sqlite3.Connection, within: Within, term: str, *, after: int = 0) -> list[_Row]:
    """Return the chunks of a part that have a term, each with its score before rarity and its document's number."""
    counted = db.execute(_HOW_MANY, (term,)).fetchone()
    if counted is None:
        return []
    rows = db.execute("SELECT total(chunks) FROM collections").fetchone()[0]
    everywhere = rarity_in_file(rows, counted[0])
    found = db.execute(_WITH_TERM, (f'"{term}"', after, id_list(within.collections or ())))
    return [(row, -score / everywhere, document) for row, score, document in found]


def _allowed(db: sqlite3.Connection, within: Within) -> set[int] | None:
    """Return the documents that pass the filter; None where there is none."""
    if within.where is None:
        return None
    statement = _ALLOWED.format(where=within.where.sql)
    return {row[0] for row in db.execute(statement, (id_list(within.collections or ()), *within.where.parameters))}


def _add(sums: dict[int, float], scores: Iterable[tuple[int, float]]) -> None:
    for row, score in scores:
        sums[row] = sums.get(row, 0.0) + score


def _best(sums: Mapping[int, float], limit: int) -> list[Scored]:
    best = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return [Scored(row, score) for row, score in best]
