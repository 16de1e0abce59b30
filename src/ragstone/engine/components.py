"""The parts an engine is made of: each found by name, opened on first use, held once."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from ragstone import registry, types
from ragstone.config import Settings
from ragstone.errors import ConfigError, StoreBusy
from ragstone.events import EventBus
from ragstone.indexing.chunking_config import ChunkingConfig
from ragstone.indexing.pipeline import Filler, Writer
from ragstone.protocols import Codec, DocumentStore, Embedder, Nearest, Progress
from ragstone.retrieval.search import Searcher
from ragstone.store.home import DATABASE, EMBED_LOCK, VECTORS, make_home
from ragstone.store.lock import FileLock
from ragstone.types import CollectionKey, Finding, Scalar, Scope, Space, SpaceInfo

PAGE: Final = 4096


@dataclass(slots=True)
class Parts:
    """Store, searcher, embedders and indexes of one home folder."""

    home: Path
    settings: Settings
    events: EventBus
    project: str
    _store: DocumentStore | None = None
    kind: types.CollectionKind = "documents"
    only: str = ""
    """The one collection that these parts may use; empty: all of their kind."""
    _searcher: Searcher | None = None
    _embedders: dict[str, Embedder] = field(default_factory=dict)
    _indexes: dict[int, Nearest] = field(default_factory=dict)
    _opening: threading.RLock = field(default_factory=threading.RLock)
    """Held while a part is opened: a watcher may need it in the same moment as a search."""

    @property
    def in_memory(self) -> bool:
        """Return whether nothing is kept on disk; a disabled engine reads what is there and leaves no trace."""
        if self.settings.rag.vector_store.provider in ("memory", "mock"):
            return True
        return not self.settings.rag.enabled and not (self.home / DATABASE).exists()

    @property
    def store(self) -> DocumentStore:
        """Return the store, opened now if it was not."""
        with self._opening:
            if self._store is None:
                self._store = self._open_store()
            return self._store

    @property
    def searcher(self) -> Searcher:
        """Return the one that answers queries."""
        with self._opening:
            if self._searcher is None:
                self._searcher = Searcher(self.store, self, events=self.events)
            return self._searcher

    def key(self, collection: str) -> CollectionKey:
        """Return the key of a collection."""
        return CollectionKey(self.project, collection, self.kind)

    def scope(self, names: tuple[str, ...] | None = None) -> Scope:
        """Return the scope of some collections, or of all that these parts may use."""
        if names is None and self.only:
            names = (self.only,)
        return Scope(self.project, names, self.kind)

    def collections(self) -> list[types.Collection]:
        """Return the collections that these parts may use, by name."""
        stored = self.store.collections(self.project, self.kind)
        return [one for one in stored if not self.only or one.name == self.only]

    def writer(self, collection: str) -> Writer:
        """Return the one that writes to a collection, the collection made now if it was not there."""
        own = self.store.ensure_collection(self.key(collection)).settings
        rag = self.settings.rag
        cut = ChunkingConfig(
            str(own.get("chunker", rag.chunker)),
            _size(own.get("chunk_size", rag.chunk_size)),
            _size(own.get("chunk_overlap", rag.chunk_overlap)),
            redact_secrets=self.settings.sources.secrets == "redact",
        )
        return Writer(self.store, cut, self.events, self.key(collection))

    def embedder(self, name: str) -> Embedder:
        """Return an embedder by name."""
        name = registry.find("embedder", name).name
        with self._opening:
            if name not in self._embedders:
                self._embedders[name] = registry.load("embedder", name)(self.settings)
            return self._embedders[name]

    def share(self, other: Parts) -> None:
        """Use the embedders of another engine's parts, those yet to be loaded included."""
        with other._opening:
            self._embedders, self._opening = other._embedders, other._opening

    def nearest(self, project: str, info: SpaceInfo) -> Nearest:
        """Return a space's index, ready to be asked."""
        with self._opening:
            if info.id not in self._indexes:
                folder = None if self.in_memory else self.home / VECTORS / f"{info.id}-{info.space.fingerprint[:16]}"
                rows = self.store.vectors.rows(project, info.id)
                self._indexes[info.id] = registry.load("vector_index", "turbo")(folder, info, rows)
            return self._indexes[info.id]

    def fill(
        self,
        scope: Scope,
        info: SpaceInfo,
        *,
        seconds: float | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Embed what is pending in a space and return how many vectors were stored."""
        codec = partial(self.codec, info)
        filler = Filler(self.store, self.project, self.embedder(info.space.embedder), codec)
        # Two processes at the same texts would do the same work twice: the second waits for the first.
        try:
            with FileLock(None if self.in_memory else self.home / EMBED_LOCK, wait=seconds):
                done = filler.fill(scope, info, seconds=seconds, progress=progress)
        except StoreBusy:
            return 0  # another process is at it, and this one was given only so much time
        if done:
            self.nearest(self.project, info).flush()
        return done

    def related(self, space: Space) -> float:
        """Return the cosine beyond which two texts of a space have to do with each other."""
        return self.embedder(space.embedder).related

    def codec(self, info: SpaceInfo) -> Codec:
        """Return how vectors of a space become the bytes of a row and back."""
        from ragstone.vectors.codecs import codec  # NumPy: a search by words does not load it

        return codec(info.storage, info.space.dimension)

    def damaged_vectors(self, info: SpaceInfo) -> list[int]:
        """Return the rows of a space that are no vectors: another length, or numbers that are none."""
        rows = self.store.vectors.rows(self.project, info.id)
        codec = self.codec(info)
        damaged, last = [], 0
        while page := rows.after(last, PAGE):
            sound = codec.sound([row.data for row in page])
            damaged += [row.id for row, good in zip(page, sound, strict=True) if not good]
            last = page[-1].id
        return damaged

    def check_vectors(self) -> list[Finding]:
        """Return what a look at every stored vector found."""
        findings = []
        for info in self.store.vectors.spaces(self.scope()):
            damaged = len(self.damaged_vectors(info))
            detail = f"{damaged} of {info.embedded} are damaged" if damaged else f"all {info.embedded} can be read"
            hint = "`ragstone reembed` makes them again" if damaged else ""
            findings.append(Finding(f"vectors of {info.space.model}", not damaged, detail, hint))
        return findings

    def close(self) -> None:
        """Let go of files; they are opened again when they are needed again."""
        for index in self._indexes.values():
            index.flush()
            index.close()
        self._indexes.clear()
        self._searcher = None
        if self._store is not None:
            self._store.close()
            self._store = None

    def _open_store(self) -> DocumentStore:
        path = None if self.in_memory else make_home(self.home, trusted=self.settings.home_named) / DATABASE
        chosen = self.settings.rag.vector_store
        settings = types.StoreSettings(
            path,
            url=chosen.url or "",
            api_key=chosen.api_key or "",
            options={"cache_mb": self.settings.store.cache_mb},
        )
        store: DocumentStore = registry.load("store", chosen.provider)(settings)
        return store

    def query_vector(self, space: Space, query: str) -> types.Matrix | None:
        """Return the query's vector in a space, or None where that space's embedder is another one now."""
        try:
            embedder = self.embedder(space.embedder)
        except ConfigError:
            return None
        if embedder.space != space and embedder.space.fingerprint != space.fingerprint:
            return None
        vector: types.Matrix = embedder.embed([query], "query")[0]
        return vector


def _size(value: Scalar) -> int | None:
    return value if isinstance(value, int) else None
