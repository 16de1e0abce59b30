"""The components of one home folder: its store, embedders and vector indexes, each opened on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ragstone import registry
from ragstone.errors import ConfigError, InputError
from ragstone.indexing.embedders import EmbedderPool
from ragstone.indexing.ownership import mark_own, require_own
from ragstone.indexing.query_vectors import VectorCaches
from ragstone.protocols import SharedStore
from ragstone.store.home_folder import DATABASE, VECTORS, make_home
from ragstone.store.lock import WAIT_SECONDS, FileLock
from ragstone.types import DEFAULT_STORAGE, NO_LIMITS, Finding, Limits, Scope, StoreSettings

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.protocols import Codec, DocumentStore, Embedder, RemoteCollection, Reranker
    from ragstone.types import CollectionKey, Space, SpaceInfo
    from ragstone.vectors.space_index import SpaceIndex

_PAGE: Final = 4096
_CHROMA: Final = "chroma"
_PGVECTOR: Final = "pgvector"
POSTGRES: Final = "postgres"
BUILT_IN_INDEX: Final = "turbo"
SHARED_INDEX: Final = "file"
"""The index whose file brings the vectors of other machines."""


class ChosenParts(NamedTuple):
    """The names of a store and of a vector index, as the registry knows them."""

    store: str
    vector_index: str


class Components:
    """Store, embedders and vector indexes that all engines of one home share."""

    def __init__(self, settings: Settings) -> None:
        """Keep the settings. Nothing is opened yet."""
        self.limits_of: Callable[[str], Limits] = _no_limits
        """Returns the limits of a project's plan; the workspace sets it if plans are switched on."""
        self.home = settings.home
        self.settings = settings
        self.remote = RemoteChoice(settings)
        self.is_closed = False
        self._store: DocumentStore | None = None
        caches = VectorCaches(
            lambda: None if self.in_memory else self.home / VECTORS,
            lambda dimension: self._codec(DEFAULT_STORAGE, dimension),
        )
        self.embedders = EmbedderPool(settings, caches)
        self._rerankers: dict[str, Reranker] = {}
        self._indexes: dict[int, SpaceIndex] = {}
        # A watcher thread and a search may need the same component at the same moment.
        self._lock = threading.RLock()

    @property
    def in_memory(self) -> bool:
        """Return whether nothing is written to disk. A disabled engine only reads an existing database."""
        if self.parts.store == "memory":
            return True
        if has_shared_store(self):
            return False
        return not self.settings.rag.enabled and not (self.home / DATABASE).exists()

    @cached_property
    def parts(self) -> ChosenParts:
        """Return the names of the store and of the vector index that are opened."""
        parts = choose_parts(self.settings)
        if parts.store == POSTGRES and not self.settings.rag.enabled:
            return parts._replace(store="memory")
        return parts

    @property
    def store(self) -> DocumentStore:
        """Return the store, opened on first use."""
        with self._lock:
            if self.is_closed:
                raise InputError("the workspace is closed", hint="open another one")
            if self._store is None:
                self._store = self._open_store()
            return self._store

    @property
    def is_open(self) -> bool:
        """Return whether the store is open, which means that its home was accepted."""
        return self._store is not None

    def lock(
        self, name: str, project: str, *, wait: float | None = WAIT_SECONDS
    ) -> AbstractContextManager[object]:
        """Return a lock between all processes that use the store; `StoreBusy` after `wait` seconds."""
        store = self.store  # opening it creates the folder
        if isinstance(store, SharedStore):
            return store.named_lock(f"{project}/{name}", wait=wait)
        return FileLock(None if self.in_memory else self.home / name, wait=wait)

    def embedder(self, name: str | None = None) -> Embedder:
        """Return an embedder by its name (`provider`, `provider:model`), or the configured one."""
        return self.embedders.get(name)

    def embedder_of(self, space: Space) -> Embedder:
        """Return the embedder that makes vectors of a space; raise `ConfigError` if it is not available here."""
        embedder = self.embedders.for_space(space)
        if embedder is None:
            raise ConfigError(
                f"The embedder {space.embedder!r} with the model {space.model!r} is not available here.",
                hint="install or configure it",
            )
        return embedder

    def reranker(self, name: str) -> Reranker:
        """Return a reranker by name; its model is loaded once."""
        with self._lock:
            if name not in self._rerankers:
                self._rerankers[name] = registry.load("reranker", name)(self.settings)
            return self._rerankers[name]

    def space_index(self, project: str, info: SpaceInfo) -> SpaceIndex:
        """Return the vector index of a space."""
        with self._lock:
            if info.id not in self._indexes:
                # NumPy loads here: a search by words does not need it.
                from ragstone.indexing.index_choice import open_space_index

                self._indexes[info.id] = open_space_index(self, project, info)
            return self._indexes[info.id]

    def codec(self, info: SpaceInfo) -> Codec:
        """Return the codec that stores the vectors of a space."""
        return self._codec(info.storage, info.space.dimension)

    def damaged_vectors(self, project: str, info: SpaceInfo) -> list[int]:
        """Return the ids of stored rows that are not valid vectors."""
        rows = self.store.vectors.rows(project, info.id)
        codec = self.codec(info)
        damaged: list[int] = []
        last_id = 0
        while page := rows.after(last_id, _PAGE):
            valid = codec.sound([row.data for row in page])
            damaged += [
                row.id for row, is_valid in zip(page, valid, strict=True) if not is_valid
            ]
            last_id = page[-1].id
        return damaged

    def check_vectors(self, project: str) -> list[Finding]:
        """Read every stored vector and return one finding per space."""
        findings = []
        for info in self.store.vectors.spaces(Scope(project)):
            damaged = len(self.damaged_vectors(project, info))
            detail = f"all {info.embedded} can be read"
            hint = ""
            if damaged:
                detail = f"{damaged} of {info.embedded} are damaged"
                hint = "`ragstone reembed` makes them again"
            findings.append(
                Finding(f"vectors of {info.space.model}", not damaged, detail, hint)
            )
        return findings

    def close(self) -> None:
        """Close the store and the indexes, for good."""
        with self._lock:
            self.is_closed = True
            for index in self._indexes.values():
                index.flush()
                index.close()
            self._indexes.clear()
            self.embedders.close()
            self.remote.close()
            if self._store is not None:
                self._store.close()
                self._store = None

    def _codec(self, storage: str, dimension: int) -> Codec:
        # NumPy loads here: a search by words does not need it.
        from ragstone.vectors.codecs import codec

        return codec(storage, dimension)

    def _own_home(self) -> Path:
        """Return the home folder, created if it is missing; `StoreError` if this user did not make or name it."""
        if self.settings.home_named:
            return make_home(self.home, trusted=True)
        require_own(self.home)
        make_home(self.home)
        mark_own(self.home)
        return self.home

    def _open_store(self) -> DocumentStore:
        vector_store = self.settings.rag.vector_store
        stored = self.settings.store
        path = None
        if not self.in_memory:
            path = self._own_home() / DATABASE
        settings = StoreSettings(
            path=path,
            url=stored.url or vector_store.url or "",
            api_key=vector_store.api_key or "",
            options={"cache_mb": stored.cache_mb, "replica_url": stored.replica_url},
        )
        store: DocumentStore = registry.load("store", self.parts.store)(settings)
        return store


