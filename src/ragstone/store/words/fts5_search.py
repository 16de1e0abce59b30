"""Search by words: BM25 over any of the terms, the best rows found without scoring every row that has a common word.

A row's score is the sum of what each term gives it, and no term gives more than its rarity times a constant. So the
terms are parted into telling and common ones. Rows with a telling term are scored first, each once: those that have a
common term too, and those that have none. When the last of the wanted rows scores more than all common terms together
could give, rows with nothing but common terms need not be looked at. The answer is the same as without the short cut.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.store.catalog import id_list
from ragstone.store.filters import Where
from ragstone.types import Scored

MAX_TERMS: Final = 256
# Column weights are part of the statements: body 1, symbol 4, header 1, path 8. A name that is what the chunk defines
# says more than one in its text, and so does the path. Code search, from 4 2 2 1: words .748 → .754; hybrid .800 → .807
_EVERYWHERE: Final = """
    SELECT rowid, bm25(words, 1.0, 4.0, 1.0, 8.0) AS score FROM words
    WHERE words MATCH ? ORDER BY score, rowid LIMIT ?"""
_IN_SCOPE: Final = """
    SELECT w.rowid, bm25(words, 1.0, 4.0, 1.0, 8.0) AS score FROM words w CROSS JOIN chunks c ON c.id = w.rowid
    WHERE words MATCH ? AND c.collection IN (SELECT value FROM json_each(?)) ORDER BY score, w.rowid LIMIT ?"""
_FILTERED: Final = """
    SELECT w.rowid, bm25(words, 1.0, 4.0, 1.0, 8.0) AS score FROM words w CROSS JOIN chunks c ON c.id = w.rowid
    WHERE words MATCH ? AND c.document IN (
        SELECT d.id FROM documents d WHERE d.collection IN (SELECT value FROM json_each(?)) AND {where})
    ORDER BY score, w.rowid LIMIT ?"""
_BEHIND: Final = """
    SELECT rowid, bm25(words, 1.0, 4.0, 1.0, 8.0) AS score FROM words
    WHERE words MATCH ? AND rowid > ? ORDER BY score, rowid LIMIT ?"""
_BEHIND_IN_SCOPE: Final = """
    SELECT w.rowid, bm25(words, 1.0, 4.0, 1.0, 8.0) AS score FROM words w CROSS JOIN chunks c ON c.id = w.rowid
    WHERE words MATCH ? AND w.rowid > ? AND c.collection IN (SELECT value FROM json_each(?))
    ORDER BY score, w.rowid LIMIT ?"""
_HOW_MANY: Final = "SELECT doc FROM words_terms WHERE term = ?"
_MOST_PER_RARITY: Final = 2.2  # FTS5's BM25 has k1 = 1.2; a term in every word of a short text nears k1 + 1
_LEAST_RARITY: Final = 1e-6  # what FTS5 gives a term that more than half of the rows have
_GUESS: Final = (
    1.7  # last wanted score ÷ rarity of the term that fills the list: 1.5 to 2 was quickest of 1 to 2.5 at 100k chunks
)
_FEW_ROWS: Final = 2000  # a guess: so few rows are not worth several queries
_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}  # FTS5 folds these and no others
_SEPARATORS: Final = re.compile(r"[\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]+")  # what FTS5's tokenizer splits at


@dataclass(frozen=True, slots=True)
class Within:
    """Where to search: the collections by number (None: the whole index) and what documents must be like."""

    collections: Sequence[int] | None
    where: Where | None

    def statement(self) -> tuple[str, tuple[str | bytes, ...]]:
        """Return the SQL and the parameters that stand between the query and the limit."""
        if self.where is not None:
            numbers = id_list(self.collections or ())
            return _FILTERED.format(where=self.where.sql), (numbers, *self.where.parameters)
        if self.collections is not None:
            return _IN_SCOPE, (id_list(self.collections),)
        return _EVERYWHERE, ()


def search(db: sqlite3.Connection, within: Within, terms: Sequence[str], limit: int) -> list[Scored]:
    """Return chunks with any of the terms, best first, equals in order of their number."""
    statement, between = within.statement()

    def best(query: str) -> list[tuple[float, int]]:
        return [(score, row) for row, score in db.execute(statement, (query, *between, limit))]

    telling, common, most = _parted(db, clean(terms), limit)
    if not telling:
        return []
    if not common:
        found = best(_any(telling))
    else:
        found = best(f"({_any(telling)}) AND ({_any(common)})") + best(f"({_any(telling)}) NOT ({_any(common)})")
        found = sorted(found)[:limit]
        if len(found) < limit or -found[-1][0] < most:
            found = sorted(found + best(f"({_any(common)}) NOT ({_any(telling)})"))[:limit]
    return [Scored(row, -score) for score, row in found]


def tail(db: sqlite3.Connection, within: Within, terms: Sequence[str], limit: int, *, after: int) -> list[Scored]:
    """Return the best chunks behind a number that have any of the terms, which `clean` gave; filters are not heeded."""
    if not terms:
        return []
    if within.collections is None:
        rows = db.execute(_BEHIND, (_any(terms), after, limit))
    else:
        rows = db.execute(_BEHIND_IN_SCOPE, (_any(terms), after, id_list(within.collections), limit))
    return [Scored(row, -score) for row, score in rows]


def _parted(db: sqlite3.Connection, terms: Sequence[str], limit: int) -> tuple[list[str], list[str], float]:
    """Return the telling terms, the common ones, and the most that the common ones can give a row."""
    counted = sorted((row[0], term) for term in terms if (row := db.execute(_HOW_MANY, (term,)).fetchone()))
    every = [term for _, term in counted]
    if sum(count for count, _ in counted) <= _FEW_ROWS:
        return every, [], 0.0
    rows = db.execute("SELECT total(chunks) FROM collections").fetchone()[0]
    rarities = [rarity_in_file(rows, count) for count, _ in counted]
    reached, expected = 0, 0.0
    for (count, _), rarity in zip(counted, rarities, strict=True):
        reached, expected = reached + count, rarity * _GUESS
        if reached >= limit:
            break
    cut, most = len(every), 0.0
    while cut > 1 and most + _MOST_PER_RARITY * rarities[cut - 1] <= expected:
        cut -= 1
        most += _MOST_PER_RARITY * rarities[cut]
    return every[:cut], every[cut:], most


def rarity_in_file(rows: int, count: int) -> float:
    """Return what FTS5 multiplies with for a term that so many of its rows have."""
    return max(_LEAST_RARITY, math.log((max(rows, count) - count + 0.5) / (count + 0.5)))


def clean(terms: Sequence[str]) -> list[str]:
    """Return the terms as the index holds them, whatever was given: a term with separators in it is several."""
    found: dict[str, None] = {}
    for term in terms:
        text = term if term.isascii() else term.encode("utf-8", "replace").decode()
        text = text.translate(_LOWER)
        found.update(dict.fromkeys(piece for piece in _SEPARATORS.split(text) if piece))
        if len(found) >= MAX_TERMS:
            break
    return list(found)[:MAX_TERMS]


def _any(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)
