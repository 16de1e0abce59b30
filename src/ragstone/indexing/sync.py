"""Keeps the collections of an engine true to its folder.

There is one notion of "up to date": `ensure_current` with one of three policies. `Scan` walks the folder, `Changes`
follows file events, and `Proof` re-reads documents whose files turned out to be different.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.errors import (
    InputError,
    RagstoneError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
)
from ragstone.indexing.added import gone_notes, recheck_added
from ragstone.indexing.changes import (
    Changes,
    ChangeTracker,
    DocumentId,
    OnSync,
    Policy,
    Proof,
    Scan,
    SyncOutcome,
)
from ragstone.indexing.collection import IndexedCollection, must_scan
from ragstone.indexing.scan_embedding import ScanEmbedding
from ragstone.protocols import Progress
from ragstone.sources.files import from_uri
from ragstone.types import CollectionKey, Scope, SyncReport

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.indexing.components import Components
    from ragstone.indexing.events import EventBus
    from ragstone.indexing.graph.updater import GraphUpdater
    from ragstone.sources.added_files import AddedFile

__all__ = [
    "Changes",
    "CollectionSync",
    "DocumentId",
    "OnSync",
    "Policy",
    "Proof",
    "Scan",
    "SyncOutcome",
    "stale_note",
]

_SECONDS_FOR_WRITERS: Final = 0.5
"""How long a search waits for another writer: an answer from the stored state, with a note, is better."""
_RETRY_SECONDS: Final = 5.0
_LATER_SECONDS: Final = 60.0
"""When a failed update is tried again: soon, or later if the folder itself is the problem."""


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

    def collection(self, name: str) -> IndexedCollection:
        """Return a collection of this engine, which may not exist yet."""
        return IndexedCollection(self.components, self.settings, self.events, self.key(name))

    def names(self) -> list[str]:
        """Return the names of the engine's collections that exist."""
        collections = self.components.store.collections(self.scope.project, self.scope.kind)
        keys = [self.key(collection.name) for collection in collections]
        names = [key.name for key in keys if not self.components.remote.owns(key)]
        if self.scope.collections is None:
            return names
        return [name for name in names if name in self.scope.collections]

    def followers(self) -> list[str]:
        """Return the collections that must match this engine's folder."""
        names = []
        for name in self.names():
            collection = self.collection(name)
            if collection.state.follows_folder and collection.is_rooted_here():
                names.append(name)
        return names

    # ── up to date ────────────────────────────────────────────────────────────────────────────────

    def ensure_current(self, policy: Policy) -> SyncOutcome:
        """Update the collections that follow the folder, as the policy says, and return the outcome."""
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
        collection = self.collection(name)
        keep_facts = self.settings.code.graph == "auto"
        result = collection.index_folder(
            paths, full=full, progress=progress, keep_facts=keep_facts
        )
        report = result.report
        if paths is None and (files := collection.added_files()):
            report += recheck_added(collection, files, full=full)
        graph = self.graph_updater().update_or_report(
            name, parsed=result.parsed, progress=progress
        )
        report = replace(report, graph=graph, notes=(*report.notes, *graph.notes))
        report = collection.embed(report, embed, progress)
        if paths is None:
            collection.mark_synced()
            self.tracker.mark_indexed(name, None)
        return replace(report, seconds=time.monotonic() - started)

    def sync_added(self, name: str, *, full: bool, embed: bool | float) -> SyncReport:
        """Check the added files of a collection, embed new texts, and return the ledger."""
        collection = self.collection(name)
        files = collection.added_files()
        if not files:
            return SyncReport()
        report = recheck_added(collection, files, full=full)
        return collection.embed(report, embed) if report.has_changes else report

    def embed(
        self, name: str, *, seconds: float | None = None, progress: Progress | None = None
    ) -> int:
        """Make vectors for texts that have none and return how many; `StaleSpace` if another model made the others."""
        return self.collection(name).backfill().run(seconds=seconds, progress=progress)

    def close(self) -> None:
        """Stop tracking changes."""
        self.tracker.close()
        self._followers = (-1, [])

    # ── the three policies ────────────────────────────────────────────────────────────────────────

    def _scan(self, policy: Scan) -> SyncOutcome:
        """Sync all followers; if an existing index cannot be written now, the outcome has a note."""
        is_indexed = bool(self.names())
        try:
            outcome = self._scan_folder(policy)
        except (StoreDamaged, StoreTooNew):
            raise
        except StoreError as error:
            if policy.required or not is_indexed:
                raise
            return SyncOutcome(notes=(stale_note(error),))
        # The files of the first sync are new, not re-read.
        return outcome if is_indexed else replace(outcome, documents=frozenset())

    def _scan_folder(self, policy: Scan) -> SyncOutcome:
        """Sync all followers. An empty index takes in the folder; an index of given documents is left alone."""
        if self.tracker.enabled:
            self.tracker.collect()
        outcome = SyncOutcome()
        embedding = ScanEmbedding(policy)
        with self.components.store.lock_timeout(policy.wait):
            for name in self._names_to_scan(required=policy.required):
                if report := self._refresh(name, embedding):
                    outcome += _outcome_of(name, report)
                self.tracker.mark_indexed(name, None)
            for name in self.names():
                outcome += _scan_added(self.collection(name), embedding)
        return outcome

    def _names_to_scan(self, *, required: bool) -> list[str]:
        names = self.names()
        followers = [name for name in names if must_scan(self.collection(name), required)]
        if followers:
            return followers
        collections = self.components.store.collections(self.scope.project, self.scope.kind)
        has_documents = any(
            collection.documents for collection in collections if collection.name in names
        )
        is_remote = self.components.remote.owns(self.default)
        return [] if has_documents or is_remote else [self.default.name]

    def _refresh(self, name: str, embedding: ScanEmbedding) -> SyncReport | None:
        """Sync one collection and return the report; None if nothing changed."""
        collection = self.collection(name)
        before = collection.state
        report = collection.index_folder(progress=embedding.policy.progress).report
        if report.chunks_added and not embedding.left:
            collection.update_state(needs_vectors=True)
        if before.synced_at is None or report.has_changes:
            report = embedding.embed(collection, report)
            collection.mark_synced()
            return report
        if embedding.left and before.needs_vectors:
            report = embedding.embed(collection, report)
        if report.failed or report.embedded or report.notes:
            return replace(report, pending=collection.backfill().pending())
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
        uris: dict[str, list[str]] = {}
        for name, uri in documents:
            uris.setdefault(name, []).append(uri)
        outcome = SyncOutcome()
        for name, changed in uris.items():
            added = self.collection(name).added_files(changed)
            others = set(changed).difference(file.uri for file in added)
            if others:
                outcome += self._update_paths(name, {from_uri(uri) for uri in others})
            if added:
                outcome += self._update_paths(name, set(), added)
        return outcome

    def _update_paths(
        self, name: str, paths: set[str] | None, added: Sequence[AddedFile] = ()
    ) -> SyncOutcome:
        """Index paths of one collection, the whole folder, or added files; if that fails, the notes say why."""
        try:
            with self.components.store.lock_timeout(_SECONDS_FOR_WRITERS):
                report = _index_paths(self.collection(name), paths, added)
        except (StoreDamaged, StoreTooNew):
            raise
        except RagstoneError as error:
            is_folder_problem = isinstance(error, InputError)
            delay = _LATER_SECONDS if is_folder_problem else _RETRY_SECONDS
            self._retry_at = time.monotonic() + delay
            return SyncOutcome(notes=(stale_note(error),))
        self.tracker.mark_indexed(name, paths)
        if report.chunks_added:
            self._without_vectors.add(name)
        return _outcome_of(name, report)

    def _embed_new_texts(self) -> SyncOutcome:
        """Make vectors for texts that were just indexed, if that is quick."""
        seconds = self.settings.search.refresh_ms / 1000
        notes: list[str] = []
        while self._without_vectors:
            name = self._without_vectors.pop()
            try:
                self.collection(name).backfill().run_if_few(seconds)
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

    def graph_updater(self) -> GraphUpdater:
        """Return the updater of the code graphs; it loads tree-sitter, which most searches do not need."""
        from ragstone.indexing.graph.updater import GraphUpdater

        return GraphUpdater(self)


