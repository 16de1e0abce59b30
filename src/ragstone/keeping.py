"""Keeping a collection true to its folder and its vectors true to its texts: when to look, what is left undone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ragstone.errors import StaleSpace
from ragstone.parts import Parts
from ragstone.protocols import Progress
from ragstone.sources.files import FileSource
from ragstone.types import Scope, SpaceInfo, SpaceState, Stamp, SyncReport

_SYNCED: Final = "last_sync"
_FINGERPRINT: Final = "fingerprint"
_LEFT_OUT: Final = "left_out"
_WHOLE: Final = "whole"
"""Set when a sync of the whole folder begins: from then on the collection is meant to match it."""
_BEHIND: Final = "behind"
"""Set where a refresh was to make no vectors: the next one that is to makes them too."""

TEXTS_A_SECOND: Final = 200
"""About what the built-in model does. Where there is far more to embed than the time allows, the few vectors it would
give help nobody, and whoever waits for an answer waits for nothing."""

SourceOf = Callable[[Sequence[str | Path] | None], FileSource]


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
        report = self._with_vectors(report, collection, embed, progress)
        if paths is None:
            self._note(collection, _SYNCED, repr(time.time()))
        return replace(report, seconds=time.monotonic() - begun)

    def refresh(
        self, default: str, *, embed: bool | float = True, progress: Progress | None = None, wait: float | None = None
    ) -> SyncReport | None:
        """Sync whatever was synced as a whole before and return what changed; None where nothing did.

        An empty index takes the folder in; one that holds only given documents, or some named paths, is left alone.
        """
        store = self.parts.store
        stored = store.collections(self.parts.project)
        names = [one.name for one in stored if self._noted(one.name, _WHOLE) is not None]
        if not names and not any(one.documents for one in stored):
            names = [default]
        reports = []
        with store.patience(wait):
            for name in names:
                first = self._noted(name, _SYNCED) is None
                report = self._take_in(name, None, full=False, progress=progress)
                if report.chunks_added and not embed:
                    self._note(name, _BEHIND, "1")
                if first or report.indexed or report.removed or report.failed:
                    report = self._with_vectors(report, name, embed, progress)
                    self._note(name, _SYNCED, repr(time.time()))
                    reports.append(report)
                elif embed and self._noted(name, _BEHIND):
                    self._with_vectors(report, name, embed, progress)
        return _together(reports)

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
            self.parts.store.remove_vectors(self.parts.project, info.id, damaged)
        done = self.parts.fill(self._scope(collection), info, progress=progress)
        self.parts.store.activate_space(self.parts.project, collection, info.id)
        return done

    def space(self, collection: str, *, state: SpaceState = "active") -> SpaceInfo:
        """Return the configured embedder's space of a collection, made now if it was not there."""
        parts = self.parts
        space = parts.embedder(parts.settings.rag.embedding_provider).space
        parts.store.ensure_collection(parts.project, collection)
        try:
            return parts.store.ensure_space(
                parts.project, collection, space, storage=parts.settings.embed.storage, state=state
            )
        except StaleSpace as error:
            spaces = parts.store.spaces(self._scope(collection))
            old = next((info for info in spaces if info.state == "active"), None)
            made = f"{old.space.model} ({old.space.embedder}, {old.storage})" if old else "another model"
            raise StaleSpace(
                f"the vectors of {collection!r} were made by {made}, and the settings now say {space.model} "
                f"({space.embedder}, {parts.settings.embed.storage})",
                hint="`ragstone reembed` builds the new ones beside the old and switches; until then the old answer",
            ) from error

    def last_sync(self) -> float | None:
        """Return when any collection was last synced, in seconds since 1970."""
        notes = (self._noted(one.name, _SYNCED) for one in self.parts.store.collections(self.parts.project))
        return max((float(note) for note in notes if note), default=None)

    def fingerprint(self, collection: str) -> str | None:
        """Return the fingerprint of the folder that the last whole sync of a collection saw."""
        return self._noted(collection, _FINGERPRINT)

    def pending(self, collection: str) -> int:
        """Return how many texts of a collection wait for a vector."""
        spaces = self.parts.store.spaces(self._scope(collection))
        return max((info.texts - info.embedded for info in spaces if info.state == "active"), default=0)

    def _take_in(
        self, collection: str, paths: Sequence[str | Path] | None, *, full: bool, progress: Progress | None
    ) -> SyncReport:
        """Return the ledger of the words' part; files that turned out to be no text are remembered by their stamps."""
        left_out = {} if full else _stamps(self._noted(collection, _LEFT_OUT))
        writer = self.parts.writer(collection)
        if paths is None:
            self._note(collection, _WHOLE, "1")
        report, still_out = writer.sync(self.source(paths), full=full, left_out=left_out, progress=progress)
        if paths is None:
            self._note(collection, _LEFT_OUT, json.dumps({uri: _fields(stamp) for uri, stamp in still_out.items()}))
            # A file that failed may be readable the next time without looking any different.
            self._note(collection, _FINGERPRINT, "" if report.failed else report.fingerprint)
        return report

    def _with_vectors(
        self, report: SyncReport, collection: str, embed: bool | float, progress: Progress | None
    ) -> SyncReport:
        embedded, notes = 0, report.notes
        if embed and (embed is True or self._waiting_for_vectors(report, collection) <= embed * TEXTS_A_SECOND):
            if self._noted(collection, _BEHIND):
                self._note(collection, _BEHIND, "")
            try:
                seconds = None if embed is True else float(embed)
                embedded = self.embed(collection, seconds=seconds, progress=progress)
            except StaleSpace as error:
                # The text is stored and found by words; which vectors it gets is the user's choice.
                notes = (*notes, str(error))
        return replace(report, embedded=embedded, pending=self.pending(collection), notes=notes)

    def _waiting_for_vectors(self, report: SyncReport, collection: str) -> int:
        """Return about how many texts have no vector: those just added, or all that earlier refreshes left behind."""
        if not self._noted(collection, _BEHIND):
            return report.chunks_added
        stored = self.parts.store.collections(self.parts.project)
        spaces = [info for info in self.parts.store.spaces(self._scope(collection)) if info.state == "active"]
        return self.pending(collection) if spaces else sum(one.chunks for one in stored if one.name == collection)

    def _scope(self, collection: str) -> Scope:
        return Scope(self.parts.project, (collection,))

    def _noted(self, collection: str, key: str) -> str | None:
        return self.parts.store.note(self.parts.project, f"{key}:{collection}")

    def _note(self, collection: str, key: str, value: str) -> None:
        if self._noted(collection, key) != value:
            self.parts.store.set_note(self.parts.project, f"{key}:{collection}", value)


def _stamps(note: str | None) -> dict[str, Stamp]:
    return {uri: Stamp(*fields) for uri, fields in json.loads(note or "{}").items()}


def _fields(stamp: Stamp) -> tuple[int, int, int, int]:
    return stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode


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
        remarks=tuple(remark for one in reports for remark in one.remarks),
    )
