"""Reports of calls that change the index or check it, and jobs: long work of a server or a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO, Literal, NamedTuple

from ragstone.types.documents import Skip
from ragstone.types.storage import Collection, EmbedUsage, PutResult, SpaceInfo

JobState = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class GraphReport:
    """The report of an update of a collection's graph."""

    collection: str
    files: int = 0
    """The number of code files in the collection."""
    read: int = 0
    """The number of files that this update read."""
    resolved: int = 0
    """The number of files whose part of the graph was built again."""
    frameworks: tuple[str, ...] = ()
    """The frameworks that the project uses."""
    changed: Mapping[str, int] = field(default_factory=dict)
    """The number of changed nodes, links, aliases and unresolved references; nodes also by kind (`kind:…`)."""
    rendered: int = 0
    """The number of documents about nodes that were written."""
    removed: int = 0
    """The number of documents about nodes that were removed."""
    remarks: tuple[str, ...] = ()
    """Facts that could not be determined, with the reason."""
    notes: tuple[str, ...] = ()
    """Work that was left undone."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class MoveReport:
    """The report of a move of a home to a database: how much is there now, all of it verified."""

    location: str
    """The address of the database, without the password."""
    collections: int
    documents: int
    chunks: int
    vectors: int
    graph_owners: int
    """The number of files and frameworks that have a part of the code graph."""
    seconds: float


@dataclass(frozen=True, slots=True)
class AddReport:
    """The report of an `add`."""

    documents: int
    chunks_added: int
    chunks_skipped: int
    embedded: int = 0
    pending: int = 0
    per_document: tuple[PutResult, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[Skip, ...] = ()
    """Remarks about stored documents, such as removed secrets or the new address of a page."""
    usage: EmbedUsage = EmbedUsage()
    """What a service was asked to embed."""
    failed: tuple[Skip, ...] = ()
    """Files that could not be added, with the reasons."""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The ledger of a sync: every item found is counted once, as indexed, unchanged, skipped or failed."""

    found: int = 0
    indexed: int = 0
    unchanged: int = 0
    skipped: tuple[Skip, ...] = ()
    failed: tuple[Skip, ...] = ()
    removed: int = 0
    chunks_added: int = 0
    chunks_kept: int = 0
    embedded: int = 0
    pending: int = 0
    seconds: float = 0.0
    fingerprint: str = ""
    notes: tuple[str, ...] = ()
    """Work that was left undone, with a hint how to finish it."""
    remarks: tuple[Skip, ...] = ()
    """Remarks of readers about indexed documents, such as pages without text or removed secrets."""
    changed: tuple[str, ...] = ()
    """The uris of indexed documents."""
    gone: tuple[str, ...] = ()
    """The uris of removed documents."""
    graph: GraphReport | None = None
    """The report of the code graph, if the sync updated it."""
    usage: EmbedUsage = EmbedUsage()
    """What a service was asked to embed."""

    @property
    def closes(self) -> bool:
        """Return whether the ledger accounts for every item found."""
        return self.found == self.indexed + self.unchanged + len(self.skipped) + len(
            self.failed
        )

    @property
    def has_changes(self) -> bool:
        """Return whether documents were stored or removed."""
        return bool(self.indexed or self.removed)

    @property
    def ok(self) -> bool:
        """Return whether everything found is accounted for, nothing failed and nothing was left undone."""
        return self.closes and not self.failed and not self.notes

    def __add__(self, other: SyncReport) -> SyncReport:
        """Return the sums of both reports; the fingerprint and the graph are those of the first.

        A file that both skipped, or that failed in both, counts once: the check of a hit repeats a sync.
        """
        skipped = tuple(dict.fromkeys((*self.skipped, *other.skipped)))
        failed = tuple(dict.fromkeys((*self.failed, *other.failed)))
        repeated = len(self.skipped) + len(other.skipped) - len(skipped)
        repeated += len(self.failed) + len(other.failed) - len(failed)
        return replace(
            self,
            found=self.found + other.found - repeated,
            indexed=self.indexed + other.indexed,
            unchanged=self.unchanged + other.unchanged,
            skipped=skipped,
            failed=failed,
            removed=self.removed + other.removed,
            chunks_added=self.chunks_added + other.chunks_added,
            chunks_kept=self.chunks_kept + other.chunks_kept,
            embedded=self.embedded + other.embedded,
            pending=self.pending + other.pending,
            seconds=self.seconds + other.seconds,
            notes=tuple(dict.fromkeys((*self.notes, *other.notes))),
            remarks=tuple(dict.fromkeys((*self.remarks, *other.remarks))),
            changed=self.changed + other.changed,
            gone=self.gone + other.gone,
            usage=self.usage + other.usage,
        )


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync would index and embed, estimated before anything is sent or stored."""

    embedder: str
    model: str
    files: int
    """New and changed files."""
    chunks: int
    """Chunks of these files."""
    texts: int
    """Texts without a vector, at most: those of the files, and those that are stored already."""
    tokens: int
    seconds: float
    cost: float | None
    """Dollars by the list price; None if the price is not known."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    ok: bool
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class BackgroundStatus:
    """The state of the process that makes missing vectors."""

    running: bool = False
    failure: str = ""
    """Why the last one stopped, if it failed."""
    log: str = ""
    """The path of its log."""