def _scan_added(collection: IndexedCollection, embedding: ScanEmbedding) -> SyncOutcome:
    """Check the added files of one collection; the notes name the ones that are gone."""
    files = collection.added_files()
    if not files:
        return SyncOutcome()
    report = recheck_added(collection, files)
    if not report.has_changes:
        return SyncOutcome()
    if report.chunks_added:
        if not embedding.left:
            collection.update_state(needs_vectors=True)
        report = embedding.embed(collection, report)
    return _outcome_of(collection.key.name, report)


def _index_paths(
    collection: IndexedCollection, paths: set[str] | None, added: Sequence[AddedFile]
) -> SyncReport:
    """Index added files if there are any, or else paths of the folder, and return the ledger."""
    if added:
        return recheck_added(collection, added)
    return collection.index_changes(None if paths is None else sorted(paths))


def _outcome_of(name: str, report: SyncReport) -> SyncOutcome:
    """Return the outcome for a collection; the notes name the added files that are gone."""
    documents = frozenset((name, uri) for uri in report.changed)
    return SyncOutcome(documents, ((name, report),), gone_notes(report))


def stale_note(error: RagstoneError) -> str:
    """Return the note for an answer that comes from the stored state because an update failed."""
    reason = "another process is writing" if isinstance(error, StoreBusy) else error.message
    return f"not brought up to date: {reason}; answering from what is stored"
