"""Moves a home in SQLite to PostgreSQL without an embedding, and verifies what has arrived.

Every step stores rows that may already be there. So a move that was interrupted is run again and continues. The home
stays as it is.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Final

from ragstone.errors import StoreError
from ragstone.protocols import DocumentReader, Progress
from ragstone.store.home_folder import machine_path
from ragstone.store.postgres import home_rows, moved_rows
from ragstone.store.postgres.home_rows import HomeCollection
from ragstone.store.postgres.store import PostgresStore
from ragstone.store.sqlite import SqliteStore
from ragstone.types import (
    Collection,
    CollectionKey,
    CollectionState,
    Document,
    MoveReport,
    PreparedDocument,
    SessionState,
    StoredDocument,
    UnreadFiles,
)

_BATCH: Final = 100
_PAGE: Final = 1000
_MOST_MARKS: Final = 1 << 30
_AGAIN: Final = "run the command again when nothing writes to the home; it continues"


def copy_home(
    source: SqliteStore, target: PostgresStore, *, progress: Progress | None = None
) -> MoveReport:
    """Copy every project of a home to a database, verify the copy, and return the counts.

    `Conflict` if the database has another collection of the same name. `StoreError` if the copy differs.
    """
    return _Move(source, target, progress or _ignore_progress).run()


def _ignore_progress(stage: str, done: int, total: int) -> None:
    """Do nothing."""


class _Move:
    """Copies one home."""

    def __init__(self, source: SqliteStore, target: PostgresStore, progress: Progress) -> None:
        self._source = source
        self._target = target
        self._database = target.database
        self._progress = progress
        self._vectors = 0
        self._owners = 0

    def run(self) -> MoveReport:
        """Copy and verify everything, and return the counts."""
        started = time.monotonic()
        with self._source.rows() as db:
            projects = home_rows.list_projects(db)
            collections = home_rows.list_collections(db)
        originals = {collection.key: self._original(collection) for collection in collections}
        for key, original in originals.items():
            moved_rows.adopt_collection(self._database, key, original)
        self._copy_documents(collections)
        for collection in collections:
            self._copy_graph(collection)
            self._copy_state(collection.key)
        self._copy_vectors(collections)
        for project in projects:
            self._copy_access(project)
        for collection in collections:
            self._verify(collection)
        return MoveReport(
            location=self._target.location,
            collections=len(collections),
            documents=sum(original.documents for original in originals.values()),
            chunks=sum(original.chunks for original in originals.values()),
            vectors=self._vectors,
            graph_owners=self._owners,
            seconds=time.monotonic() - started,
        )

    def _original(self, collection: HomeCollection) -> Collection:
        key = collection.key
        listed = self._source.collections(key.project, key.kind)
        return next(original for original in listed if original.name == key.name)

    # ── documents ─────────────────────────────────────────────────────────────────────────────────

    def _copy_documents(self, collections: Sequence[HomeCollection]) -> None:
        """Copy documents in the order in which they were added, so that equal scores keep their order."""
        with self._source.rows() as db:
            uris = {
                collection: home_rows.list_documents(db, collection)
                for collection in collections
            }
        total = sum(map(len, uris.values()))
        done = 0
        for collection, names in uris.items():
            for start in range(0, len(names), _BATCH):
                batch = names[start : start + _BATCH]
                self._copy_batch(collection.key, batch)
                done += len(batch)
                self._progress("documents", done, total)

    def _copy_batch(self, key: CollectionKey, uris: Sequence[str]) -> None:
        prepared = []
        times = {}
        with self._source.snapshot() as view:
            for uri in uris:
                stored = view.document(key, uri)
                if stored is not None:
                    prepared.append(_prepare(view, key, stored))
                    times[uri] = stored.added_at
        self._target.put(key, prepared)
        moved_rows.set_times(self._database, key, times)

    # ── graph and state ───────────────────────────────────────────────────────────────────────────

    def _copy_graph(self, collection: HomeCollection) -> None:
        with self._source.rows() as db:
            for owner in home_rows.owners(db, collection):
                data = {} if owner.data is None else {owner.name: owner.data}
                self._target.graph.put(
                    collection.key,
                    {owner.name: owner.graph},
                    stamps={owner.name: owner.stamp},
                    data=data,
                )
                self._owners += 1

    def _copy_state(self, key: CollectionKey) -> None:
        state = self._source.state.collection_state(key)
        if state != CollectionState():
            root = machine_path(state.root) if state.root else state.root
            shared = replace(state, root=root, relative_root="")
            self._target.state.update_collection_state(key, **asdict(shared))
        session = self._source.state.session_state(key)
        if session != SessionState():
            self._target.state.update_session_state(key, **asdict(session))
        unread = self._source.state.unread_files(key)
        if unread != UnreadFiles():
            self._target.state.set_unread_files(key, unread)

    def _copy_access(self, project: str) -> None:
        """Copy the keys, the plan, and the marks of shown passages of a project."""
        existing = {key.id for key in self._target.keys.list(project)}
        for key in self._source.keys.list(project):
            if key.id not in existing:
                self._target.keys.add(key)
        plan = self._source.keys.plan(project)
        if plan is not None:
            self._target.keys.set_plan(project, plan)
        with self._source.rows() as db:
            sessions = home_rows.sessions_with_marks(db, project)
        for session in sessions:
            marks = self._source.state.shown_passages(project, session)
            self._target.state.add_shown_passages(project, session, marks, keep=_MOST_MARKS)

    # ── vectors ───────────────────────────────────────────────────────────────────────────────────

    def _copy_vectors(self, collections: Sequence[HomeCollection]) -> None:
        """Copy the stored vectors of every space that a collection uses; nothing is embedded."""
        targets: dict[tuple[str, int], int] = {}
        for collection in collections:
            with self._source.rows() as db:
                spaces = home_rows.list_spaces(db, collection)
            for space in spaces:
                info = self._target.vectors.ensure_space(
                    collection.key, space.space, storage=space.storage, state=space.state
                )
                targets[collection.key.project, space.number] = info.id
        for (project, source_space), target_space in targets.items():
            self._copy_space(project, source_space, target_space)

    def _copy_space(self, project: str, source_space: int, target_space: int) -> None:
        total = self._source.vectors.rows(project, source_space).count()
        done = last_id = 0
        while True:
            with self._source.rows() as db:
                page = home_rows.vectors_after(db, source_space, last_id, _PAGE)
            if not page:
                break
            ids = moved_rows.text_ids(
                self._database, project, [vector.text_hash for vector in page]
            )
            rows = [
                (ids[vector.text_hash], vector.data)
                for vector in page
                if vector.text_hash in ids
            ]
            self._target.vectors.put(project, target_space, rows)
            last_id = page[-1].number
            done += len(rows)
            self._progress("vectors", done, total)
        self._vectors += done

    # ── verification ──────────────────────────────────────────────────────────────────────────────

    def _verify(self, collection: HomeCollection) -> None:
        """Raise `StoreError` if a collection of the database differs from that of the home."""
        key = collection.key
        copies = [_fingerprint(view, key) for view in (self._source, self._target)]
        if copies[0] != copies[1]:
            raise StoreError(
                f"the documents of {key.name!r} in project {key.project!r} differ from those of the home",
                hint=_AGAIN,
            )
        coverages = [_coverage(view, key) for view in (self._source, self._target)]
        if coverages[0] != coverages[1]:
            raise StoreError(
                f"the vectors of {key.name!r} in project {key.project!r} differ from those of the home",
                hint=_AGAIN,
            )
        stamps = [view.graph.owner_stamps(key) for view in (self._source, self._target)]
        if stamps[0] != stamps[1]:
            raise StoreError(
                f"the graph of {key.name!r} in project {key.project!r} differs from that of the home",
                hint=_AGAIN,
            )


def _prepare(
    view: DocumentReader, key: CollectionKey, stored: StoredDocument
) -> PreparedDocument:
    """Return a stored document as it was put."""
    known = view.known_files(key, stored.source, uris=[stored.uri])[stored.uri]
    document = Document(
        uri=stored.uri,
        text=view.text(key, stored.uri) or "",
        kind=stored.kind,
        language=stored.language,
        title=stored.title,
        metadata=stored.metadata,
        marks=stored.marks,
        beside=stored.beside,
    )
    return PreparedDocument(
        document,
        tuple(row.chunk for row in view.document_chunks(key, stored.uri)),
        source=stored.source,
        stamp=stored.stamp,
        recipe=known.recipe,
        content_hash=known.content_hash,
    )


def _all_documents(view: DocumentReader, key: CollectionKey) -> Iterator[StoredDocument]:
    after = None
    while page := view.documents(key.scope, after=after, limit=_PAGE):
        yield from page
        after = (page[-1].collection, page[-1].uri)


def _fingerprint(view: DocumentReader, key: CollectionKey) -> tuple[int, int]:
    """Return how many documents a collection has, and the sum of the hashes of their texts, chunks and fields."""
    count = total = 0
    for document in _all_documents(view, key):
        text = view.text(key, document.uri) or ""
        chunks = [row.chunk for row in view.document_chunks(key, document.uri)]
        content = repr((document, text, chunks)).encode("utf-8", "surrogatepass")
        total += int.from_bytes(hashlib.sha256(content).digest())
        count += 1
    return count, total


def _coverage(view: DocumentReader, key: CollectionKey) -> set[tuple[str, str, str, int, int]]:
    """Return the spaces of a collection with their state and the number of texts and vectors."""
    return {
        (info.space.fingerprint, info.storage, info.state, info.texts, info.embedded)
        for info in view.vectors.spaces(key.scope)
    }
