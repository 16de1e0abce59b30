"""Makes the vectors of one scan of the folder, within its time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ragstone.errors import ConfigError
from ragstone.indexing.backfill import outage_note
from ragstone.indexing.components import store_notes

if TYPE_CHECKING:
    from ragstone.indexing.changes import Scan
    from ragstone.indexing.collection import IndexedCollection
    from ragstone.types import SyncReport


@dataclass(slots=True)
class ScanEmbedding:
    """Makes the vectors of one scan; all its collections share the time."""

    policy: Scan
    left: bool | float = field(init=False)
    """Whether to make vectors; a number is the seconds that are left."""

    def __post_init__(self) -> None:
        self.left = self.policy.embed

    def embed(self, collection: IndexedCollection, report: SyncReport) -> SyncReport:
        """Return the report of a collection after embedding.

        A model that cannot be used is a note: an answer by words comes first.
        """
        started = time.monotonic()
        try:
            return collection.embed(report, self.left, self.policy.progress)
        except ConfigError as error:
            if self.policy.required:
                raise
            collection.update_state(needs_vectors=True)
            outage = outage_note(collection.components.settings, error)
            notes = (*report.notes, *store_notes(collection.components), outage)
            return replace(report, notes=notes)
        finally:
            if not isinstance(self.left, bool):
                self.left = max(0.0, self.left - (time.monotonic() - started))
