"""The derived word index: quick answers for large stores, beside the database and never instead of it.

FTS5 stays the truth. The index holds the terms of every chunk up to some number; chunks are numbered upwards and never
change, so what is missing is the tail behind that number, which FTS5 answers, and what is too much are chunks that are
gone, which a look at the table takes out. It lies in a folder named after all that it depends on, so that one made of
another store, by another analysis, or before removed text was wiped out is not even looked at.

Scores are BM25 as FTS5 has it, but for the length of a chunk: here a path or symbol counts in it as often as it weighs.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from ragstone.errors import StoreBusy, StoreError
from ragstone.store.catalog import id_list
from ragstone.store.codec import fresh_uuid
from ragstone.store.connection import Database
from ragstone.store.home import WORDS
from ragstone.store.lock import FileLock
from ragstone.store.words import fts5_index as words_index
from ragstone.store.words import fts5_search as words_search
from ragstone.store.words import scoped_search as words_part
from ragstone.store.words import tantivy_index as words_tantivy
from ragstone.store.words.fts5_search import Within
from ragstone.store.words.tantivy_index import Entry, Reader, Unusable, Wanted
from ragstone.types import Scored

LEAST_CHUNKS: Final = 5000  # FTS5 takes about a millisecond there
LONG_TAIL: Final = 30_000  # chunks: one large piece answers a quarter quicker than seven small ones
SHORT_TAIL: Final = 1000  # a search may bring one in: 0.1 s, once; a longer one is brought in beside the searches
PATIENCE: Final = 3  # searches that met the same tail before it is: a process that asks once is done sooner by FTS5
MOST_LOOKED_AT: Final = 1000
MOST_DEAD: Final = 0.2
MUCH_TOO_MANY_DEAD: Final = 0.5  # what a `put` cleans up rather than leaving it to whoever closes the store
MOST_IN_PUT: Final = 20_000  # chunks whose terms a `put` makes again: some two seconds; more is left for the close
_BUFFER_CHARACTERS: Final = 32 << 20
_SECURE_PATIENCE: Final = 30.0
_PAGE: Final = 2000
_WEIGHTS: Final = (4, 1, 8, 1)  # symbol, header, path, body: those of the statements in words_search

_STAMP: Final = """
    SELECT group_concat(value, '|') FROM (
        SELECT value FROM meta WHERE key IN ('uuid', 'words_epoch', 'words_version') ORDER BY key)"""
_NEW_EPOCH: Final = """
    INSERT INTO meta (key, value) VALUES ('words_epoch', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"""
_LAST_CHUNK: Final = "SELECT seq FROM sqlite_sequence WHERE name = 'chunks'"
_HOW_MANY: Final = "SELECT total(chunks) FROM collections"
_STATE: Final = """
    SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), (SELECT total(chunks) FROM collections), (
        SELECT group_concat(value, '|') FROM (
            SELECT value FROM meta WHERE key IN ('uuid', 'words_epoch', 'words_version') ORDER BY key))"""
_INSIDE: Final = """
    SELECT total(chunks) FILTER (WHERE id IN (SELECT value FROM json_each(?))), total(chunks) FROM collections"""
_ALIVE: Final = "SELECT c.id FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value"
_ALIVE_IN: Final = """
    SELECT c.id FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value
    WHERE c.collection IN (SELECT value FROM json_each(?))"""


def new_epoch(db: sqlite3.Connection) -> None:
    """Make every index of this store one that is not looked at any more, inside the caller's transaction."""
    db.execute(_NEW_EPOCH, (fresh_uuid(),))


def stamp(db: sqlite3.Connection) -> str:
    """Return the name of the folder that this store's index must have."""
    return _named(db.execute(_STAMP).fetchone()[0])


@lru_cache(maxsize=64)
def _named(told: str) -> str:
    """Return the folder's name for what the store says of itself."""
    return hashlib.sha256(f"{words_tantivy.FORMAT}|{_WEIGHTS}|{told}".encode()).hexdigest()[:24]


