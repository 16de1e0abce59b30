"""Which chunks hold which words: FTS5 over the terms that `ragstone.text` finds.

The table keeps no text of its own. To take a row out, FTS5 must be given exactly what was put in, so the terms are made
again from the stored text; a store whose terms were made by another analysis is indexed anew when it is opened, and
so is one where the stored text is damaged, when its chunk is to go.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from ragstone import text as words
from ragstone.errors import StoreDamaged, StoreError
from ragstone.store import texts
from ragstone.store.codec import unpack
from ragstone.store.failures import READ_AGAIN

_BATCH: Final = 2000
_PUT: Final = "INSERT INTO words (rowid, symbol, header, path, body) VALUES (?, ?, ?, ?, ?)"
_TAKE_OUT: Final = "INSERT INTO words (words, rowid, symbol, header, path, body) VALUES ('delete', ?, ?, ?, ?, ?)"
_SOURCE_AFTER: Final = """
    SELECT c.id, c.symbol, c.header, t.hash, CAST(t.body AS BLOB), d.uri, d.beside, c.collection
    FROM chunks c JOIN texts t ON t.id = c.text_id JOIN documents d ON d.id = c.document
    WHERE c.id > ? ORDER BY c.id LIMIT ?"""
_SOURCE_OF: Final = """
    SELECT c.id, c.symbol, c.header, t.hash, CAST(t.body AS BLOB), d.uri, d.beside
    FROM chunks c JOIN texts t ON t.id = c.text_id JOIN documents d ON d.id = c.document
    WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id"""
_PROBE: Final = """
    class HTTPServer2Test(Base): def get_user_name(self): return obj.fooBar-baz_qux['running'] # don't v1.2.3 2024-01-31
    deadbeef01234567 The quick studies were walking happily; files, classes, indices, data-driven README.md::x->y $z"""

Row = tuple[int, str, str, str, str]
Source = tuple[int, str | bytes, int, bytes, str | bytes, str | bytes, str | bytes]
"""What is stored of a chunk: number, symbol, length of its header, key and packed text, uri, what stands beside."""


def terms_of(text: str) -> str:
    """Return a text's terms as FTS5 is fed with them."""
    joined = words.spaced_terms(text)
    return joined if joined.isascii() else joined.encode("utf-8", "replace").decode()


@cache
def version() -> str:
    """Return what tells one analysis of words from another: its number, and what it makes of a bit of everything."""
    probe = hashlib.sha256(" ".join(words.terms(_PROBE)).encode()).hexdigest()[:16]
    return f"{words.VERSION}-{probe}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk as the index sees it."""

    id: int
    symbol: str
    header: str
    path: str
    body: str


def rows(entries: Iterable[Entry]) -> Iterator[Row]:
    """Yield what FTS5 is fed with, the terms of repeated headers and paths made once."""
    known: dict[str, str] = {"": ""}
    for entry in entries:
        if len(known) > _BATCH:
            known = {"": ""}
        for text in (entry.symbol, entry.header, entry.path):
            if text not in known:
                known[text] = terms_of(text)
        yield entry.id, known[entry.symbol], known[entry.header], known[entry.path], terms_of(entry.body)


def add(db: sqlite3.Connection, entries: Iterable[Entry]) -> list[Row]:
    """Make chunks findable and return what FTS5 was given; ids must rise."""
    given = list(rows(entries))
    db.executemany(_PUT, given)
    return given


def page(db: sqlite3.Connection, after: int, limit: int) -> list[tuple[Row, int]]:
    """Return what FTS5 was given for the chunks behind a number, each with its collection's number."""
    found = db.execute(_SOURCE_AFTER, (after, limit)).fetchall()
    return list(zip(rows(_findable(row[:7]) for row in found), (row[7] for row in found), strict=True))


def take_out(db: sqlite3.Connection, chunk_ids: Sequence[int]) -> bool:
    """Make stored chunks no longer findable, before their rows go; False if only `rebuild` can, once they have gone."""
    if chunk_ids:
        found = db.execute(_SOURCE_OF, ("[" + ",".join(map(str, chunk_ids)) + "]",)).fetchall()
        try:
            db.executemany(_TAKE_OUT, rows(map(_entry, found)))
        except StoreDamaged:
            return False
    return True


def current(db: sqlite3.Connection) -> bool:
    """Return whether the index was made by the analysis in force."""
    return bool(db.execute("SELECT value FROM meta WHERE key = 'words_version'").fetchone()[0] == version())


def require_current(db: sqlite3.Connection) -> None:
    """Raise `StoreError` if another program with another analysis took the store over."""
    if not current(db):
        raise StoreError("the word index was made by another version of Ragstone", hint="open the store again")


def rebuild(db: sqlite3.Connection) -> None:
    """Index every chunk anew, inside the caller's transaction; one whose text is damaged by its path and symbol."""
    db.execute("INSERT INTO words (words) VALUES ('delete-all')")
    last = 0
    while found := db.execute(_SOURCE_AFTER, (last, _BATCH)).fetchall():
        add(db, (_findable(row[:7]) for row in found))
        last = found[-1][0]
    db.execute("UPDATE meta SET value = ? WHERE key = 'words_version'", (version(),))


def clear(db: sqlite3.Connection) -> None:
    """Empty the index at once."""
    db.execute("INSERT INTO words (words) VALUES ('delete-all')")


def optimise(db: sqlite3.Connection) -> None:
    """Merge the index into one piece, what was taken out left behind."""
    db.execute("INSERT INTO words (words) VALUES ('optimize')")


def consistent(db: sqlite3.Connection) -> str:
    """Return what is wrong between the index and the chunks, or nothing."""
    missing = db.execute("SELECT count(*) FROM chunks WHERE id NOT IN (SELECT id FROM words_docsize)").fetchone()[0]
    extra = db.execute("SELECT count(*) FROM words_docsize WHERE id NOT IN (SELECT id FROM chunks)").fetchone()[0]
    return f"{missing} chunks cannot be found by words, {extra} rows point nowhere" if missing or extra else ""


def _entry(row: Source) -> Entry:
    """Return a chunk as the index was given it; `StoreDamaged` where that cannot be known."""
    number, symbol, header, key, stored, uri, beside = row
    body = texts.sound(key, stored)
    if body is None:
        raise StoreDamaged("the store is damaged: a text that is not what was stored", hint=READ_AGAIN)
    head, text = split_header(body, header)
    return Entry(number, unpack(symbol), with_beside(head, unpack(beside)), unpack(uri), text)


def _findable(row: Source) -> Entry:
    """Return a chunk as the index is given it: without a text if that is damaged."""
    try:
        return _entry(row)
    except StoreDamaged:
        number, symbol, _, _, _, uri, beside = row
        return Entry(number, unpack(symbol), unpack(beside), unpack(uri), "")


def with_beside(header: str, beside: str) -> str:
    """Return what words find a chunk by beside its own text."""
    return f"{header}\n{beside}" if beside else header


def split_header(body: str, header: int) -> tuple[str, str]:
    """Return a stored text as its header, of which the length is known, and the chunk's own text."""
    return (body[:header], body[header + 1 :]) if header else ("", body)