class IncomingFile(NamedTuple):
    """A file of a request: its name, its size, and its bytes to read."""

    name: str
    size: int
    stream: BinaryIO


@dataclass(frozen=True, slots=True)
class JobRequest:
    """The work of a job in a form that another machine can do."""

    kind: str
    collection: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    place: str = ""
    """The folder of one machine that the work needs; empty if any worker can do it."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work, as it is now."""

    id: str
    project: str
    kind: str
    state: JobState = "waiting"
    stage: str = ""
    done: int = 0
    total: int = 0
    result: Mapping[str, object] | None = None
    error: Mapping[str, object] | None = None
    created: float = 0.0
    finished: float | None = None
    request: JobRequest = JobRequest("")
    attempts: int = 0
    """How often the work was begun."""
    worker: str = ""
    """The worker that runs it, or ran it last."""

    @property
    def is_over(self) -> bool:
        """Return whether the job is done or failed."""
        return self.state in ("done", "failed")


@dataclass(frozen=True, slots=True)
class SharedStatus:
    """The state of a store that several machines share."""

    jobs: tuple[Job, ...]
    """The jobs of the project that are not done, newest first."""
    replica: str = ""
    """A sentence about the replica that answers searches; empty if there is none."""


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
    sources: Mapping[str, int] = field(default_factory=dict)
    """The number of documents from each source: `files`, `graph`, `web`; an empty name if they were given."""
    waiting: int | None = None
    """The number of files that changed since the last sync; None if that was not checked."""
    background: BackgroundStatus = BackgroundStatus()
    shared: SharedStatus | None = None
    """The state of a store that several machines share; None for a file."""
    sessions: int = 0
    """The number of conversations; their turns are not among the documents."""
    turns: int = 0


@dataclass(frozen=True, slots=True)
class ProjectOverview:
    """A project of a store as a list of all projects shows it."""

    name: str
    collections: tuple[Collection, ...]
    spaces: tuple[SpaceInfo, ...]
    last_sync: float | None
    failed: int
    """Files of the last sync that could not be read."""

    @property
    def documents(self) -> int:
        """Return the number of documents in all collections."""
        return sum(collection.documents for collection in self.collections)

    @property
    def chunks(self) -> int:
        """Return the number of chunks in all collections."""
        return sum(collection.chunks for collection in self.collections)


@dataclass(frozen=True, slots=True)
class SizePoint:
    """The size of a project's index at a moment, in seconds since 1970."""

    time: float
    documents: int
    chunks: int
    bytes: int
    """All files of the home, which several projects may share."""


@dataclass(frozen=True, slots=True)
class FolderLedger:
    """Every file of the folder, compared with the index."""

    files: int
    current: int
    """Files whose stored document is up to date."""
    changed: tuple[str, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    """Stored documents whose file is gone."""
    skipped: tuple[Skip, ...]
    failed: tuple[Skip, ...]

    @property
    def waiting(self) -> int:
        """Return how many files the next sync has to look at."""
        return len(self.changed) + len(self.new) + len(self.gone)


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """The work of a watcher since its start, and the work that remains."""

    running: bool = False
    way: str = ""
    """How it notices changes: `events` or `interval`; empty before it starts."""
    last_sync: float | None = None
    """When the index last matched the folder, in seconds since 1970."""
    indexed: int = 0
    removed: int = 0
    failed: int = 0
    waiting: int = 0
    """The number of changed files that are not indexed yet; -1 if the whole folder must be scanned."""
    pending: int = 0
    """The number of texts that wait for a vector."""
    problem: str = ""
    """Why the last attempt failed."""