def entry(row: words_index.Row, collection: int) -> Entry:
    """Return a row of FTS5 as the derived index takes it."""
    number, *fields = row
    return number, collection, "".join((f + " ") * weight for f, weight in zip(fields, _WEIGHTS, strict=True))


class DerivedWords:
    """The derived index of one database; every method does nothing where there can be none."""

    def __init__(self, database: Database) -> None:
        """Take the database; nothing is opened yet."""
        self._database = database
        self._folder = database.path and database.path.parent / WORDS / database.path.name
        self._lock = FileLock(self._folder and self._folder / "lock", wait=0.0)
        self._guard = threading.Lock()
        self._reader: tuple[str, Reader] | None = None
        self._broken: tuple[str, object] | None = None
        self._met = (0, 0, 0)
        """Behind which chunk a tail was met, how often, and how long it was."""
        self._beside: threading.Thread | None = None
        self._closing = False
        self._not_before = 0
        self.changed = False
        """Whether this process put or removed anything."""
        self._fresh: list[tuple[words_index.Row, int]] = []
        self._fresh_of = ""
        self._fresh_characters = 0

    # ── asking ────────────────────────────────────────────────────────────────────────────────────

    def search(self, db: sqlite3.Connection, within: Within, terms: Sequence[str], limit: int) -> list[Scored] | None:
        """Return chunks with any of the terms, best first; None where FTS5 has to answer."""
        if self._folder is None or within.where is not None:
            return None
        last, alive, told = db.execute(_STATE).fetchone()
        if (last or 0) < LEAST_CHUNKS:
            return None
        name = _named(told)
        reader = self._current(name, last)
        start = reader.last if reader else 0
        if start < last and alive >= LEAST_CHUNKS and last >= self._not_before:
            self._met = (start, self._met[1] + 1 if self._met[0] == start else 1, last - start)
        if reader is None or not start or last - start > LONG_TAIL:
            return None
        wanted = words_search.clean(terms)
        part = words_part.chunks_of(db, within)
        rarities: dict[str, float] = {}
        try:
            if part:
                entries, counts = reader.counts(wanted, within.collections or ())
                rarities = {term: words_part.rarity(entries, count) for term, count in counts.items()}
            if within.collections is None and (reader.last, reader.entries) == (last, alive):
                # Nothing is missing and nothing has gone: no need to look each of them up.
                found = [Scored(*hit) for hit in reader.best(wanted, None, _with_spare(limit))]
            else:
                found = self._alive(db, within, rarities or wanted, limit, reader=reader)
        except Unusable:
            self._give_up(name, reader)
            return None
        if last > reader.last:
            if part:
                found += words_part.tail(db, within, rarities, limit, after=reader.last)
            else:
                found += words_search.tail(db, within, wanted, limit, after=reader.last)
        return sorted(found, key=lambda row: (-row.score, row.id))[:limit]

    def _alive(
        self, db: sqlite3.Connection, within: Within, terms: Wanted, limit: int, *, reader: Reader
    ) -> list[Scored]:
        """Return the best that are still in the store and in scope."""
        spare = _with_spare(limit)
        if within.collections is not None and not isinstance(terms, Mapping):
            # To look at more than is needed and leave out what is elsewhere takes half as long as to ask for a place
            # that is not small: then tantivy looks at every entry of it.
            inside, every = db.execute(_INSIDE, (id_list(within.collections),)).fetchone()
            if inside and spare * every <= MOST_LOOKED_AT * inside:
                asked = int(spare * every / inside)
                hits = reader.best(terms, None, asked)
                found = _there(db, within, hits)
                if len(found) >= limit or len(hits) < asked:
                    return found
        asked = spare
        while True:
            hits = reader.best(terms, within.collections, asked)
            found = _there(db, within, hits)
            if len(found) >= limit or len(hits) < asked:
                return found
            asked *= 4  # many are gone

    def _current(self, name: str, last: int) -> Reader | None:
        """Return the index as it was committed last, if it can be read and the store is not behind what we have."""
        if self._folder is None:
            return None
        with self._guard:
            known = self._reader[1] if self._reader and self._reader[0] == name else None
            if known and known.last >= last:
                return known
            mark = words_tantivy.mark(self._folder / name)
            if known and known.mark == mark:
                return known
            self._reader = None
            if mark is None or self._broken == (name, mark):
                return None
            try:
                reader = Reader(self._folder / name)
            except Unusable:
                self._broken = (name, mark)
                return None
            self._reader = (name, reader)
            return reader

    def _give_up(self, name: str, reader: Reader) -> None:
        """Do not ask these files again until somebody has written them anew."""
        with self._guard:
            self._reader, self._broken = None, (name, reader.mark)

    # ── bringing it up to date ────────────────────────────────────────────────────────────────────

    def after_put(self, name: str, rows: Sequence[words_index.Row], collection: int) -> None:
        """Take note of what was made findable, and bring in what waits when there is much of it."""
        self.changed = True
        if self._folder is None or not rows:
            return
        with self._guard:
            follows = self._fresh and self._fresh[-1][0][0] + 1 == rows[0][0] and self._fresh_of == name
            if not follows or self._fresh_characters > _BUFFER_CHARACTERS:
                self._fresh, self._fresh_characters, self._fresh_of = [], 0, name
            self._fresh += [(row, collection) for row in rows]
            self._fresh_characters += sum(len(row[-1]) for row in rows)
        if rows[-1][0] >= LEAST_CHUNKS:
            self._extend(LONG_TAIL, longest=MOST_IN_PUT + len(self._fresh), most_dead=MUCH_TOO_MANY_DEAD)

    def after_search(self) -> None:
        """Bring in a tail that several searches have met: a short one now, a long one while others are answered."""
        _, times, tail = self._met
        if times < PATIENCE or (self._beside and self._beside.is_alive()):
            return
        self._met = (0, 0, 0)
        if tail <= SHORT_TAIL:
            self._extend(0, longest=SHORT_TAIL, most_dead=1.0)
        elif not self._database.read_only:
            self._beside = threading.Thread(
                target=self._extend, args=(0,), kwargs={"most_dead": 1.0}, name="ragstone-words", daemon=True
            )
            with suppress(RuntimeError):  # no more threads
                self._beside.start()

    def after_compact(self, *, secure: bool) -> None:
        """Bring it up to date; secure: `StoreBusy` unless every file with removed text has gone."""
        if self._folder is None:
            return
        if secure and self._folder.exists():
            with self._database.reading() as db:
                name = stamp(db)
            self._forget()
            self._lock.acquire(_SECURE_PATIENCE)
            try:
                kept = self._sweep(name)
            finally:
                self._lock.release()
            if kept:
                raise StoreBusy("a reader still holds words of what was removed", hint="run it again when it is done")
        self._extend(0)

    def close(self) -> None:
        """Let go of the files, with no long tail and not many dead left to those who come after."""
        if self._beside and self._beside.is_alive():
            self._closing = True
            self._beside.join()
            self._closing = False
        if self.changed and not self._database.closed:
            self._extend(LONG_TAIL)
        self._forget()

    def _forget(self) -> None:
        with self._guard:
            self._reader, self._fresh, self._fresh_characters = None, [], 0

    def _extend(self, shortest: int, *, longest: int | None = None, most_dead: float = MOST_DEAD) -> None:
        """Bring the tail in if it is longer than `shortest`, unless another process is at it; never fails."""
        if self._folder is None or self._database.read_only:
            return
        try:
            with self._database.reading() as db:
                last, name, alive = last_chunk(db), stamp(db), db.execute(_HOW_MANY).fetchone()[0]
            if last < self._not_before or alive < LEAST_CHUNKS:
                return
            reader = self._current(name, last)
            start = reader.last if reader else 0
            if reader and reader.entries - alive > most_dead * reader.entries:
                start = 0  # too many are gone: made anew
            if last - start <= shortest or (longest is not None and last - start > longest):
                return
            for folder in (self._folder.parent, self._folder):  # parents made on the way would be open to others
                folder.mkdir(mode=0o700, exist_ok=True)
            self._lock.acquire(0.0)
        except (OSError, StoreError):
            return  # what was asked for is done; the index can wait
        self._locked_extend(self._folder, name, last, anew=start == 0)

    def _locked_extend(self, home: Path, name: str, last: int, *, anew: bool) -> None:
        try:
            self._build(home / name, last, anew=anew)
            self._sweep(name)
        except (Unusable, OSError, StoreError) as error:
            self._not_before = last + LONG_TAIL
            if not isinstance(error, StoreError):
                self._drop(home / name)
        finally:
            self._lock.release()
            with self._guard:
                self._fresh, self._fresh_characters = [], 0

    def _build(self, folder: Path, last: int, *, anew: bool) -> None:
        """Add the tail, or everything where what is there is no good; the caller holds the lock."""
        start = 0
        try:
            found = Reader(folder)
            # One that reaches further than the store was made of a later state of it, before an older file was put
            # back; not where somebody has put more meanwhile.
            with self._database.reading() as db:
                known = last_chunk(db)
            start = 0 if anew or found.last > known else found.last
        except Unusable:
            self._drop(folder)
        folder.mkdir(mode=0o700, exist_ok=True)
        words_tantivy.write(folder, self._entries(folder.name, start), expected=last - start, anew=start == 0)

    def _entries(self, name: str, after: int) -> Iterator[Entry]:
        """Yield all chunks behind a number in order, those that were kept without making their terms again."""
        with self._guard:
            kept = [one for one in self._fresh if one[0][0] > after] if self._fresh_of == name else []
        if kept:
            yield from self._stored(after, kept[0][0][0])
            for row, place in kept:
                self._go_on()
                yield entry(row, place)
            after = kept[-1][0][0]
        yield from self._stored(after)

    def _stored(self, after: int, until: int | None = None) -> Iterator[Entry]:
        """Yield the chunks between two numbers as the store has them."""
        while until is None or after + 1 < until:
            with self._database.reading() as db:
                page = words_index.page(db, after, _PAGE if until is None else min(_PAGE, until - after - 1))
            page = [(row, place) for row, place in page if until is None or row[0] < until]
            if not page:
                return
            for row, place in page:
                self._go_on()
                yield entry(row, place)
            after = page[-1][0][0]

    def _go_on(self) -> None:
        if self._closing:
            raise StoreError("the store is being closed")

    def _sweep(self, name: str) -> bool:
        """Remove the folders of other stamps and return whether some would not go; the caller holds the lock."""
        if self._folder is None:
            return False
        others = [one for one in self._folder.iterdir() if one.is_dir() and one.name != name]
        for one in others:
            self._drop(one)
        return any(one.exists() for one in others)

    def _drop(self, folder: Path) -> None:
        with self._guard:
            if self._reader and self._reader[0] == folder.name:
                self._reader = None
        shutil.rmtree(folder, ignore_errors=True)


def _with_spare(limit: int) -> int:
    """Return how many to ask for: some may have gone, and equals at the end are put in order of their number."""
    return limit + limit // 4 + 8


def _there(db: sqlite3.Connection, within: Within, hits: Sequence[tuple[int, float]]) -> list[Scored]:
    """Return those that are in the store and in scope."""
    numbers = id_list([number for number, _ in hits])
    if within.collections is None:
        rows = db.execute(_ALIVE, (numbers,))
    else:
        rows = db.execute(_ALIVE_IN, (numbers, id_list(within.collections)))
    there = {row[0] for row in rows}
    return [Scored(number, score) for number, score in hits if number in there]


def last_chunk(db: sqlite3.Connection) -> int:
    """Return the highest number that a chunk ever had."""
    row = db.execute(_LAST_CHUNK).fetchone()
    return int(row[0]) if row else 0
