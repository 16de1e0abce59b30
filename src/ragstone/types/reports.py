"""What a call that changed something, or looked at everything, has to say."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.types.given import Skip
from ragstone.types.spaces import SpaceInfo
from ragstone.types.stored import Collection, PutResult


@dataclass(frozen=True, slots=True)
class AddReport:
    """What an `add` did."""

    documents: int
    chunks_added: int
    chunks_skipped: int
    embedded: int = 0
    pending: int = 0
    per_document: tuple[PutResult, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[Skip, ...] = ()
    """What there is to say about documents that were stored: secrets taken out."""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The ledger of a sync: every item found is in exactly one of indexed, unchanged, skipped, failed."""

    found: int
    indexed: int
    unchanged: int
    skipped: tuple[Skip, ...]
    failed: tuple[Skip, ...]
    removed: int
    chunks_added: int
    chunks_kept: int
    embedded: int
    pending: int
    seconds: float
    fingerprint: str = ""
    notes: tuple[str, ...] = ()
    """What was left undone, and what to do about it."""
    remarks: tuple[Skip, ...] = ()
    """What readers have to say about documents that were indexed: pages without text, secrets taken out."""

    @property
    def closes(self) -> bool:
        """Return whether the ledger accounts for every item found."""
        return self.found == self.indexed + self.unchanged + len(self.skipped) + len(self.failed)

    @property
    def ok(self) -> bool:
        """Return whether everything found is accounted for, nothing failed and nothing was left undone."""
        return self.closes and not self.failed and not self.notes


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a check looked at."""

    name: str
    ok: bool
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an index at a glance."""

    home: str
    project: str
    enabled: bool
    collections: tuple[Collection, ...]
    documents: int
    chunks: int
    spaces: tuple[SpaceInfo, ...]
    generation: int
    last_sync: float | None
    bytes_on_disk: int
