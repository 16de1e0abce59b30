"""The derived word index: faster answers for large stores. It can always be rebuilt from the database.

The index has the terms of all chunks up to some id. Chunk ids ascend and a chunk never changes, so newer chunks are
the only ones that are missing; FTS5 searches them. Entries of removed chunks are filtered out by checking the chunks
table. The folder is named after everything the index depends on, so an index of another store, of another text
analysis, or of the time before removed text was wiped is never read.

Scores are BM25 as in FTS5, except that a path or symbol counts in the length of a chunk as often as it weighs.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ragstone.errors import StoreBusy, StoreError
from ragstone.store.catalog import id_list
from ragstone.store.codec import fresh_uuid
from ragstone.store.connection import Database
from ragstone.store.fetch import fetch_column
from ragstone.store.home_folder import WORDS
from ragstone.store.lock import FileLock
from ragstone.store.words import tantivy
from ragstone.store.words.checksums import check_files
from ragstone.store.words.scope import TermCounts, WordScope
from ragstone.store.words.tantivy import CommitMark, IndexReader, IndexUnusable
from ragstone.store.words.terms import ChunkTerms, chunks_after, stored_terms
from ragstone.types import Finding, Scored

LEAST_CHUNKS: Final = 5000  # FTS5 takes about a millisecond there
EXTEND_AT: Final = 30_000  # missing chunks that a write adds: about three seconds of work
SLOW_SEARCHES: Final = 3  # a process that searches once is done sooner with FTS5
MOST_REMOVED: Final = (
    0.2  # of all entries; the index is rebuilt if more belong to removed chunks
)
_WAIT_FOR_READERS: Final = 30.0
_PAGE: Final = 2000
_STATE: Final = """
    SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), (SELECT total(chunks) FROM collections), (
        SELECT group_concat(value, '|') FROM (
            SELECT value FROM meta WHERE key IN ('uuid', 'words_epoch', 'words_version') ORDER BY key))"""
_NEW_EPOCH: Final = """
    INSERT INTO meta (key, value) VALUES ('words_epoch', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"""
_EXISTING: Final = (
    "SELECT c.id FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value"
)
_EXISTING_IN: Final = """
    SELECT c.id FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value
    WHERE c.collection IN (SELECT value FROM json_each(?))"""


class StoreState(NamedTuple):
    """The state of the store that an index depends on."""

    last_chunk: int
    """The largest id that a chunk ever had."""
    chunks: int
    folder_name: str
    """The name of the folder of an index of this store."""


def new_epoch(db: sqlite3.Connection) -> None:
    """Make every derived index of this store invalid, inside the transaction of the caller."""
    db.execute(_NEW_EPOCH, (fresh_uuid(),))


def store_state(db: sqlite3.Connection) -> StoreState:
    """Return the state of the store that an index depends on."""
    last_chunk, chunks, identity = db.execute(_STATE).fetchone()
    dependencies = f"{tantivy.FORMAT}|{tantivy.WEIGHTS}|{identity}"
    digest = hashlib.sha256(dependencies.encode()).hexdigest()
    return StoreState(int(last_chunk or 0), int(chunks), digest[:24])


class TantivySearch:
    """Implements `WordSearch` for the chunks of a derived index that still exist."""

    def __init__(self, db: sqlite3.Connection, reader: IndexReader, state: StoreState) -> None:
        """Take the connection, the index and the state of the store."""
        self._db = db
        self._reader = reader
        self._is_exact = (reader.last_chunk, reader.entries) == (state.last_chunk, state.chunks)

    def count_terms(self, scope: WordScope, terms: Sequence[str]) -> TermCounts:
        """Return how many entries the collections in scope have, and how many have each term."""
        if scope.collections is None:
            counts = {term: self._reader.count(term) for term in terms}
            return TermCounts(self._reader.entries, counts)
        return self._reader.count_terms(scope.collections, terms)

    def search(self, scope: WordScope, terms: Sequence[str], limit: int) -> list[Scored]:
        """Return the best chunks with any of the terms; rarities are those of the whole index."""
        # Terms of more than half of the entries weigh nearly nothing and take most of the time.
        rare_terms = [
            term for term in terms if self._reader.count(term) <= self._reader.entries / 2
        ]
        rows = self._search(scope, rare_terms, {}, limit)
        if len(rows) < limit and len(rare_terms) < len(terms):
            rows = self._search(scope, terms, {}, limit)
        return rows

    def search_part(
        self, scope: WordScope, rarities: Mapping[str, float], limit: int
    ) -> list[Scored]:
        """Return the best chunks with any of the terms; rarities are given."""
        return self._search(scope, list(rarities), rarities, limit)

    def _search(
        self, scope: WordScope, terms: Sequence[str], rarities: Mapping[str, float], limit: int
    ) -> list[Scored]:
        # More than the limit: some may be removed, and rows with equal scores are ordered by id later.
        count = limit + limit // 4 + 8
        while True:
            hits = self._reader.search(terms, scope.collections, count, rarities)
            rows = [Scored(chunk, score) for chunk, score in hits]
            if not (self._is_exact and scope.collections is None):
                rows = self._existing(scope, rows)
            if len(rows) >= limit or len(hits) < count:
                return rows
            count *= 4

    def _existing(self, scope: WordScope, rows: Sequence[Scored]) -> list[Scored]:
        """Return the rows of chunks that exist and are in scope."""
        ids = id_list(row.id for row in rows)
        if scope.collections is None:
            existing = fetch_column(self._db, _EXISTING, ids)
        else:
            existing = fetch_column(self._db, _EXISTING_IN, ids, scope.collection_list)
        existing_ids = set(existing)
        return [row for row in rows if row.id in existing_ids]


class DerivedIndex:
    """The derived index of one database. In memory there is none, and every method does nothing."""

    def __init__(self, database: Database) -> None:
        """Take the database; no file is opened yet."""
        self._database = database
        self._folder = database.path and database.path.parent / WORDS / database.path.name
        self._lock = FileLock(self._folder and self._folder / "lock", wait=0.0)
        self._guard = threading.Lock()
        self._reader: IndexReader | None = None
        self._unusable: tuple[str, CommitMark | None] | None = None
        self._has_written = False
        self._slow_searches = 0
        self._thread: threading.Thread | None = None
        self._is_closing = False

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    def reader(self, state: StoreState) -> IndexReader | None:
        """Return the last commit of the index, None if FTS5 must search all chunks."""
        if self._folder is None or state.last_chunk < LEAST_CHUNKS:
            return None
        reader = self._open_reader(state)
        missing = state.last_chunk - (reader.last_chunk if reader else 0)
        if missing >= LEAST_CHUNKS:
            self._slow_searches += 1
        if reader is None or not reader.last_chunk or missing > EXTEND_AT:
            return None
        return reader

    def after_search(self) -> None:
        """Add missing chunks in a thread, after several searches that FTS5 had to do for many chunks."""
        if self._slow_searches < SLOW_SEARCHES or self._database.read_only or self._thread:
            return
        self._thread = threading.Thread(
            target=self._extend_once, name="ragstone-words", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError:  # the system allows no more threads
            self._thread = None

    def _extend_once(self) -> None:
        self._extend(least=LEAST_CHUNKS)
        self._slow_searches = 0
        self._thread = None

    def mark_unusable(self, state: StoreState) -> None:
        """Do not read these files again before they are written again."""
        with self._guard:
            mark = self._reader.mark if self._reader else None
            self._reader = None
            self._unusable = (state.folder_name, mark)

    def _open_reader(self, state: StoreState) -> IndexReader | None:
        if self._folder is None:
            return None
        folder = self._folder / state.folder_name
        with self._guard:
            if self._reader is not None and self._is_current(self._reader, folder, state):
                return self._reader
            self._reader = None
            mark = tantivy.commit_mark(folder)
            if mark is None or self._unusable == (folder.name, mark):
                return None
            try:
                self._reader = IndexReader(folder)
            except IndexUnusable:
                self._unusable = (folder.name, mark)
            return self._reader

    def _is_current(self, reader: IndexReader, folder: Path, state: StoreState) -> bool:
        """Return whether a reader has the last commit of a folder; a complete index needs no look at the disk."""
        if reader.folder != folder:
            return False
        return reader.last_chunk >= state.last_chunk or reader.mark == tantivy.commit_mark(
            folder
        )

    def check(self) -> list[Finding]:
        """Read every file of the index and return a finding; none if the store needs no such index."""
        if self._folder is None:
            return []
        with self._database.reading() as db:
            folder = self._folder / store_state(db).folder_name
        if tantivy.commit_mark(folder) is None:
            return []  # nothing was committed, so nothing is read
        if check_files(folder) == "damaged":
            detail = "a file of the fast word index is damaged; searches use the slower one"
            return [Finding("fast words", False, detail, "run `ragstone compact`")]
        return [Finding("fast words", True, "no file of the fast word index is damaged")]

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    def after_write(self) -> None:
        """Add missing chunks if there are many; if far too many are missing, `close` adds them."""
        self._has_written = True
        self._extend(least=EXTEND_AT, most=2 * EXTEND_AT)

    def after_compact(self, *, secure: bool) -> None:
        """Add missing chunks; if `secure`, first remove every file with removed text, or raise `StoreBusy`."""
        if self._folder is None:
            return
        if secure and self._folder.exists():
            with self._database.reading() as db:
                state = store_state(db)
            self._close_reader()
            self._lock.acquire(_WAIT_FOR_READERS)
            try:
                remaining = self._remove_other_folders(self._folder, state.folder_name)
            finally:
                self._lock.release()
            if remaining:
                raise StoreBusy(
                    "a reader still holds words of removed text",
                    hint="run it again when it is done",
                )
        self._extend(least=1)

    def close(self) -> None:
        """Close the files. A process that wrote leaves no long tail to later readers."""
        thread = self._thread
        if thread is not None:
            self._is_closing = True
            thread.join()
            self._is_closing = False
        if self._has_written and not self._database.closed:
            self._extend(least=EXTEND_AT)
        self._close_reader()

    def _close_reader(self) -> None:
        with self._guard:
            self._reader = None

    def _extend(self, *, least: int, most: int | None = None) -> None:
        """Add the missing chunks if there are at least `least` and at most `most`. It never fails.

        If another process is extending the index, nothing is done. If `most` is None and too many entries are of
        removed chunks, the index is rebuilt.
        """
        if self._folder is None or self._database.read_only:
            return
        try:
            with self._database.reading() as db:
                state = store_state(db)
            if state.chunks < LEAST_CHUNKS:
                return
            start = self._extension_start(state, may_rebuild=most is None)
            missing = state.last_chunk - start
            if missing < least or (most is not None and missing > most):
                return
            # `parents=True` would not make both private.
            for folder in (self._folder.parent, self._folder):
                folder.mkdir(mode=0o700, exist_ok=True)
            self._lock.acquire(0.0)
        except (OSError, StoreError):
            return  # the write itself succeeded; the index can wait
        try:
            self._write(self._folder, state, rebuild=start == 0)
        finally:
            self._lock.release()

    def _extension_start(self, state: StoreState, *, may_rebuild: bool) -> int:
        """Return the chunk id after which chunks are missing, 0 if the index must be built or rebuilt."""
        reader = self._open_reader(state)
        if reader is None:
            return 0
        removed = reader.entries - state.chunks
        if may_rebuild and removed > MOST_REMOVED * reader.entries:
            return 0
        return reader.last_chunk

    def _write(self, home: Path, state: StoreState, *, rebuild: bool) -> None:
        """Add the missing chunks, or rebuild the index. The caller holds the lock."""
        folder = home / state.folder_name
        start = 0
        try:
            reader = IndexReader(folder)
            # An index that is ahead of the store was made before an older database file was put back.
            if not rebuild and reader.last_chunk <= self._current_last_chunk():
                start = reader.last_chunk
        except (IndexUnusable, StoreError):
            self._remove_folder(folder)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            expected = state.last_chunk - start
            tantivy.write_entries(
                folder, self._stored_terms(start), expected=expected, replace=start == 0
            )
            self._remove_other_folders(home, state.folder_name)
        except (IndexUnusable, OSError):
            self._remove_folder(folder)
        except StoreError:
            return

    def _current_last_chunk(self) -> int:
        with self._database.reading() as db:
            return store_state(db).last_chunk

    def _stored_terms(self, after: int) -> Iterator[ChunkTerms]:
        """Yield the terms of all chunks with a larger id, in order of id."""
        while True:
            with self._database.reading() as db:
                rows = chunks_after(db, after, _PAGE)
            if not rows:
                return
            if self._is_closing:
                raise StoreError("the store is being closed")
            yield from stored_terms(rows)
            after = rows[-1].id

    def _remove_other_folders(self, home: Path, name: str) -> bool:
        """Remove the folders of invalid indexes and return whether one remains. The caller holds the lock."""
        others = [
            folder for folder in home.iterdir() if folder.is_dir() and folder.name != name
        ]
        for folder in others:
            self._remove_folder(folder)
        return any(folder.exists() for folder in others)

    def _remove_folder(self, folder: Path) -> None:
        with self._guard:
            if self._reader is not None and self._reader.folder == folder:
                self._reader = None
        shutil.rmtree(folder, ignore_errors=True)
