"""One collection of an engine: its writer, its vectors, its state, and its match with the folder."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from ragstone.errors import Conflict, ProviderError, RagstoneError, StaleSpace
from ragstone.indexing.backfill import TEXTS_PER_SECOND, VectorBackfill, outage_note
from ragstone.indexing.collection_writer import ChunkingConfig, DocumentWriter
from ragstone.indexing.components import is_shared, store_notes
from ragstone.indexing.ownership import require_takeover
from ragstone.indexing.reconcile import Reconciler, Reconciliation
from ragstone.read.file_formats import FORMAT_SUFFIXES, IMAGE_SUFFIXES, explain_refusal
from ragstone.sources.added_files import ADDED, AddedFile
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import MISSING, FolderSource
from ragstone.store.home_folder import DATABASE, machine_path
from ragstone.types import (
    CollectionState,
    Skip,
    SyncReport,
    UnreadFile,
    UnreadFiles,
)

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.indexing.components import Components
    from ragstone.indexing.events import EventBus
    from ragstone.protocols import Progress
    from ragstone.sources.folder.source import FolderSource
    from ragstone.types import CollectionKey, CollectionStateChanges


@dataclass(frozen=True, slots=True)
class IndexedCollection:
    """A collection that can be written, embedded and synced with the engine's folder."""

    components: Components
    settings: Settings
    events: EventBus
    key: CollectionKey

    @property
    def state(self) -> CollectionState:
        """Return the stored state of the collection: its root, its last sync, its graph."""
        return self.components.store.state.collection_state(self.key)

    def update_state(self, **changes: Unpack[CollectionStateChanges]) -> None:
        """Store changes of the collection's state."""
        self.components.store.state.update_collection_state(self.key, **changes)

    def mark_synced(self) -> None:
        """Store the time of this sync."""
        self.update_state(synced_at=time.time())

    def writer(self) -> DocumentWriter:
        """Return the writer of the collection; create the collection if it is missing.

        Raises `Conflict` if another server answers for the collection.
        """
        self._require_local()
        limits = self.components.limits_of(self.key.project)
        own = self.components.store.ensure_collection(self.key, limits=limits).settings
        chunking = ChunkingConfig.from_settings(self.settings, own)
        return DocumentWriter(self.components.store, self.key, chunking, self.events, limits)

    def _require_local(self) -> None:
        if self.components.remote.owns(self.key):
            provider = self.settings.rag.vector_store.provider
            raise Conflict(
                f"the collection {self.key.name!r} is on another server ({provider}) and is search only",
                hint="name another collection, or another rag.vector_store.provider",
            )

    def backfill(self) -> VectorBackfill:
        """Return the maker of vectors for the collection."""
        return VectorBackfill(self.components, self.key)

    # ── the folder ────────────────────────────────────────────────────────────────────────────────

    def index_folder(
        self,
        paths: Sequence[str | Path] | None = None,
        *,
        changed: Sequence[str] | None = None,
        full: bool = False,
        progress: Progress | None = None,
        keep_facts: bool = False,
    ) -> Reconciliation:
        """Make the collection match the folder, some paths of it, or changed files; without vectors."""
        is_complete = paths is None and changed is None
        if is_complete and self.belongs_elsewhere():
            require_takeover(self, full=full)
        writer = self.writer()
        unread = self.unread_files(writer.chunking.recipe)
        if is_complete:
            self.update_state(follows_folder=True)
        self._remember_root(is_complete=is_complete)
        source = folder_source(self.settings, paths, changed=changed)
        skip_files = {} if full else unread
        reconciler = Reconciler(writer, source, skip_files, full, progress, keep_facts)
        reconciler.stores_what_fits = True
        result = reconciler.run()
        self._store_unread_files(writer, source, unread, result.unread)
        report = result.report
        if is_complete:
            # A file that failed for an unknown reason may be readable next time although it looks the same.
            has_unknown_failure = any(skip.uri not in result.unread for skip in report.failed)
            fingerprint = "" if has_unknown_failure else report.fingerprint
            self.update_state(fingerprint=fingerprint)
        return result

    def index_changes(self, paths: Sequence[str] | None) -> SyncReport:
        """Index changed paths, or the whole folder. A path that is gone is no failure: its document is removed."""
        report = self.index_folder(changed=paths).report
        if paths is None and (report.indexed or report.removed):
            self.mark_synced()
        failed = tuple(skip for skip in report.failed if skip.reason != MISSING)
        missing = len(report.failed) - len(failed)
        return replace(report, found=report.found - missing, failed=failed)

    def is_rooted_here(self) -> bool:
        """Return whether the paths of the documents start at the engine's folder."""
        state = self.state
        root, relative_root = self._root()
        if state.root and state.root == root:
            return True
        return bool(state.relative_root) and state.relative_root == relative_root

    @property
    def has_foreign_files(self) -> bool:
        """Return whether the files of the documents may be on another machine, so that they cannot be checked here."""
        return is_shared(self.components) and not self.is_rooted_here()

    def added_files(self, uris: Sequence[str] | None = None) -> list[AddedFile]:
        """Return the files that were added by their paths, or those of some uris; none if they are elsewhere."""
        if self.has_foreign_files:
            return []
        store = self.components.store
        files = []
        for uri in store.known_files(self.key, ADDED, uris=uris):
            document = store.document(self.key, uri)
            file = AddedFile.from_metadata(uri, document.metadata) if document else None
            if file is not None:
                files.append(file)
        return files

    def belongs_elsewhere(self) -> bool:
        """Return whether the home is shared, and the collection has the files of another folder that still exists.

        A sync with this folder would remove all of them. If machines share the store, each has folders of its own,
        so the other folder need not exist here.
        """
        if is_shared(self.components):
            return bool(self.state.root) and not self.is_rooted_here()
        home = os.path.realpath(self.components.home)
        if Path(home).is_relative_to(os.path.realpath(self.settings.root)):
            return False
        other = self.state.root
        return bool(other) and not self.is_rooted_here() and os.path.isdir(str(other))

    # ── vectors ───────────────────────────────────────────────────────────────────────────────────

    def embed(
        self, report: SyncReport, embed: bool | float, progress: Progress | None = None
    ) -> SyncReport:
        """Make vectors for the texts that a sync added, and return its report with their counts.

        If `embed` is a number of seconds, nothing is embedded unless the time is about enough.
        """
        backfill = self.backfill()
        notes = (*report.notes, *store_notes(self.components))
        usage = report.usage
        seconds = None if embed is True else float(embed)
        if seconds is None or self._is_quick_to_embed(report, seconds):
            self.update_state(needs_vectors=False)
            usage_before = backfill.usage()
            try:
                backfill.run(seconds=seconds, progress=progress)
            except StaleSpace as error:
                # The text is stored and found by words. Which vectors it gets is the user's choice.
                notes = (*notes, str(error))
            except ProviderError as error:
                # The missing vectors are the queue: the next sync or search continues.
                self.update_state(needs_vectors=True)
                notes = (*notes, outage_note(self.components.settings, error))
            usage += backfill.usage() - usage_before
        return replace(
            report,
            embedded=backfill.stored,
            pending=backfill.pending(),
            notes=notes,
            usage=usage,
        )

    def _is_quick_to_embed(self, report: SyncReport, seconds: float) -> bool:
        """Return whether a time limit is about enough for all texts without vectors."""
        if not seconds:
            return False
        return self._count_unembedded(report) <= seconds * TEXTS_PER_SECOND

    def _count_unembedded(self, report: SyncReport) -> int:
        """Return about how many texts have no vector: the new ones, or all if earlier syncs embedded none."""
        if not self.state.needs_vectors:
            return report.chunks_added
        store = self.components.store
        spaces = store.vectors.spaces(self.key.scope)
        if any(info.state == "active" for info in spaces):
            return self.backfill().pending()
        for collection in store.collections(self.key.project, self.key.kind):
            if collection.name == self.key.name:
                return collection.chunks
        return 0

    # ── helpers ───────────────────────────────────────────────────────────────────────────────────

    def unread_files(self, recipe: str) -> dict[str, UnreadFile]:
        """Return the files that gave no text to the present readers, whose recipe this is."""
        unread = self.components.store.state.unread_files(self.key)
        return dict(unread.files) if unread.recipe == recipe else {}

    def _store_unread_files(
        self,
        writer: DocumentWriter,
        source: FolderSource,
        before: Mapping[str, UnreadFile],
        now: Mapping[str, UnreadFile],
    ) -> None:
        """Store the unread files of this run, and the earlier ones that the run did not look at."""
        files = dict(now)
        for uri, file in before.items():
            if uri not in now and not source.covers(uri):
                files[uri] = file
        if files or before:
            unread = UnreadFiles(writer.chunking.recipe, files)
            self.components.store.state.set_unread_files(self.key, unread)

    def _root(self) -> tuple[str, str]:
        """Return the folder as an absolute path, and relative to the home folder; both may move together.

        In a store that machines share, the path begins with the name of the machine.
        """
        base = os.path.realpath(self.settings.base)
        if is_shared(self.components):
            return machine_path(base), ""
        try:
            return base, os.path.relpath(base, os.path.realpath(self.components.home))
        except ValueError:  # two drives of Windows
            return base, ""

    def _remember_root(self, *, is_complete: bool) -> None:
        """Store the folder that paths start from; if they start from several folders, store none."""
        root, relative_root = self._root()
        if not is_complete and self.state.root is not None and not self.is_rooted_here():
            root = relative_root = ""
        self.update_state(root=root, relative_root=relative_root)


