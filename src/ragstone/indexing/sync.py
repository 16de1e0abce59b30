"""Keeps the collections of an engine true to its folder.

There is one notion of "up to date": `ensure_current` with one of three policies. `Scan` walks the folder, `Changes`
follows file events, and `Proof` re-reads documents whose files turned out to be different.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone.errors import (
    InputError,
    RagstoneError,
    ReadError,
    StaleSpace,
    StoreBusy,
    StoreDamaged,
    StoreTooNew,
)
from ragstone.indexing.backfill import TEXTS_PER_SECOND, VectorBackfill
from ragstone.indexing.changes import ChangeTracker
from ragstone.indexing.chunking_config import ChunkingConfig
from ragstone.indexing.folder import folder_source
from ragstone.indexing.ledger import MISSING, merge_reports
from ragstone.indexing.reconcile import Reconciler
from ragstone.indexing.writer import DocumentWriter
from ragstone.protocols import Progress
from ragstone.sources.uris import from_uri
from ragstone.types import (
    CollectionKey,
    Item,
    KnownFile,
    Scope,
    SyncReport,
    UnreadFile,
    UnreadFiles,
)

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.events import EventBus
    from ragstone.indexing.components import Components
    from ragstone.protocols import Source
    from ragstone.sources.folder.source import FolderSource
    from ragstone.types import Scalar

_SECONDS_FOR_WRITERS: Final = 0.5
"""How long a search waits for another writer: an answer from the stored state, with a note, is better."""
_RETRY_SECONDS: Final = 5.0
_LATER_SECONDS: Final = 60.0
"""When a failed update is tried again: soon, or later if the folder itself is the problem."""
_MAX_NEW_FILES_READ: Final = 500
"""`count_waiting` reads at most this many new files to see if they are text."""

DocumentId: TypeAlias = tuple[str, str]
"""A document: the name of its collection and its uri."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Walk the folder and sync every collection that follows it."""

    embed: bool | float = True
    """Whether to make vectors; a number limits the seconds."""
    progress: Progress | None = None
    wait: float | None = None
    """Seconds to wait for other writers; None is the store's default."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Index the files that changed since the last look, as the file events say."""

    embed: bool = True


@dataclass(frozen=True, slots=True)
class Proof:
    """Index documents again whose files are different from the stored state."""

    documents: Sequence[DocumentId]
    embed: bool = True


Policy: TypeAlias = Scan | Changes | Proof


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """The result of `ensure_current`: re-indexed documents, a report per collection, and notes for the user."""

    documents: frozenset[DocumentId] = frozenset()
    reports: tuple[tuple[str, SyncReport], ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: SyncOutcome) -> SyncOutcome:
        """Return both outcomes as one."""
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        return SyncOutcome(self.documents | other.documents, (*self.reports, *other.reports), notes)

    @property
    def report(self) -> SyncReport | None:
        """Return the reports of all collections as one; None if nothing was indexed."""
        return merge_reports([report for _, report in self.reports])


