"""What a call that changed something, or looked at everything, has to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.types.documents import Skip
from ragstone.types.spaces import SpaceInfo
from ragstone.types.storage import Collection, PutResult


@dataclass(frozen=True, slots=True)
class GraphReport:
    """What it took to bring the graph of a collection level with its documents; nothing changed, nothing read."""

    collection: str
    files: int = 0
    """Files of code that are there."""
    read: int = 0
    """Files that were read for their symbols now."""
    resolved: int = 0
    """Files whose part of the graph was made anew."""
    frameworks: tuple[str, ...] = ()
    """Those the project uses."""
    changed: Mapping[str, int] = field(default_factory=dict)
    """How many nodes, links, aliases and unresolved references are other ones now; nodes also by kind (`kind:…`)."""
    rendered: int = 0
    """Documents of prose that were written."""
    removed: int = 0
    """Documents of prose that went."""
    remarks: tuple[str, ...] = ()
    """What could not be known, and why."""
    notes: tuple[str, ...] = ()
    """What was left undone."""
    seconds: float = 0.0


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
    """What should be known about documents that were stored: secrets taken out, where a page moved to."""


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
    changed: tuple[str, ...] = ()
    """The uris of what was indexed."""
    gone: tuple[str, ...] = ()
    """The uris of what was removed."""
    graph: GraphReport | None = None
    """What became of the graph of the code, where it was looked at."""

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
    waiting: int | None = None
    """Files that changed since they were last looked at; None: nobody has looked."""


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """What a watcher has done since it was started, and what is still to be done."""

    running: bool = False
    way: str = ""
    """How it learns of changes: `events`, `interval`, or nothing before it has begun."""
    last_sync: float | None = None
    """When it last brought something in, or found that nothing had changed; in seconds since 1970."""
    indexed: int = 0
    removed: int = 0
    failed: int = 0
    waiting: int = 0
    """Files that changed and are not indexed yet; -1 if the whole folder must be scanned."""
    pending: int = 0
    """Texts that wait for a vector."""
    problem: str = ""
    """Why the last try did not succeed."""
