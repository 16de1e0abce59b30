"""The verbs for what comes from outside the folder: each takes in, embeds, and returns the ledger of a sync."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ragstone.engine.components import Parts
from ragstone.errors import StaleSpace
from ragstone.indexing import command_help as captured
from ragstone.indexing.pipeline import Ledger
from ragstone.indexing.sync import Keeper
from ragstone.indexing.web_pages import Pages
from ragstone.protocols import Progress
from ragstone.sources.command_help.help import HelpLimits, capture
from ragstone.types import AddReport, SyncReport

__all__ = ["HelpLimits", "Outside"]

OFF = "retrieval is switched off (rag.enabled), nothing was done"


@dataclass(frozen=True, slots=True)
class Outside:
    """Takes pages and help into the collections of one engine."""

    parts: Parts
    keeper: Keeper

    def add_page(self, url: str, collection: str, *, embed: bool) -> AddReport:
        """Return what taking in a page changed; raises where it cannot be."""
        if not self.parts.settings.rag.enabled:
            return AddReport(0, 0, 0, notes=(OFF,))
        report = Pages.of(self.parts, collection).add(url)
        embedded, pending, notes = self._embedded([collection], embed=embed)
        return replace(report, embedded=embedded, pending=pending, notes=(*report.notes, *notes))

    def recheck_pages(self, collections: Sequence[str], *, embed: bool) -> SyncReport:
        """Return the ledger of asking about every page again."""
        if not self.parts.settings.rag.enabled:
            return _nothing()
        begun, ledger = time.monotonic(), Ledger()
        for name in collections:
            Pages.of(self.parts, name).recheck(ledger)
        return self.with_vectors(ledger.closed(begun), collections if ledger.indexed else (), embed=embed)

    def capture(self, program: str, collection: str, *, limits: HelpLimits | None, inside: Path) -> SyncReport:
        """Return the ledger of a program's help taken in, by words alone; raises where it gives none."""
        if not self.parts.settings.rag.enabled:
            return _nothing()
        begun = time.monotonic()
        found = capture(program, limits=limits or HelpLimits(), project=inside)
        ledger = captured.store(self.parts, collection, found)
        return ledger.closed(begun, notes=found.notes)

    def with_vectors(
        self, report: SyncReport, collections: Sequence[str], *, embed: bool, progress: Progress | None = None
    ) -> SyncReport:
        """Return a ledger with the vectors that were made for what it tells of."""
        begun = time.monotonic()
        embedded, pending, notes = self._embedded(collections, embed=embed, progress=progress)
        seconds = report.seconds + time.monotonic() - begun
        return replace(report, embedded=embedded, pending=pending, notes=(*report.notes, *notes), seconds=seconds)

    def _embedded(
        self, collections: Sequence[str], *, embed: bool, progress: Progress | None = None
    ) -> tuple[int, int, list[str]]:
        """Return how many vectors were made, how many are still to come, and what kept them from being made."""
        embedded, notes = 0, []
        for name in collections if embed else ():
            try:
                embedded += self.keeper.embed(name, progress=progress)
            except StaleSpace as error:
                notes.append(str(error))
        return embedded, sum(self.keeper.pending(name) for name in collections), notes


def _nothing() -> SyncReport:
    """Return the ledger of an engine that is switched off."""
    return Ledger().closed(time.monotonic(), notes=[OFF])
