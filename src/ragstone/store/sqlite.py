"""The store in one SQLite file, or in memory: every call one transaction, every call inside one project."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Final, Self, cast

from ragstone.errors import StoreError
from ragstone.protocols import VectorRows
from ragstone.protocols.store import Given
from ragstone.store import (
    catalog,
    filters,
    reading,
    schema,
    upkeep,
    vectors,
    words_index,
    words_part,
    words_search,
    writing,
)
from ragstone.store.connection import Database
from ragstone.store.disk import WRITABLE_HINT
from ragstone.store.graph_part import GraphPart
from ragstone.store.lock import WAIT_SECONDS
from ragstone.store.words_derived import DerivedWords, stamp
from ragstone.types import (
    Collection,
    Filter,
    Finding,
    Known,
    Outline,
    PendingText,
    Prepared,
    PutResult,
    Scalar,
    Scope,
    Scored,
    Space,
    SpaceInfo,
    SpaceState,
    Stamp,
    StoredChunk,
    StoredDocument,
)

_REMEMBERED_SCOPES: Final = 64


class SqliteStore(GraphPart):
    """A store in one file (`path=":memory:"`: in none). Safe to use from several threads and several processes.

    `cache_mb` and `mmap_mb` bound the memory of each connection; `wait` is how long a writer queues. Nothing is mapped
    by itself: word searches over 100k chunks gained nothing, and a disk that fails under a mapping ends the process.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        cache_mb: int = 32,
        mmap_mb: int = 0,
        wait: float = WAIT_SECONDS,
        allow_network: bool = False,
    ) -> None:
        """Open the store, made or brought up to date now if need be."""
        self._database = Database(path, cache_mb=cache_mb, mmap_mb=mmap_mb, wait=wait, allow_network=allow_network)
        self.location = self._database.location
        self._words = DerivedWords(self._database)
        self._fetched = vectors.Fetched()
        self._coverage: dict[Scope, tuple[int, list[SpaceInfo]]] = {}
        try:
            self._bring_up_to_date()
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._words.close()
        self._database.close()

    def patience(self, seconds: float | None) -> AbstractContextManager[None]:
        """Wait at most this long for other writers while it is entered; None changes nothing."""
        return self._database.lock.patience(seconds)

    def moment(self) -> AbstractContextManager[None]:
        """Let everything this thread reads while it is entered be of one moment."""
        return self._database.moment()

    def shared(self, work: Callable[[], Given]) -> Callable[[], Given]:
        """Return work that another thread may do in this one's moment, while this one reads nothing."""
        return self._database.shared(work)

    def generation(self) -> int:
        """Return a number that changes with every committed write, of any process."""
        return self._database.generation()

    # ── collections ───────────────────────────────────────────────────────────────────────────────

    def ensure_collection(
        self, project: str, name: str, *, description: str = "", settings: Mapping[str, Scalar] | None = None
    ) -> Collection:
        """Return the collection of that name, made now if it was not there."""
        with self._database.reading() as db:
            known = catalog.collection(db, project, name)
        if known:
            return known
        with self._database.writing() as db:
            return catalog.ensure_collection(db, project, name, description=description, settings=settings)

    def collections(self, project: str) -> list[Collection]:
        """Return a project's collections by name, with their counts."""
        with self._database.reading() as db:
            return catalog.collections(db, project)

    def drop_collection(self, project: str, name: str) -> int:
        """Remove a collection and all in it; return how many documents went."""
        with self._database.writing() as db:
            words_index.require_current(db)
            place = catalog.existing(db, project, name)
            catalog.forget_notes(db, place.project, name)
            self._words.changed = True
            return writing.drop_collection(db, place)

    # ── documents ─────────────────────────────────────────────────────────────────────────────────

    def put(self, project: str, collection: str, prepared: Sequence[Prepared]) -> list[PutResult]:
        """Store or replace documents, all in one transaction; unchanged chunks are kept."""
        with self._database.writing() as db:
            words_index.require_current(db)
            place = catalog.existing(db, project, collection)
            put = writing.Put(db, place, time.time())
            results, name = put.run(prepared), stamp(db)
        self._words.after_put(name, put.findable, place.collection)
        return results

    def touch(self, project: str, collection: str, source: str, stamps: Mapping[str, Stamp | None]) -> None:
        """Note new stamps of documents whose content was looked at and had not changed."""
        with self._database.writing() as db:
            reading.touch(db, catalog.existing(db, project, collection), source, stamps)

    def remove(self, project: str, collection: str, uris: Sequence[str]) -> int:
        """Remove documents; return how many were there."""
        with self._database.writing() as db:
            words_index.require_current(db)
            place = catalog.place(db, project, collection)
            self._words.changed = True
            return writing.remove(db, place, uris, time.time()) if place else 0

    def document(self, project: str, collection: str, uri: str) -> StoredDocument | None:
        """Return what is stored of one document."""
        with self._database.reading() as db:
            place = catalog.place(db, project, collection)
            return reading.document(db, place, collection, uri) if place else None

    def documents(
        self, scope: Scope, *, filter: Filter | None = None, after: tuple[str, str] | None = None, limit: int = 50
    ) -> list[StoredDocument]:
        """Return documents ordered by (collection, uri), from behind `after` on."""
        with self._database.reading() as db:
            return reading.documents(db, scope, filter=filter, after=after, limit=limit)

    def text(self, project: str, collection: str, uri: str) -> str | None:
        """Return the whole text of a document."""
        with self._database.reading() as db:
            place = catalog.place(db, project, collection)
            return reading.text(db, place, uri) if place else None

    def slice(self, project: str, collection: str, uri: str, span: tuple[int, int]) -> str:
        """Return characters start to end of a document's text; nothing of one that is not there."""
        with self._database.reading() as db:
            place = catalog.place(db, project, collection)
            return (reading.text(db, place, uri, span) if place else None) or ""

    def known(
        self, project: str, collection: str, source: str, *, uris: Sequence[str] | None = None, below: bool = False
    ) -> dict[str, Known]:
        """Return what is remembered of every document that came from a source, or of some, or of those below some."""
        with self._database.reading() as db:
            place = catalog.place(db, project, collection)
            return reading.known(db, place, source, uris=uris, below=below) if place else {}

    def document_chunks(self, project: str, collection: str, uri: str) -> list[StoredChunk]:
        """Return a document's chunks in order."""
        with self._database.reading() as db:
            place = catalog.place(db, project, collection)
            return reading.document_chunks(db, place, uri) if place else []

    def chunks(self, project: str, ids: Sequence[int]) -> dict[int, StoredChunk]:
        """Return chunks by id, those of other projects left out."""
        with self._database.reading() as db:
            return reading.chunks(db, project, ids)

    def outlines(self, project: str, ids: Sequence[int]) -> dict[int, Outline]:
        """Return what ranking looks at of chunks by id, those of other projects left out."""
        with self._database.reading() as db:
            return reading.outlines(db, project, ids)

    def copies(self, scope: Scope, text_ids: Sequence[int]) -> dict[int, list[int]]:
        """Return, for each text, the ids of all chunks in scope that hold it."""
        with self._database.reading() as db:
            return reading.copies(db, scope, text_ids)

    # ── words ─────────────────────────────────────────────────────────────────────────────────────

    def search_words(
        self, scope: Scope, terms: Sequence[str], *, limit: int, filter: Filter | None = None
    ) -> list[Scored]:
        """Return chunks that hold any of the terms, best first."""
        condition = filters.where(filter) if filter is not None and filter.conditions else None
        if limit <= 0 or not terms:
            return []
        with self._database.reading() as db:
            collections = list(catalog.in_scope(db, scope).values())
            everything = db.execute("SELECT count(*) FROM collections").fetchone()[0] == len(collections)
            within = words_search.Within(None if everything and condition is None else collections, condition)
            most = min(limit, reading.MOST_ROWS)
            found = self._words.search(db, within, terms, most)
            if found is None and (part := words_part.chunks_of(db, within)):
                found = words_part.search(db, within, terms, most, chunks=part)
            if found is None:
                found = words_search.search(db, within, terms, most)
        self._words.after_search()
        return found

    # ── vectors ───────────────────────────────────────────────────────────────────────────────────

    def ensure_space(
        self, project: str, collection: str, space: Space, *, storage: str | None = None, state: SpaceState = "active"
    ) -> SpaceInfo:
        """Return the collection's space, made now if it was not there; without a storage in that of what is there."""
        with self._database.writing() as db:
            place = catalog.existing(db, project, collection)
            number = vectors.ensure_space(db, place, space, storage=storage, state=state)
            return vectors.info(db, place, number)

    def activate_space(self, project: str, collection: str, space_id: int) -> None:
        """Make a space the one that answers, and retire the one before it."""
        with self._database.writing() as db:
            vectors.activate_space(db, catalog.existing(db, project, collection), space_id)

    def spaces(self, scope: Scope) -> list[SpaceInfo]:
        """Return the spaces in use, each with its coverage over the scope; counted again only after a change."""
        with self._database.reading(lean=True) as db:
            generation = db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0]
            remembered = self._coverage.get(scope)
            if remembered is None or remembered[0] != generation:
                if len(self._coverage) >= _REMEMBERED_SCOPES:
                    self._coverage.clear()
                remembered = self._coverage[scope] = (generation, vectors.spaces(db, scope))
            return list(remembered[1])

    def pending(self, scope: Scope, space_id: int, *, after: int = 0, limit: int = 1000) -> list[PendingText]:
        """Return texts in scope that have no vector in the space, in order of id, from behind `after` on."""
        with self._database.reading() as db:
            return vectors.pending(db, scope, space_id, after=after, limit=limit)

    def put_vectors(self, project: str, space_id: int, rows: Iterable[tuple[int, bytes]]) -> int:
        """Store (text_id, encoded vector) rows, in one transaction; return how many were new."""
        given = list(rows)  # made before the lock is taken: others need not wait for an embedder
        with self._database.writing(sure=len(given) >= vectors.MANY) as db:
            return vectors.put_vectors(db, project, space_id, given)

    def remove_vectors(self, project: str, space_id: int, row_ids: Sequence[int] | None = None) -> int:
        """Forget vectors of a space, all of them where no rows are named; return how many went."""
        with self._database.writing() as db:
            return vectors.remove_vectors(db, project, space_id, row_ids)

    def vector_rows(self, project: str, space_id: int) -> VectorRows:
        """Return the space's vectors for a derived index to read."""
        # Its epoch is read anew each time, so that an index sees what another process compacted.
        return cast(VectorRows, vectors.StoredRows(self._database, project, space_id, self._fetched))

    def vectors_in(self, scope: Scope, space_id: int, *, filter: Filter | None = None) -> list[int]:
        """Return the row ids of all vectors whose text is in scope and passes the filter."""
        with self._database.reading() as db:
            return vectors.vectors_in(db, scope, space_id, filter=filter)

    def locate(
        self, scope: Scope, space_id: int, row_ids: Sequence[int], *, filter: Filter | None = None
    ) -> dict[int, int]:
        """Return, for each vector row, the first chunk in scope that holds its text and passes the filter."""
        with self._database.reading() as db:
            texts = self._fetched.of(space_id, row_ids) if filter is None else None
            if texts is not None:
                return vectors.locate_texts(db, scope, texts)
            return vectors.locate(db, scope, space_id, row_ids, filter=filter)

    # ── notes and upkeep ──────────────────────────────────────────────────────────────────────────

    def note(self, project: str, key: str) -> str | None:
        """Return a small remembered value."""
        with self._database.reading() as db:
            return catalog.note(db, project, key)

    def set_note(self, project: str, key: str, value: str) -> None:
        """Remember a small value."""
        with self._database.writing() as db:
            catalog.set_note(db, project, key, value)

    def check(self) -> list[Finding]:
        """Return what a look at every invariant found."""
        return upkeep.check(self._database)

    def compact(self, *, secure: bool = False) -> int:
        """Give back the room of what was removed; return bytes freed. Secure: overwrite it too."""
        freed = upkeep.compact(self._database, secure=secure)
        self._words.after_compact(secure=secure)
        return freed

    def backup(self, target: Path) -> Path:
        """Write a verified copy and return its path."""
        return upkeep.backup(self._database, target)

    def _bring_up_to_date(self) -> None:
        """Make the tables, migrate an older file, and index the words anew if they were analysed otherwise."""
        with self._database.reading() as db:
            version = schema.version_of(db)
            schema.refuse_newer(version)
            enough = schema.READABLE if self._database.read_only else schema.NEWEST
            if version >= enough and words_index.current(db) and self._database.ready(db):
                return  # the usual case: nobody has to wait for a writer
        if self._database.read_only:
            state = "was written by an older Ragstone" if version else "has nothing in it"
            raise StoreError(f"{self.location} {state} and can only be read", hint=WRITABLE_HINT)
        with self._database.exclusive() as db:
            self._database.use_wal()
            schema.upgrade(db, save=self._save_before_migration)
            if not words_index.current(db):
                with self._database.writing():
                    words_index.rebuild(db)

    def _save_before_migration(self, version: int) -> None:
        path = self._database.path
        if path is None:
            return
        target, number = path.with_name(f"{path.name}.v{version}.bak"), 1
        while target.exists():
            number += 1
            target = path.with_name(f"{path.name}.v{version}-{number}.bak")
        with self._database.exclusive() as db:
            upkeep.copy(db, target)
