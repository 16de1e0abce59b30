"""One project as an engine sees it: its collections, its sync, its events."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ragstone.config import Settings
from ragstone.engine import arguments, facets
from ragstone.engine.workspace import Workspace
from ragstone.errors import ConfigError, InputError, NotFound
from ragstone.indexing.components import Components, has_index
from ragstone.indexing.events import (
    CHUNK_INDEXED,
    DOCUMENT_REMOVED,
    Event,
    EventBus,
    EventLog,
    redact_query,
)
from ragstone.indexing.size_history import SizeHistory
from ragstone.indexing.sync import CollectionSync
from ragstone.protocols import DocumentStore, Progress
from ragstone.store.filters import parse
from ragstone.store.home_folder import EVENTS, SIZES, size_on_disk
from ragstone.types import (
    Collection,
    CollectionKey,
    Scope,
    SizePoint,
    StoredDocument,
    SyncReport,
)

OFF = "retrieval is switched off (rag.enabled)"
_PAGE = 500


class Project:
    """Shared by an engine and its facets. With `agent` it is that agent's collection only."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        name: str,
        *,
        agent: str | None = None,
        events: EventBus | None = None,
    ) -> None:
        """Keep the parts; nothing is opened yet."""
        self._workspace = workspace
        self._is_closed = False
        self.settings = settings
        arguments.check_settings(settings)
        self.name = arguments.check_free_name(name, "a project")
        if agent is None:
            self.default = CollectionKey(name, settings.rag.vector_store.collection_name)
            self._scope = Scope(name)
        else:
            self.default = CollectionKey(name, agent, "agent")
            self._scope = self.default.scope
        self.events = events or EventBus()
        self.log = EventLog(settings.home / EVENTS, name, redact=redact_query)
        self.sizes = SizeHistory(settings.home / SIZES, name, partial(_measure, self))
        components = workspace.components
        if events is None and settings.events.log and self.enabled and not components.in_memory:
            self.events.subscribe(partial(_log_event, self.log, components))
            record = partial(_record_size, self.sizes, components)
            self.events.subscribe(record, [CHUNK_INDEXED, DOCUMENT_REMOVED])
        self._index = CollectionSync(
            components, settings, self.events, self.default, self._scope
        )

    @property
    def workspace(self) -> Workspace:
        """Return the workspace; `InputError` if the engine is closed."""
        self.require_open()
        return self._workspace

    @property
    def index(self) -> CollectionSync:
        """Return the sync of the project; `InputError` if the engine is closed."""
        self.require_open()
        return self._index

    @property
    def store(self) -> DocumentStore:
        """Return the store of the workspace."""
        return self.workspace.components.store

    @property
    def enabled(self) -> bool:
        """Return whether retrieval is switched on."""
        return self.settings.rag.enabled

    @property
    def exists(self) -> bool:
        """Return whether the folder was indexed before."""
        return has_index(self.workspace.components, self.name)

    def require_open(self) -> None:
        """Raise `InputError` if the engine is closed."""
        if self._is_closed:
            raise InputError("the engine is closed", hint="open another with Engine.open")

    def require_enabled(self) -> None:
        """Raise `ConfigError` if retrieval is switched off."""
        if not self.enabled:
            raise ConfigError(OFF, hint="set rag.enabled = true")

    def plan(self) -> facets.Plan | None:
        """Return the plan of the project; None if plans are switched off."""
        return self.workspace.plan_of(self.name)

    def close(self) -> None:
        """Stop tracking changes, write the event log, and refuse later calls."""
        if not self._is_closed:
            self.sizes.flush()
        self._is_closed = True
        self._index.close()
        self.log.flush()

    # ── collections ───────────────────────────────────────────────────────────────────────────────

    def collections(self) -> list[Collection]:
        """Return the project's collections by name."""
        names = self.index.names()
        collections = self.store.collections(self.name, self.default.kind)
        return [collection for collection in collections if collection.name in names]

    def is_empty(self) -> bool:
        """Return whether nothing is stored."""
        if not self.enabled:
            return True
        return not any(collection.documents for collection in self.collections())

    def collection_name(self, name: str | None) -> str:
        """Return the name of a collection to write to; the default one if None."""
        if name is None:
            return self.default.name
        return arguments.check_free_name(name, "a collection")

    def existing(self, name: str | None) -> str:
        """Return the name of a collection that exists; the default one may still be missing."""
        if name is None or name == self.default.name:
            return self.default.name
        names = self.index.names()
        if name not in names:
            listed = ", ".join(names) or "none yet"
            raise NotFound(f"there is no collection {name!r}", hint=f"there are {listed}")
        return name

    def selected(self, name: str | None) -> list[str]:
        """Return one collection as a list, or all of them if None."""
        if name is None:
            return self.index.names()
        return [self.existing(name)]

    def scope(self, collection: str | Sequence[str] | None = None) -> Scope:
        """Return the scope of some collections; of all if None."""
        if collection is None:
            return self._scope
        if isinstance(collection, str):
            collection = [collection]
        if not isinstance(collection, Sequence):
            hint = "give a name, or a list of names"
            raise InputError(f"collection is {collection!r}", hint=hint)
        names = [arguments.check_name(name, "a collection") for name in collection]
        existing = [self.existing(name) for name in names]
        return replace(self._scope, collections=tuple(existing))

    # ── verbs ─────────────────────────────────────────────────────────────────────────────────────

    def sync(
        self,
        paths: Sequence[str | Path] | None = None,
        *,
        full: bool = False,
        collection: str | None = None,
        embed: bool | float = True,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Make a collection match the folder and return the ledger."""
        paths = arguments.check_paths(paths)
        arguments.check_embed(embed)
        if not self.enabled:
            return SyncReport()
        name = self.collection_name(collection)
        report = self.index.sync(name, paths, full=full, embed=embed, progress=progress)
        if collection is not None or paths is not None:
            return report
        for other in self.index.names():
            if other != name:
                report += self.index.sync_added(other, full=full, embed=embed)
        return report

    def remove(
        self, uri: str | None, *, ids: Sequence[str] | None, collection: str | None
    ) -> int:
        """Remove documents by uri or by ids and return how many were removed."""
        if (uri is None) == (ids is None):
            hint = 'remove("docs/a.md") or remove(ids=["docs/a.md"])'
            raise InputError("remove takes either a uri or ids", hint=hint)
        if not self.enabled:
            return 0
        key = self.index.key(self.existing(collection))
        names = arguments.check_names(uri, ids)
        if uri is None:
            names = [self._document_of_id(key, name) for name in names]
        removed = self.index.collection(key.name).writer().remove(list(dict.fromkeys(names)))
        if removed:
            self.events.audit("document.delete", collection=key.name, ids=names)
        return removed

    def documents(
        self, *, collection: str | None = None, filters: Mapping[str, object] | None = None
    ) -> Iterator[StoredDocument]:
        """Yield every stored document, by uri."""
        scope = self.scope(collection)
        filter = parse(filters or None, self.settings.base)
        after: tuple[str, str] | None = None
        while page := self.store.documents(scope, filter=filter, after=after, limit=_PAGE):
            yield from page
            after = (page[-1].collection, page[-1].uri)

    def _document_of_id(self, key: CollectionKey, name: str) -> str:
        """Return the uri of an id: a document's own uri, or the uri in a chunk's id."""
        if self.store.document(key, name) is not None:
            return name
        return name.rpartition("__chunk_")[0] or name


def empty_query_notes(query: str) -> tuple[str, ...]:
    """Return a note if a query has no text: any text may be asked, and an empty one finds nothing."""
    if query.strip():
        return ()
    return ("the query is empty",)


def _measure(project: Project) -> SizePoint:
    """Return the present size of a project."""
    collections = project.collections()
    return SizePoint(
        time.time(),
        sum(collection.documents for collection in collections),
        sum(collection.chunks for collection in collections),
        size_on_disk(project.settings.home),
    )


def _log_event(log: EventLog, components: Components, event: Event) -> None:
    """Write an event to the log, but not into a home that was refused."""
    if components.is_open:
        log.write(event)


def _record_size(sizes: SizeHistory, components: Components, event: Event) -> None:
    """Record the size after a write, but open no store: an agent with its own home emits events here too."""
    if components.is_open:
        sizes.take_event(event)