class CollectionSync:
    """Syncs and embeds the collections of one engine. Safe to use from several threads."""

    def __init__(
        self,
        components: Components,
        settings: Settings,
        events: EventBus,
        default: CollectionKey,
        scope: Scope,
    ) -> None:
        """Take the default collection, and the scope of all collections that the engine sees."""
        self.components = components
        self.settings = settings
        self.events = events
        self.default = default
        self.scope = scope
        self.tracker = ChangeTracker(settings)
        self._without_vectors: set[str] = set()
        self._followers: tuple[int, list[str]] = (-1, [])
        self._retry_at = 0.0
        self._lock = threading.RLock()

    # ── collections ───────────────────────────────────────────────────────────────────────────────

    def key(self, name: str) -> CollectionKey:
        """Return the key of a collection of this engine."""
        return replace(self.default, name=name)

    def names(self) -> list[str]:
        """Return the names of the engine's collections that exist."""
        collections = self.components.store.collections(self.scope.project, self.scope.kind)
        names = [collection.name for collection in collections]
        if self.scope.collections is None:
            return names
        return [name for name in names if name in self.scope.collections]

    def followers(self) -> list[str]:
        """Return the collections that must match this engine's folder."""
        names = []
        for name in self.names():
            state = self.components.store.state.collection_state(self.key(name))
            if state.follows_folder and self.is_rooted_here(name):
                names.append(name)
        return names

    def is_rooted_here(self, name: str) -> bool:
        """Return whether the document paths of a collection start at this engine's folder."""
        state = self.components.store.state.collection_state(self.key(name))
        root, relative_root = self._root()
        if state.root and state.root == root:
            return True
        return bool(state.relative_root) and state.relative_root == relative_root

    def writer(self, name: str) -> DocumentWriter:
        """Return the writer of a collection; create the collection if it is missing."""
        key = self.key(name)
        own = self.components.store.ensure_collection(key).settings
        rag = self.settings.rag
        chunking = ChunkingConfig(
            str(own.get("chunker", rag.chunker)),
            _size(own.get("chunk_size", rag.chunk_size)),
            _size(own.get("chunk_overlap", rag.chunk_overlap)),
            redact_secrets=self.settings.sources.secrets == "redact",
        )
        return DocumentWriter(self.components.store, key, chunking, self.events)

    def backfill(self, name: str) -> VectorBackfill:
        """Return the maker of vectors for a collection."""
        return VectorBackfill(self.components, self.key(name))

    def folder(
        self, paths: Sequence[str | Path] | None = None, *, changed: Sequence[str] | None = None
    ) -> FolderSource:
        """Return the engine's folder as a source, or some paths of it."""
        return folder_source(self.settings, paths, changed=changed)

    # ── up to date ────────────────────────────────────────────────────────────────────────────────

    def ensure_current(self, policy: Policy) -> SyncOutcome:
        """Update the collections that follow the folder, as the policy says, and return what changed."""
        if isinstance(policy, Scan):
            return self._scan(policy)
        with self._lock:
            if isinstance(policy, Proof):
                outcome = self._update_documents(policy.documents)
            else:
                outcome = self._update_changed()
            if policy.embed:
                outcome += self._embed_new_texts()
            return outcome

    def sync(
        self,
        name: str,
        paths: Sequence[str | Path] | None = None,
        *,
        full: bool = False,
        embed: bool | float = True,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Make a collection match the folder, or some paths of it, and return the ledger."""
        started = time.monotonic()
        if self.tracker.enabled:
            self.tracker.collect()
        report = self._index(name, paths, full=full, progress=progress)
        report = self._update_graph(report, name, progress)
        report = self._embed(report, name, embed, progress)
        if paths is None:
            self.mark_synced(name)
            self.tracker.mark_indexed(name, None)
        return replace(report, seconds=time.monotonic() - started)

    def reconcile(self, name: str, source: Source, *, full: bool = False) -> SyncReport:
        """Make a collection match any other source, without vectors, and return the ledger."""
        return Reconciler(self.writer(name), source, full=full).run().report

    def embed(
        self, name: str, *, seconds: float | None = None, progress: Progress | None = None
    ) -> int:
        """Make vectors for texts that have none and return how many; `StaleSpace` if another model made the others."""
        return self.backfill(name).run(seconds=seconds, progress=progress)

    def embed_report(
        self,
        report: SyncReport,
        names: Iterable[str],
        *,
        embed: bool,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Make vectors for collections that were just written, and return the report with their counts."""
        started = time.monotonic()
        embedded = pending = 0
        notes = list(report.notes)
        for name in names:
            if embed:
                try:
                    embedded += self.embed(name, progress=progress)
                except StaleSpace as error:
                    notes.append(str(error))
            pending += self.backfill(name).pending()
        seconds = report.seconds + time.monotonic() - started
        return replace(
            report, embedded=embedded, pending=pending, notes=tuple(notes), seconds=seconds
        )

    # ── state ─────────────────────────────────────────────────────────────────────────────────────

    def mark_synced(self, name: str) -> None:
        """Remember that a collection matches the folder now."""
        self.components.store.state.update_collection_state(self.key(name), synced_at=time.time())

    def last_sync(self) -> float | None:
        """Return when any collection was last synced, in seconds since 1970."""
        state = self.components.store.state
        times = [state.collection_state(self.key(name)).synced_at for name in self.names()]
        return max((moment for moment in times if moment is not None), default=None)

    def last_fingerprint(self, name: str) -> str | None:
        """Return the fingerprint of the folder at the last complete sync of a collection."""
        return self.components.store.state.collection_state(self.key(name)).fingerprint

    def count_waiting(self) -> int:
        """Return how many files were changed, created or removed since they were last indexed."""
        return sum(self._count_waiting(name) for name in self.followers())

    def close(self) -> None:
        """Stop tracking changes."""
        self.tracker.close()
        self._followers = (-1, [])

    # ── the three policies ────────────────────────────────────────────────────────────────────────

    def _scan(self, policy: Scan) -> SyncOutcome:
        """Sync all followers. An empty index takes in the folder; an index of given documents is left alone."""
        if self.tracker.enabled:
            self.tracker.collect()
        outcome = SyncOutcome()
        with self.components.store.lock_timeout(policy.wait):
            for name in self._names_to_scan():
                report = self._refresh(name, policy)
                if report is not None:
                    documents = frozenset((name, uri) for uri in report.changed)
                    outcome += SyncOutcome(documents, ((name, report),))
                self.tracker.mark_indexed(name, None)
        return outcome

    def _names_to_scan(self) -> list[str]:
        store = self.components.store
        names = self.names()
        followers = [
            name for name in names if store.state.collection_state(self.key(name)).follows_folder
        ]
        if followers:
            return followers
        collections = store.collections(self.scope.project, self.scope.kind)
        has_documents = any(
            collection.documents for collection in collections if collection.name in names
        )
        return [] if has_documents else [self.default.name]

    def _refresh(self, name: str, policy: Scan) -> SyncReport | None:
        """Sync one collection and return the report; None if nothing changed."""
        state = self.components.store.state
        before = state.collection_state(self.key(name))
        report = self._index(name, None, full=False, progress=policy.progress)
        if report.chunks_added and not policy.embed:
            state.update_collection_state(self.key(name), needs_vectors=True)
        if before.synced_at is None or report.indexed or report.removed:
            report = self._embed(report, name, policy.embed, policy.progress)
            self.mark_synced(name)
            return report
        if policy.embed and before.needs_vectors:
            report = self._embed(report, name, policy.embed, policy.progress)
        if report.failed or report.embedded:
            return replace(report, pending=self.backfill(name).pending())
        return None

    def _update_changed(self) -> SyncOutcome:
        """Index the paths that the file events name."""
        if not self.tracker.enabled:
            return SyncOutcome()
        names = self._cached_followers()
        if not names:
            return SyncOutcome()
        self.tracker.collect(names)
        outcome = SyncOutcome()
        if time.monotonic() < self._retry_at:
            return outcome
        for name in names:
            paths = self.tracker.pending(name)
            if paths != set():
                outcome += self._update_paths(name, paths)
        return outcome

    def _update_documents(self, documents: Sequence[DocumentId]) -> SyncOutcome:
        """Index documents again whose files are different."""
        paths: dict[str, set[str]] = {}
        for name, uri in documents:
            paths.setdefault(name, set()).add(from_uri(uri))
        outcome = SyncOutcome()
        for name, changed in paths.items():
            outcome += self._update_paths(name, changed)
        return outcome

    def _update_paths(self, name: str, paths: set[str] | None) -> SyncOutcome:
        """Index paths of one collection, or the whole folder; if that fails, the notes say why."""
        try:
            with self.components.store.lock_timeout(_SECONDS_FOR_WRITERS):
                report = self._index_changes(name, None if paths is None else sorted(paths))
        except (StoreDamaged, StoreTooNew):
            raise
        except RagstoneError as error:
            is_folder_problem = isinstance(error, InputError)
            self._retry_at = time.monotonic() + (
                _LATER_SECONDS if is_folder_problem else _RETRY_SECONDS
            )
            return SyncOutcome(notes=(stale_note(error),))
        self.tracker.mark_indexed(name, paths)
        if report.chunks_added:
            self._without_vectors.add(name)
        documents = frozenset((name, uri) for uri in report.changed)
        return SyncOutcome(documents, ((name, report),))

    def _embed_new_texts(self) -> SyncOutcome:
        """Make vectors for texts that were just indexed, if that is quick."""
        seconds = self.settings.search.refresh_ms / 1000
        notes: list[str] = []
        while self._without_vectors:
            name = self._without_vectors.pop()
            try:
                self.backfill(name).run_if_few(seconds)
            except (StoreDamaged, StoreTooNew):
                raise
            except RagstoneError as error:
                notes.append(f"no vectors for the changed files: {error.message}")
        return SyncOutcome(notes=tuple(notes))

    def _cached_followers(self) -> list[str]:
        """Return the followers; they are read again only after a write to the engine's collections."""
        generation = self.components.store.generation(self.scope)
        if self._followers[0] != generation:
            self._followers = (generation, self.followers())
            self.tracker.keep_only(self._followers[1])
        return self._followers[1]

    # ── one collection ────────────────────────────────────────────────────────────────────────────

    def _index(
        self,
        name: str,
        paths: Sequence[str | Path] | None,
        *,
        full: bool,
        progress: Progress | None,
        changed: Sequence[str] | None = None,
    ) -> SyncReport:
        """Make a collection match the folder, without vectors; unread files are remembered by their stamps."""
        is_whole = paths is None and changed is None
        writer = self.writer(name)
        state = self.components.store.state
        unread = self._unread_files(writer)
        if is_whole:
            state.update_collection_state(writer.key, follows_folder=True)
        self._remember_root(name, whole=is_whole)
        source = self.folder(paths, changed=changed)
        result = Reconciler(
            writer, source, {} if full else unread, full=full, progress=progress
        ).run()
        others = {
            uri: file
            for uri, file in unread.items()
            if uri not in result.unread and not source.covers(uri)
        }
        files = {**others, **result.unread}
        if files or unread:
            state.set_unread_files(writer.key, UnreadFiles(writer.chunking.recipe, files))
        report = result.report
        if is_whole:
            # A file that failed for an unknown reason may be readable next time although it looks the same.
            has_unknown_failure = any(skip.uri not in result.unread for skip in report.failed)
            fingerprint = "" if has_unknown_failure else report.fingerprint
            state.update_collection_state(writer.key, fingerprint=fingerprint)
        return report

    def _index_changes(self, name: str, paths: Sequence[str] | None) -> SyncReport:
        """Index changed paths, or scan the folder. A path that is gone is no failure: its document is removed."""
        report = self._index(name, None, full=False, progress=None, changed=paths)
        if paths is None and (report.indexed or report.removed):
            self.mark_synced(name)
        failed = tuple(skip for skip in report.failed if skip.reason != MISSING)
        found = report.found - len(report.failed) + len(failed)
        return replace(report, found=found, failed=failed)

    def _unread_files(self, writer: DocumentWriter) -> dict[str, UnreadFile]:
        """Return the files that gave no text to the present readers."""
        unread = self.components.store.state.unread_files(writer.key)
        if unread.recipe != writer.chunking.recipe:
            return {}
        return dict(unread.files)

    def _update_graph(self, report: SyncReport, name: str, progress: Progress | None) -> SyncReport:
        """Update the code graph and return the report with its result. A failure is a note: documents are stored."""
        from ragstone.indexing.graph.updater import (
            GraphUpdater,
        )  # tree-sitter loads with it, and a search needs none

        updater = GraphUpdater(self)
        graph_report = updater.update_or_report(name, progress=progress)
        return replace(report, graph=graph_report, notes=(*report.notes, *graph_report.notes))

    def _embed(
        self, report: SyncReport, name: str, embed: bool | float, progress: Progress | None
    ) -> SyncReport:
        embedded = 0
        notes = report.notes
        if embed and (
            embed is True or self._count_without_vector(report, name) <= embed * TEXTS_PER_SECOND
        ):
            self.components.store.state.update_collection_state(self.key(name), needs_vectors=False)
            seconds = None if embed is True else float(embed)
            try:
                embedded = self.embed(name, seconds=seconds, progress=progress)
            except StaleSpace as error:
                # The text is stored and found by words. Which vectors it gets is the user's choice.
                notes = (*notes, str(error))
        return replace(
            report, embedded=embedded, pending=self.backfill(name).pending(), notes=notes
        )

    def _count_without_vector(self, report: SyncReport, name: str) -> int:
        """Return about how many texts have no vector: the new ones, or all if earlier refreshes made none."""
        store, key = self.components.store, self.key(name)
        if not store.state.collection_state(key).needs_vectors:
            return report.chunks_added
        if any(info.state == "active" for info in store.vectors.spaces(key.scope)):
            return self.backfill(name).pending()
        collections = store.collections(key.project, key.kind)
        return sum(collection.chunks for collection in collections if collection.name == name)

    def _count_waiting(self, name: str) -> int:
        source = self.folder()
        known = self.components.store.known_files(self.key(name), source.name)
        unread = self._unread_files(self.writer(name))
        items = {item.uri: item for item in source.scan() if isinstance(item, Item)}
        count = sum(uri not in items and source.covers(uri) for uri in known)
        new_items = []
        for uri, item in items.items():
            if uri in unread and unread[uri].stamp == item.stamp:
                continue
            if uri not in known:
                new_items.append(item)
            elif has_changed(source, item, known[uri]):
                count += 1
        if len(new_items) <= _MAX_NEW_FILES_READ:
            new_items = [item for item in new_items if _may_have_text(source, item)]
        return count + len(new_items)

    def _root(self) -> tuple[str, str]:
        """Return the folder as an absolute path, and relative to the home folder; both may move together."""
        base = os.path.realpath(self.settings.base)
        try:
            return base, os.path.relpath(base, os.path.realpath(self.components.home))
        except ValueError:  # two drives of Windows
            return base, ""

    def _remember_root(self, name: str, *, whole: bool) -> None:
        """Store the folder that paths start from; if they start from several folders, store none."""
        state = self.components.store.state
        key = self.key(name)
        is_mixed = (
            not whole
            and state.collection_state(key).root is not None
            and not self.is_rooted_here(name)
        )
        root, relative_root = ("", "") if is_mixed else self._root()
        state.update_collection_state(key, root=root, relative_root=relative_root)


def stale_note(error: RagstoneError) -> str:
    """Return the note for an answer that comes from the stored state because an update failed."""
    reason = "another process is writing" if isinstance(error, StoreBusy) else error.message
    return f"not brought up to date: {reason}; answering from what is stored"


def has_changed(source: FolderSource, item: Item, known: KnownFile) -> bool:
    """Return whether a file differs from its stored document: by its stamp, or else by its content."""
    if item.stamp == known.stamp:
        return False
    try:
        data = source.load(item).data
    except ReadError:
        return True
    return hashlib.sha256(data).hexdigest() != known.content_hash


def _may_have_text(source: FolderSource, item: Item) -> bool:
    from ragstone.read.readers import is_binary  # readers load here only

    try:
        return not is_binary(source.load(item).data, item.uri)
    except ReadError:
        return True


def _size(value: Scalar) -> int | None:
    return value if isinstance(value, int) else None
