"""Keeping a collection true to its folder and its vectors true to its texts: when to look, what is left undone."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Unpack

from ragstone.config.settings import DEFAULT
from ragstone.engine.components import Parts
from ragstone.errors import RagstoneError, ReadError, StaleSpace
from ragstone.protocols import Progress
from ragstone.sources.folder.source import MISSING, FolderSource
from ragstone.types import (
    CollectionState,
    CollectionStateChanges,
    Item,
    KnownFile,
    Scope,
    SpaceInfo,
    SpaceState,
    SyncReport,
    UnreadFile,
    UnreadFiles,
)

TEXTS_A_SECOND: Final = 200
"""About what the built-in model does. Where there is far more to embed than the time allows, the few vectors it would
give help nobody, and whoever waits for an answer waits for nothing."""

MOST_LOOKED_INTO: Final = 500
"""Of more new files than this it is not asked whether each is a text."""

SourceOf = Callable[..., FolderSource]


@dataclass(frozen=True, slots=True)
class Keeper:
    """Syncs and embeds the collections of one engine."""

    parts: Parts
    source: SourceOf

    def sync(
        self,
        collection: str,
        paths: Sequence[str | Path] | None = None,
        *,
        full: bool = False,
        embed: bool | float = True,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Make a collection match the folder, embed what is new, and return the ledger."""
        begun = time.monotonic()
        report = self._take_in(collection, paths, full=full, progress=progress)
        report = self._with_graph(report, collection, progress)
        report = self._with_vectors(report, collection, embed, progress)
        if paths is None:
            self.note_synced(collection)
        return replace(report, seconds=time.monotonic() - begun)

    def refresh(
        self, default: str, *, embed: bool | float = True, progress: Progress | None = None, wait: float | None = None
    ) -> SyncReport | None:
        """Sync whatever was synced as a whole before and return what changed; None where nothing did.

        An empty index takes the folder in; one that holds only given documents, or some named paths, is left alone.
        """
        store = self.parts.store
        stored = self.parts.collections()
        names = [one.name for one in stored if self._state(one.name).follows_folder]
        if not names and not any(one.documents for one in stored):
            names = [default]
        reports = []
        with store.lock_timeout(wait):
            for name in names:
                first = self._state(name).synced_at is None
                report = self._take_in(name, None, full=False, progress=progress)
                if report.chunks_added and not embed:
                    self._update(name, needs_vectors=True)
                if first or report.indexed or report.removed:
                    report = self._with_vectors(report, name, embed, progress)
                    self.note_synced(name)
                    reports.append(report)
                    continue
                if embed and self._state(name).needs_vectors:
                    report = self._with_vectors(report, name, embed, progress)
                if report.failed or report.embedded:
                    reports.append(replace(report, pending=self.pending(name)))
        return _together(reports)

    def followed(self) -> list[str]:
        """Return the collections that are meant to match the folder of these settings."""
        stored = self.parts.collections()
        return [one.name for one in stored if self._state(one.name).follows_folder and self.rooted(one.name)]

    def rooted(self, collection: str) -> bool:
        """Return whether the paths of a collection's files start from the folder of these settings."""
        state = self._state(collection)
        root, relative_root = self._root()
        return bool(root and root == state.root) or bool(relative_root and relative_root == state.relative_root)

    def bring_in(self, collection: str, paths: Sequence[str] | None) -> SyncReport:
        """Take in what changed, or a look at everything, without vectors; return the ledger.

        A path that is gone is no failure here: what was known of it is removed.
        """
        report = self._take_in(collection, paths, full=False, progress=None, following=paths is not None)
        if paths is None and (report.indexed or report.removed):
            self.note_synced(collection)
        failed = tuple(skip for skip in report.failed if skip.reason != MISSING)
        return replace(report, found=report.found - len(report.failed) + len(failed), failed=failed)

    def note_synced(self, collection: str) -> None:
        """Remember that a collection was level with the folder now."""
        self._update(collection, synced_at=time.time())

    def embed_few(self, collection: str, *, seconds: float) -> int:
        """Give vectors to texts that wait for one, if they are so few that the time may do; return how many."""
        parts, scope = self.parts, self._scope(collection)
        few = seconds * TEXTS_A_SECOND
        for info in parts.store.vectors.spaces(scope):
            if info.state == "active" and info.embedded and 0 < info.texts - info.embedded <= few:
                current = parts.embedder(parts.settings.rag.embedding_provider).space
                if info.space.fingerprint == current.fingerprint and self._storage() in (None, info.storage):
                    return parts.fill(scope, info, seconds=seconds)
        return 0

    def waiting(self) -> int:
        """Return how many files were changed, made or removed since they were last looked at."""
        return sum(self._waiting(name) for name in self.followed())

    def embed(self, collection: str, *, seconds: float | None = None, progress: Progress | None = None) -> int:
        """Give vectors to texts that have none and return how many; `StaleSpace` if another model made the others."""
        info = self.space(collection)
        return self.parts.fill(self._scope(collection), info, seconds=seconds, progress=progress)

    def reembed(self, collection: str, *, progress: Progress | None = None) -> int:
        """Build the configured embedder's vectors beside the old ones, then switch; return how many were made.

        Vectors of that embedder that are there already are kept, unless they are damaged.
        """
        info = self.space(collection, state="building")
        damaged = self.parts.damaged_vectors(info)
        if damaged:
            self.parts.store.vectors.remove(self.parts.project, info.id, damaged)
        done = self.parts.fill(self._scope(collection), info, progress=progress)
        self.parts.store.vectors.activate_space(self.parts.key(collection), info.id)
        return done

    def space(self, collection: str, *, state: SpaceState = "active") -> SpaceInfo:
        """Return the configured embedder's space of a collection, made now if it was not there."""
        parts = self.parts
        space = parts.embedder(parts.settings.rag.embedding_provider).space
        parts.store.ensure_collection(parts.key(collection))
        try:
            return parts.store.vectors.ensure_space(parts.key(collection), space, storage=self._storage(), state=state)
        except StaleSpace as error:
            spaces = parts.store.vectors.spaces(self._scope(collection))
            old = next((info for info in spaces if info.state == "active"), None)
            made = f"{old.space.model} ({old.space.embedder}, {old.storage})" if old else "another model"
            wanted = ", ".join(filter(None, (space.embedder, self._storage())))
            raise StaleSpace(
                f"the vectors of {collection!r} were made by {made}, and the settings now say {space.model} ({wanted})",
                hint="`ragstone reembed` builds the new ones beside the old and switches; until then the old answer",
            ) from error

    def _storage(self) -> str | None:
        """Return how vectors are to be kept; None where nobody has set it, for the store to keep to what is there.

        Another storage means to embed everything again, which is not to come with a new default.
        """
        settings = self.parts.settings
        return None if settings.origin("embed.storage") == DEFAULT else settings.embed.storage

    def last_sync(self) -> float | None:
        """Return when any collection was last synced, in seconds since 1970."""
        times = [self._state(one.name).synced_at for one in self.parts.collections()]
        return max((at for at in times if at is not None), default=None)

    def fingerprint(self, collection: str) -> str | None:
        """Return the fingerprint of the folder that the last whole sync of a collection saw."""
        return self._state(collection).fingerprint

    def pending(self, collection: str) -> int:
        """Return how many texts of a collection wait for a vector."""
        spaces = self.parts.store.vectors.spaces(self._scope(collection))
        return max((info.texts - info.embedded for info in spaces if info.state == "active"), default=0)

    def _take_in(
        self,
        collection: str,
        paths: Sequence[str | Path] | None,
        *,
        full: bool,
        progress: Progress | None,
        following: bool = False,
    ) -> SyncReport:
        """Return the ledger of the words' part; files that gave no text are remembered by their stamps."""
        writer = self.parts.writer(collection)
        before = self._unread(collection, writer.cut.recipe)
        if paths is None:
            self._update(collection, follows_folder=True)
        self._note_root(collection, whole=paths is None)
        source = self.source(None, changed=paths) if following else self.source(paths)
        report, unread = writer.sync(source, full=full, unread={} if full else before, progress=progress)
        elsewhere = {uri: one for uri, one in before.items() if uri not in unread and not source.covers(uri)}
        files = {**elsewhere, **unread}
        if files or before:
            self.parts.store.state.set_unread_files(self.parts.key(collection), UnreadFiles(writer.cut.recipe, files))
        if paths is None:
            # A file that failed may be readable the next time without looking any different, if it is not to blame.
            sound = all(skip.uri in unread for skip in report.failed)
            self._update(collection, fingerprint=report.fingerprint if sound else "")
        return report

    def _unread(self, collection: str, recipe: str) -> dict[str, UnreadFile]:
        """Return the files that gave no text to these readers, by their uris."""
        unread = self.parts.store.state.unread_files(self.parts.key(collection))
        return dict(unread.files) if unread.recipe == recipe else {}

    def _with_graph(self, report: SyncReport, collection: str, progress: Progress | None) -> SyncReport:
        """Return the ledger with what became of the graph; where that fails, the documents are stored all the same."""
        from ragstone.indexing.graph import Grapher  # passes over programs: nothing that a search should wait for
        from ragstone.indexing.graph.passes import FAULTS

        try:
            told = Grapher(self.parts).bring_level(collection, progress=progress)
        except FAULTS as error:
            why = error.message if isinstance(error, RagstoneError) else f"{type(error).__name__}: {error}"
            return replace(report, notes=(*report.notes, f"the graph of the code is not up to date: {why}"))
        return replace(report, graph=told, notes=(*report.notes, *told.notes))

    def _with_vectors(
        self, report: SyncReport, collection: str, embed: bool | float, progress: Progress | None
    ) -> SyncReport:
        embedded, notes = 0, report.notes
        if embed and (embed is True or self._waiting_for_vectors(report, collection) <= embed * TEXTS_A_SECOND):
            if self._state(collection).needs_vectors:
                self._update(collection, needs_vectors=False)
            try:
                seconds = None if embed is True else float(embed)
                embedded = self.embed(collection, seconds=seconds, progress=progress)
            except StaleSpace as error:
                # The text is stored and found by words; which vectors it gets is the user's choice.
                notes = (*notes, str(error))
        return replace(report, embedded=embedded, pending=self.pending(collection), notes=notes)

    def _waiting(self, collection: str) -> int:
        source = self.source(None)
        known = self.parts.store.known_files(self.parts.key(collection), source.name)
        unread = self._unread(collection, self.parts.writer(collection).cut.recipe)
        found = {item.uri: item for item in source.scan() if isinstance(item, Item)}
        items = {uri: item for uri, item in found.items() if uri not in unread or unread[uri].stamp != item.stamp}
        new = [item for item in items.values() if item.uri not in known]
        if len(new) <= MOST_LOOKED_INTO:
            new = [item for item in new if not _no_text(source, item)]
        differ = [item for item in items.values() if item.uri in known and changed(source, item, known[item.uri])]
        return len(new) + len(differ) + sum(uri not in found and source.covers(uri) for uri in known)

    def _root(self) -> tuple[str, str]:
        home, base = (os.path.realpath(path) for path in (self.parts.home, self.parts.settings.base))
        try:
            return base, os.path.relpath(base, home)
        except ValueError:  # two drives of Windows
            return base, ""

    def _note_root(self, collection: str, *, whole: bool) -> None:
        """Remember the folder that paths start from; files from below several are in none that could be looked at."""
        mixed = not whole and self._state(collection).root is not None and not self.rooted(collection)
        root, relative_root = ("", "") if mixed else self._root()
        self._update(collection, root=root, relative_root=relative_root)

    def _waiting_for_vectors(self, report: SyncReport, collection: str) -> int:
        """Return about how many texts have no vector: those just added, or all that earlier refreshes left behind."""
        if not self._state(collection).needs_vectors:
            return report.chunks_added
        stored = self.parts.collections()
        spaces = [info for info in self.parts.store.vectors.spaces(self._scope(collection)) if info.state == "active"]
        return self.pending(collection) if spaces else sum(one.chunks for one in stored if one.name == collection)

    def _scope(self, collection: str) -> Scope:
        return self.parts.scope((collection,))

    def _state(self, collection: str) -> CollectionState:
        return self.parts.store.state.collection_state(self.parts.key(collection))

    def _update(self, collection: str, **changes: Unpack[CollectionStateChanges]) -> None:
        before = self._state(collection)
        if replace(before, **changes) != before:
            self.parts.store.state.update_collection_state(self.parts.key(collection), **changes)