def must_scan(collection: IndexedCollection, required: bool) -> bool:
    """Return whether a scan reads the folder; if its files are on another machine, only if that is required."""
    return collection.state.follows_folder and (required or not collection.has_foreign_files)


def skip_reason(settings: Settings, path: str) -> str:
    """Return why a sync skips a file of the folder; empty if it does not. The file is not opened."""
    try:
        for entry in folder_source(settings, [path]).scan():
            if isinstance(entry, Skip) and entry.uri == path and entry.reason != MISSING:
                return entry.reason
    except RagstoneError:  # a path outside of the folder
        return ""
    return ""


def folder_source(
    settings: Settings,
    paths: Sequence[str | Path] | None = None,
    *,
    changed: Sequence[str] | None = None,
) -> FolderSource:
    """Return the files of the configured folder, those at some paths, or those that changed."""
    rules = settings.sources
    return FolderSource(
        settings.base,
        include=rules.include,
        include_origin=settings.origin("sources.include"),
        exclude=rules.exclude,
        limits=FileLimits(
            rules.max_file_bytes,
            rules.max_files,
            rules.max_document_bytes,
            FORMAT_SUFFIXES | IMAGE_SUFFIXES,
        ),
        refuse=partial(explain_refusal, ocr=settings.ocr is not None),
        git=rules.git,
        secret_files=rules.secret_files,
        databases=(settings.home / DATABASE,),
        home=settings.home,
        only=paths,
        changed=changed,
    )
