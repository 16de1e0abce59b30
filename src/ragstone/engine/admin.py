"""The admin facet: collections, maintenance, export and import, watching.

The command line asks it for the state of an index before a search, so it imports no chunker, export or watcher.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from ragstone.engine import arguments, facets
from ragstone.engine.project import Project
from ragstone.errors import Conflict, NotFound
from ragstone.indexing import folder_comparison
from ragstone.indexing.collection import folder_source
from ragstone.indexing.events import DOCUMENT_REMOVED, SEARCH_COMPLETED, EventLog
from ragstone.indexing.sync import OnSync, Policy, Scan, SyncOutcome
from ragstone.protocols import Progress
from ragstone.sources.folder.source import FolderSource
from ragstone.store.filters import parse
from ragstone.types import (
    BY_URI,
    AddReport,
    BackgroundStatus,
    Collection,
    DocumentOrder,
    Finding,
    FolderLedger,
    ProjectOverview,
    SearchStats,
    Status,
    StoredChunk,
    StoredDocument,
    SyncPlan,
    SyncReport,
)

_MAX_STATS = 1_000_000
"""The log is small: this is all of it."""


class Admin:
    """Everything that looks after an index."""

    def __init__(self, project: Project) -> None:
        """Take the project; nothing is opened yet."""
        self._project = project
        self._watchers: list[facets.Watcher] = []

    def close(self) -> None:
        """Stop all watchers."""
        while self._watchers:
            self._watchers.pop().stop()

    # ── collections ───────────────────────────────────────────────────────────────────────────────

    def collections(self) -> list[Collection]:
        """Return the project's collections by name."""
        return self._project.collections()

    def projects(self) -> list[ProjectOverview]:
        """Return all projects of the store with their counts, by name."""
        return facets.list_projects(self._project)

    def belongs_elsewhere(self) -> bool:
        """Return whether the default collection has the files of another folder that shares this home."""
        collection = self._project.index.collection(self._project.default.name)
        return collection.belongs_elsewhere()

    def require_project(self) -> None:
        """Raise `NotFound` if nothing was ever stored in the project; the hint names the others."""
        projects = self._project.store.projects()
        if self._project.name not in projects:
            names = [name for name in projects if not arguments.is_system_name(name)]
            listed = ", ".join(names) or "none yet"
            raise NotFound(
                f"there is no project {self._project.name!r}",
                hint=f"there are {listed}; `ragstone sync --project {self._project.name}` makes it",
            )

    def require_kinds(self, kinds: Sequence[str]) -> None:
        """Raise `NotFound` for a word that is no kind and that no document has; the hint lists the kinds that exist."""
        facets.require_kinds(self._project, kinds)

    def create_collection(
        self,
        name: str,
        description: str = "",
        *,
        chunker: str | None = None,
        chunk_size: int | None = None,
        chunk_overlap: int | None = None,
        max_tokens: int | None = None,
        overlap_tokens: int | None = None,
        embedder: str | None = None,
    ) -> Collection:
        """Return a new collection, optionally with its own chunker and embedder; `Conflict` if the name is taken.

        `chunk_size` and `chunk_overlap` are characters.
        The embedder is named `provider`, `provider:model` or `provider:model@dimension`.
        """
        self._project.require_enabled()
        arguments.check_free_name(name, "a collection")
        settings = arguments.check_chunking(
            self._project.settings,
            chunker=chunker,
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            max_tokens=max_tokens,
            overlap_tokens=overlap_tokens,
        )
        if name in self._project.index.names():
            hint = "choose another name, or drop it first"
            raise Conflict(f"there is a collection {name!r} already", hint=hint)
        if embedder is not None:
            # An embedder that cannot be used is refused now, not at the first sync.
            self._project.workspace.components.embedder(
                arguments.check_name(embedder, "an embedder")
            )
            settings["embedder"] = embedder
        key = self._project.index.key(name)
        store = self._project.store
        limits = self._project.workspace.limits_of(self._project.name)
        return store.ensure_collection(
            key, description=description, settings=settings, limits=limits
        )

    def drop_collection(self, name: str) -> int:
        """Remove a collection with all its documents and return how many there were; `NotFound` if there is none."""
        self._project.require_enabled()
        key = self._project.index.key(self._project.existing(name))
        count = self._project.store.drop_collection(key)
        if count:
            self._project.events.emit(
                DOCUMENT_REMOVED, collection=name, uris=[], documents=count
            )
        self._project.events.audit("collection.delete", collection=name, documents=count)
        return count

    def text(self, uri: str, *, collection: str | None = None) -> str | None:
        """Return the stored text of a document, or None."""
        key = self._project.index.key(self._project.existing(collection))
        return self._project.store.text(key, arguments.check_name(uri, "a uri"))

    def documents(
        self,
        *,
        collection: str | None = None,
        filters: Mapping[str, object] | None = None,
        after: tuple[str, str] | None = None,
        order: DocumentOrder = BY_URI,
        skip: int = 0,
        limit: int = 50,
    ) -> list[StoredDocument]:
        """Return a page of documents, by collection and order, after a pair of collection and uri."""
        arguments.check_count("limit", limit)
        scope, filter = self._project.scope(collection), parse(filters)
        return self._project.store.documents(
            scope, filter=filter, after=after, order=order, skip=skip, limit=limit
        )

    def document(self, uri: str, *, collection: str | None = None) -> StoredDocument | None:
        """Return a document without its text, or None."""
        key = self._project.index.key(self._project.existing(collection))
        return self._project.store.document(key, arguments.check_name(uri, "a uri"))

    def chunks(self, uri: str, *, collection: str | None = None) -> list[StoredChunk]:
        """Return the chunks of a document in order; none if there is no such document."""
        key = self._project.index.key(self._project.existing(collection))
        return self._project.store.document_chunks(key, arguments.check_name(uri, "a uri"))

    def page_picture(
        self, uri: str, page: int, *, terms: Sequence[str] = (), collection: str | None = None
    ) -> bytes:
        """Return a page of an indexed PDF file as a PNG, with the words of these terms marked.

        `NotFound` if there is no such page; `ReadError` if the file is another one by now or cannot be drawn.
        """
        indexed = self._project.index.collection(self._project.existing(collection))
        uri = arguments.check_name(uri, "a uri")
        return facets.draw_page_picture(indexed, uri, page, terms)

    def source(self, paths: Sequence[str | Path] | None = None) -> FolderSource:
        """Return the engine's folder as a source, or some paths of it."""
        return folder_source(self._project.settings, paths)

    @property
    def log(self) -> EventLog:
        """Return the log of events on disk; `StoreError` if the home was refused."""
        self._project.store.location  # noqa: B018 - opening the store checks who made the home
        return self._project.log

    @property
    def sizes(self) -> facets.SizeHistory:
        """Return the size of the index over time."""
        return self._project.sizes

    @cached_property
    def keys(self) -> facets.ProjectKeys:
        """Return the keys, the plan and the usage of the project."""
        return facets.ProjectKeys(self._project)

    # ── up to date ────────────────────────────────────────────────────────────────────────────────

    def ensure_current(self, policy: Policy) -> SyncOutcome:
        """Bring the index up to date as the policy says, and return the outcome."""
        if not self._project.enabled:
            return SyncOutcome()
        return self._project.index.ensure_current(policy)

    def refresh(
        self, *, embed: bool | float = True, progress: Progress | None = None
    ) -> SyncReport | None:
        """Sync every collection that was synced before and return the ledger; None if nothing changed.

        An index that holds only given documents is left alone.
        """
        return self.ensure_current(Scan(embed, progress, required=True)).report

    def embed(
        self,
        *,
        collection: str | None = None,
        seconds: float | None = None,
        embedder: str | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Make vectors for texts that have none and return how many; waits for another process that does the same.

        With `embedder` they are made next to those that searches use; `search(embedder=…)` uses them.
        """
        if not self._project.enabled:
            return 0
        arguments.check_embed(True if seconds is None else seconds)
        name = self._project.existing(collection)
        if embedder is not None:
            backfill = self._project.index.collection(name).backfill()
            return backfill.run_secondary(embedder, seconds=seconds, progress=progress)
        return self._project.index.embed(name, seconds=seconds, progress=progress)

    def embed_in_background(self) -> bool:
        """Start a process that makes missing vectors after this one has ended; return whether one runs.

        At most one runs for each home, none if a service just failed or `embed.background` switches it off.
        """
        components = self._project.workspace.components
        if not self._project.enabled or components.in_memory or not self.lacks_vectors():
            return False
        return self._background.start(components.embedders.problems())

    def background_status(self) -> BackgroundStatus:
        """Return whether a process makes missing vectors, and why the last one failed."""
        return self._background.status()

    def plan(
        self,
        paths: Sequence[str | Path] | None = None,
        *,
        full: bool = False,
        collection: str | None = None,
        changes: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> SyncPlan:
        """Return what a sync would index and embed, with time and money; nothing is sent, and no document is stored.

        With `changes` the sync has other settings, as texts by their names; an empty text is the default.
        """
        return facets.plan_sync(
            self._project,
            paths,
            full=full,
            collection=collection,
            changes=changes,
            progress=progress,
        )

    def reembed(
        self, *, collection: str | None = None, progress: Progress | None = None
    ) -> int:
        """Build the configured embedder's vectors next to the old ones, then switch; return how many are new."""
        self._project.require_enabled()
        count = 0
        for name in self._project.selected(collection):
            count += self._project.index.collection(name).backfill().rebuild(progress)
        return count

    def has_changes(self, *, collection: str | None = None) -> bool:
        """Return whether the folder differs, by names, sizes and times, from the last sync."""
        name = self._project.collection_name(collection)
        return folder_comparison.has_changes(self._project.index.collection(name))

    def last_sync(self) -> float | None:
        """Return when the folder was last synced, in seconds since 1970."""
        return facets.last_sync(self._project)

    def count_waiting(self) -> int:
        """Return how many files were changed, created or removed since they were last indexed."""
        if not self._project.enabled:
            return 0
        index = self._project.index
        collections = map(index.collection, index.followers())
        return sum(map(folder_comparison.count_waiting, collections))

    def compare_folder(self, *, collection: str | None = None) -> FolderLedger:
        """Return every file of the folder with its state in a collection."""
        name = self._project.existing(collection)
        return folder_comparison.compare_folder(self._project.index.collection(name))

    def follows_folder(self, *, collection: str | None = None) -> bool:
        """Return whether a collection must match the folder; others have given documents only."""
        return self._project.existing(collection) in self._project.index.followers()

    def lacks_vectors(self) -> bool:
        """Return whether a stored text has no vector."""
        embedded, texts = self.count_vectors()
        return embedded < texts

    def count_vectors(self) -> tuple[int, int]:
        """Return how many texts have a vector, and how many texts there are."""
        spaces = self._project.store.vectors.spaces(self._project.scope())
        active = [info for info in spaces if info.state == "active"]
        if not active:
            return 0, sum(collection.chunks for collection in self._project.collections())
        texts = active[0].texts
        # Collections may have vectors of different models; each text counts once.
        return min(texts, sum(info.embedded for info in active)), texts

    def watch_method(self) -> str:
        """Return how changes of files are noticed: `events` or `interval`; empty before the first search."""
        return self._project.index.tracker.method

    def watcher(self, *, on_sync: OnSync | None = None) -> facets.Watcher:
        """Return a watcher that keeps the index up to date once it is started.

        `on_sync` is called with the ledger whenever something changed.
        """
        self._project.require_enabled()
        watcher = facets.Watcher(self._project.index, on_sync=on_sync)
        self._watchers.append(watcher)
        return watcher

    # ── maintenance ───────────────────────────────────────────────────────────────────────────────

    def status(self) -> Status:
        """Return the state of the index at a glance."""
        return facets.project_status(self._project, self.background_status())

    def stats(self, *, count_tokens: bool = True) -> SearchStats:
        """Return how the index was used: searches, latency, and the tokens that hits saved against whole files.

        Without `count_tokens` no document is read, and the tokens of whole files are too low.
        """
        records = self._project.log.last(_MAX_STATS, [SEARCH_COMPLETED])
        documents = self._project.documents() if count_tokens else ()
        lengths = {document.uri: document.characters for document in documents}
        return facets.search_stats(records, lengths)

    def check(self) -> list[Finding]:
        """Check every invariant of the store and every vector, and return the findings."""
        components = self._project.workspace.components
        return [*self._project.store.check(), *components.check_vectors(self._project.name)]

    def compact(self, *, secure: bool = False) -> int:
        """Free the space of removed data and return the bytes freed; `secure` overwrites it, and logged queries, too."""
        self._project.require_enabled()
        return facets.compact(self._project, secure=secure)

    def backup(self, target: str | Path) -> Path:
        """Write a verified copy of the database and return its path."""
        self._require_readable()
        return self._project.store.backup(Path(arguments.check_path(target)))

    def export(self, *, collection: str | None = None, vectors: bool = True) -> Iterator[str]:
        """Yield a collection as lines of JSON that `load` reads."""
        self._require_readable()
        self._project.events.audit("export", collection=self._project.existing(collection))
        return facets.Transfer(self._project).export(collection, vectors=vectors)

    def load(self, lines: Iterable[str], *, collection: str | None = None) -> AddReport:
        """Import the lines of an export and return the counts; vectors of the same space are not made again."""
        return facets.Transfer(self._project).load(lines, collection)

    def to_base64(self, *, collection: str | None = None) -> str:
        """Return a collection with its vectors as one text, which `from_base64` reads."""
        self._require_readable()
        return facets.Transfer(self._project).to_base64(collection)

    def from_base64(self, text: str, *, collection: str | None = None) -> AddReport:
        """Load a collection from a text of `to_base64` and return the counts; nothing is embedded again."""
        return facets.Transfer(self._project).from_base64(text, collection)

    @cached_property
    def _background(self) -> facets.BackgroundEmbedding:
        return facets.BackgroundEmbedding(self._project.settings, self._project.name)

    def _require_readable(self) -> None:
        """Raise `ConfigError` if retrieval is switched off and nothing was indexed before."""
        if not self._project.exists:
            self._project.require_enabled()