def changed(source: FolderSource, item: Item, known: KnownFile) -> bool:
    """Return whether a file is not what is known of it: by its stamp if that can be trusted, else by its content."""
    if item.stamp == known.stamp:
        return False
    try:
        return hashlib.sha256(source.load(item).data).hexdigest() != known.content_hash
    except ReadError:
        return True


def _no_text(source: FolderSource, item: Item) -> bool:
    """Return whether a file that is not stored need not be: one so new that nobody could remember it by its stamp."""
    from ragstone.read.readers import is_binary  # a search does not wait for it

    try:
        return is_binary(source.load(item).data, item.uri)
    except ReadError:
        return False


def _together(reports: Sequence[SyncReport]) -> SyncReport | None:
    """Return several ledgers as one."""
    if len(reports) <= 1:
        return reports[0] if reports else None
    return SyncReport(
        found=sum(one.found for one in reports),
        indexed=sum(one.indexed for one in reports),
        unchanged=sum(one.unchanged for one in reports),
        skipped=tuple(skip for one in reports for skip in one.skipped),
        failed=tuple(skip for one in reports for skip in one.failed),
        removed=sum(one.removed for one in reports),
        chunks_added=sum(one.chunks_added for one in reports),
        chunks_kept=sum(one.chunks_kept for one in reports),
        embedded=sum(one.embedded for one in reports),
        pending=sum(one.pending for one in reports),
        seconds=sum(one.seconds for one in reports),
        notes=tuple(dict.fromkeys(note for one in reports for note in one.notes)),
        remarks=tuple(dict.fromkeys(remark for one in reports for remark in one.remarks)),
        changed=tuple(uri for one in reports for uri in one.changed),
        gone=tuple(uri for one in reports for uri in one.gone),
    )