class RemoteChoice:
    """The collection that another server answers, if the settings choose one."""

    def __init__(self, settings: Settings) -> None:
        """Keep the settings. Nothing is opened yet."""
        self._settings = settings
        self._collection: RemoteCollection | None = None
        self._lock = threading.Lock()

    @cached_property
    def name(self) -> str | None:
        """Return the name of the collection; None if all collections are in the store."""
        chosen = self._settings.rag.vector_store
        return chosen.collection_name if registry.is_remote(chosen.provider) else None

    def owns(self, key: CollectionKey) -> bool:
        """Return whether the other server answers for a collection."""
        return key.kind == "documents" and key.name == self.name

    def collection(self) -> RemoteCollection:
        """Return the collection; its first search connects."""
        with self._lock:
            if self._collection is None:
                provider = self._settings.rag.vector_store.provider
                self._collection = registry.load("remote_collection", provider)(self._settings)
            return self._collection

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._collection is not None:
                self._collection.close()


def has_shared_store(components: Components) -> bool:
    """Return whether processes of several machines use the store."""
    return components.parts.store == POSTGRES


def is_shared(components: Components) -> bool:
    """Return whether processes on other machines may use the store, of whichever kind it is; this opens it."""
    return isinstance(components.store, SharedStore)


def has_index(components: Components, project: str) -> bool:
    """Return whether something was stored for a project before."""
    if has_shared_store(components):
        return project in components.store.projects()
    return (components.home / DATABASE).exists()


def _no_limits(project: str) -> Limits:
    return NO_LIMITS


def store_notes(components: Components) -> tuple[str, ...]:
    """Return notes about a chosen index that is not used."""
    vector_store = components.settings.rag.vector_store
    if vector_store.provider != _CHROMA or not _lacks_chroma():
        return ()
    folder = f" ({vector_store.path} is left alone)" if vector_store.path else ""
    return (
        f"chromadb is not installed: the built-in index is used{folder}; "
        "pip install 'ragstone[chroma]' brings it, "
        'rag.vector_store.provider = "sqlite" keeps the built-in one',
    )


def _lacks_chroma() -> bool:
    """Return whether neither chromadb nor a plug-in for it is installed."""
    return find_spec("chromadb") is None and _CHROMA not in registry.names("store")


def choose_parts(settings: Settings) -> ChosenParts:
    """Return the store and the index of the settings: the default if `chroma` is chosen and not installed.

    Raises `ConfigError` if they cannot go together.
    """
    provider = settings.rag.vector_store.provider
    if provider == _CHROMA and _lacks_chroma():
        provider = "sqlite"
    if settings.store.url and provider == "sqlite":
        provider = POSTGRES
    store, index = registry.store_and_index(provider)
    has_server = store == POSTGRES or bool(settings.store.url)
    if index == _PGVECTOR and settings.rag.enabled and not has_server:
        raise ConfigError(
            f"The vector index {index!r} is part of a store in PostgreSQL.",
            hint="set store.url or RAGSTONE_STORE_URL, or choose another rag.vector_store.provider",
        )
    return ChosenParts(POSTGRES if settings.store.url else store, index)
