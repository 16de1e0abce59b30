"""Engine: the one object a caller holds. It puts the parts together and has no algorithm of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from ragstone import checked, config, portable
from ragstone.chunk.choose import choose
from ragstone.errors import ConfigError, Conflict, InputError, NotFound, StaleSpace
from ragstone.events import Bus, Log
from ragstone.keeping import Keeper
from ragstone.parts import Parts
from ragstone.protocols import Progress
from ragstone.read.choose import refusal
from ragstone.sources.files import FileSource
from ragstone.sources.fingerprint import fingerprint
from ragstone.staffing import Staffed
from ragstone.store.filters import parse
from ragstone.store.home import DATABASE, EVENTS, database_files, size_on_disk
from ragstone.talking import Talking
from ragstone.types import (
    AddReport,
    Collection,
    Document,
    Explanation,
    Finding,
    Hit,
    Request,
    Scope,
    SearchOptions,
    Status,
    StoredDocument,
    SyncReport,
)

DEFAULT = "default"
OFF = "retrieval is switched off (rag.enabled)"


class Engine(Talking, Staffed):
    """Knowledge of one folder: add, sync, remove, search. Nothing is opened before it is needed."""

    def __init__(
        self, folder: Path, settings: config.Settings, *, project: str = DEFAULT, events: Bus | None = None
    ) -> None:
        """Keep where and how; use `Engine.open`."""
        self.folder = folder
        self.settings = settings
        self.project = project
        self.events = events or Bus()
        self._parts = Parts(self.home, settings, self.events, project)
        self._keeper = Keeper(self._parts, self.source)
        self.log = Log(self.home / EVENTS, project)
        if events is None and settings.events.log and self.enabled and not self._parts.in_memory:
            self.events.subscribe(self.log.take)

    @classmethod
    def open(cls, folder: str | Path = ".", *, config: Mapping[str, Any] | None = None, project: str = DEFAULT) -> Self:
        """Return an engine for a folder; `config` overrides settings by dotted key."""
        root = Path(checked.path(folder)).expanduser().resolve()
        if not root.is_dir():
            raise InputError(f"no such folder: {folder}", hint="give the path of an existing folder")
        return cls(root, _settings(root, config), project=project)

    def __enter__(self) -> Self:
        """Return the engine."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of files; the engine opens them again when it is used again."""
        self._rememberer = None
        self._dismiss()
        self.log.flush()
        self._parts.close()

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    def add(
        self, documents: Document | Iterable[Document], *, collection: str | None = None, embed: bool = True
    ) -> AddReport:
        """Store given documents, one or many, and return what changed; durable when it returns."""
        if not self.enabled:
            return AddReport(0, 0, 0, notes=(OFF,))
        name = self._collection(collection)
        results = self._parts.writer(name).add(checked.documents(documents))
        embedded = 0
        notes: tuple[str, ...] = ()
        if embed:
            try:
                embedded = self._keeper.embed(name)
            except StaleSpace as error:
                notes = (str(error),)
        return AddReport(
            documents=len(results),
            chunks_added=sum(result.added for result in results),
            chunks_skipped=sum(result.kept for result in results),
            embedded=embedded,
            pending=self._keeper.pending(name),
            per_document=tuple(results),
            notes=notes,
        )

    def sync(
        self,
        paths: Sequence[str | Path] | None = None,
        *,
        full: bool = False,
        collection: str | None = None,
        embed: bool | float = True,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Make the collection match the folder and return the ledger.

        `paths` narrows it to some files or folders, `full` looks into every file, `embed` may be a number of seconds.
        """
        if not self.enabled:
            return SyncReport(0, 0, 0, (), (), 0, 0, 0, 0, 0, 0.0)
        paths = checked.paths(paths)
        checked.embed(embed)
        return self._keeper.sync(self._collection(collection), paths, full=full, embed=embed, progress=progress)

    def refresh(
        self, *, embed: bool | float = True, progress: Progress | None = None, wait: float | None = None
    ) -> SyncReport | None:
        """Sync every collection that was synced before and return the ledger; None where nothing had changed.

        An index that holds only given documents is left alone. `wait` is how long to queue for another writer.
        """
        if not self.enabled:
            return None
        return self._keeper.refresh(self._collection(None), embed=embed, progress=progress, wait=wait)

    def embed(
        self, *, collection: str | None = None, seconds: float | None = None, progress: Progress | None = None
    ) -> int:
        """Give vectors to texts that have none and return how many; another process at the same work is waited for."""
        if not self.enabled:
            return 0
        checked.embed(seconds if seconds is not None else True)
        return self._keeper.embed(self._existing(collection), seconds=seconds, progress=progress)

    def reembed(self, *, collection: str | None = None, progress: Progress | None = None) -> int:
        """Build the configured embedder's vectors beside the old ones, then switch; return how many were made.

        Without a name it does so for every collection of the project.
        """
        self._switched_on()
        names = [one.name for one in self.collections()] if collection is None else [self._existing(collection)]
        return sum(self._keeper.reembed(name, progress=progress) for name in names)

    def remove(self, uri: str | None = None, *, ids: Sequence[str] | None = None, collection: str | None = None) -> int:
        """Remove documents by uri or by ids (a chunk's id removes its document) and return how many went."""
        if (uri is None) == (ids is None):
            raise InputError(
                "remove takes either a uri or ids", hint='remove("docs/a.md") or remove(ids=["docs/a.md"])'
            )
        if not self.enabled:
            return 0
        name = self._existing(collection)
        wanted = [self._document_of(one, name) if uri is None else one for one in checked.names(uri, ids)]
        return self._parts.store.remove(self.project, name, list(dict.fromkeys(wanted)))

    def create_collection(
        self,
        name: str,
        description: str = "",
        *,
        chunker: str | None = None,
        chunk_size: int | None = None,
        chunk_overlap: int | None = None,
    ) -> Collection:
        """Return a new collection, cut in its own way where that is given; `Conflict` if the name is taken."""
        self._switched_on()
        checked.sizes(name, chunk_size, chunk_overlap)
        # A size that makes no sense is told now, and not at the first sync.
        choose(Document("", ""), name=chunker or self.settings.rag.chunker, size=chunk_size, overlap=chunk_overlap)
        if any(one.name == name for one in self.collections()):
            raise Conflict(f"there is a collection {name!r} already", hint="choose another name, or drop it first")
        given = {"chunker": chunker, "chunk_size": chunk_size, "chunk_overlap": chunk_overlap}
        settings = {key: value for key, value in given.items() if value is not None}
        return self._parts.store.ensure_collection(self.project, name, description=description, settings=settings)

    def collections(self) -> list[Collection]:
        """Return the project's collections by name."""
        return self._parts.store.collections(self.project)

    def drop_collection(self, name: str) -> int:
        """Remove a collection with all in it and return how many documents went; `NotFound` if there is none."""
        self._switched_on()
        return self._parts.store.drop_collection(self.project, self._existing(name))

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    def search(self, query: str, top_k: int | None = None, **options: Unpack[SearchOptions]) -> list[Hit]:
        """Return the best hits, at most top_k; no match is an empty list. The options are those of `SearchOptions`."""
        return list(self.explain(query, top_k, **options).hits)

    def explain(self, query: str, top_k: int | None = None, **options: Unpack[SearchOptions]) -> Explanation:
        """Return a search told in full: hits, how the query was read, and what was left out and why."""
        settings = self.settings.search
        wanted = checked.search(query, settings.top_k if top_k is None else top_k, options)
        if not self.enabled or wanted == 0:
            reason = "no hits were asked for" if self.enabled else OFF
            return Explanation(query, "keywords", (), {}, {}, 0, (), (), (reason,), 0.0)
        filters = options.get("filters")
        request = Request(
            query=query,
            scope=self._scope(options.get("collection")),
            top_k=wanted,
            mode=options.get("mode") or ("hybrid" if options.get("hybrid", True) else "vectors"),
            fusion=options.get("fusion") or settings.fusion,
            mmr=options.get("mmr", False),
            rerank=options.get("rerank"),
            filter=parse(filters) if filters else None,
            min_score=options.get("min_score"),
            compress=options.get("compress", False),
            merge=options.get("merge", True),
            candidates=max(settings.candidates, wanted),
        )
        return self._parts.searcher.run(request)

    def sources(
        self, *, collection: str | None = None, filters: Mapping[str, Any] | None = None
    ) -> Iterator[StoredDocument]:
        """Yield every document stored, by uri."""
        after: tuple[str, str] | None = None
        scope = self._scope(collection)
        wanted = parse(filters) if filters else None
        while page := self._parts.store.documents(scope, filter=wanted, after=after, limit=500):
            yield from page
            after = (page[-1].collection, page[-1].uri)

    def text(self, uri: str, *, collection: str | None = None) -> str | None:
        """Return the stored text of a document, or None if there is none."""
        return self._parts.store.text(self.project, self._existing(collection), checked.name(uri, "a uri"))

    def is_empty(self) -> bool:
        """Return whether nothing has been stored."""
        return not self.enabled or not any(c.documents for c in self._parts.store.collections(self.project))

    def changed(self, *, collection: str | None = None) -> bool:
        """Return whether the folder differs, by names, sizes and times, from what the last sync saw."""
        return self._keeper.fingerprint(self._collection(collection)) != fingerprint(self.source().scan())

    def last_sync(self) -> float | None:
        """Return when the folder was last synced, in seconds since 1970."""
        return self._keeper.last_sync()

    def status(self) -> Status:
        """Return the state of the index at a glance."""
        collections = tuple(self._parts.store.collections(self.project))
        return Status(
            home=str(self.home),
            project=self.project,
            enabled=self.enabled,
            collections=collections,
            documents=sum(one.documents for one in collections),
            chunks=sum(one.chunks for one in collections),
            spaces=tuple(self._parts.store.spaces(Scope(self.project))),
            generation=self._parts.store.generation(),
            last_sync=self.last_sync(),
            bytes_on_disk=size_on_disk(self.home),
        )

    # ── upkeep ────────────────────────────────────────────────────────────────────────────────────

    def check(self) -> list[Finding]:
        """Return what a look at every invariant found, the vectors themselves included."""
        return [*self._parts.store.check(), *self._parts.check_vectors()]

    def compact(self, *, secure: bool = False) -> int:
        """Give back the room of what was removed and return the bytes freed."""
        self._switched_on()
        return self._parts.store.compact(secure=secure)

    def backup(self, target: str | Path) -> Path:
        """Write a verified copy of the database and return its path."""
        if not self.enabled and not self.exists:
            self._switched_on()
        return self._parts.store.backup(Path(checked.path(target)))

    def export(self, *, collection: str | None = None, vectors: bool = True) -> Iterator[str]:
        """Yield the collection as lines of JSON that `load` reads back."""
        if not self.enabled and not self.exists:
            self._switched_on()
        return portable.export_lines(self._parts.store, self.project, self._existing(collection), vectors=vectors)

    def load(self, lines: Iterable[str], *, collection: str | None = None) -> AddReport:
        """Take in what `export` gave and return what changed; vectors of the same space are not made again."""
        if not self.enabled:
            return AddReport(0, 0, 0, notes=(OFF,))
        name = self._collection(collection)
        notes: tuple[str, ...] = ()
        try:
            self._keeper.space(name)
        except StaleSpace as error:
            notes = (str(error),)
        writer = self._parts.writer(name)
        report = portable.import_lines(self._parts.store, writer, checked.lines(lines), self._parts.codec)
        return replace(report, pending=self._keeper.pending(name), notes=notes)

    # ── the parts ─────────────────────────────────────────────────────────────────────────────────

    @property
    def enabled(self) -> bool:
        """Return whether retrieval is switched on; if not, every verb is a no-op."""
        return self.settings.rag.enabled

    @property
    def home(self) -> Path:
        """Return the folder that holds the index."""
        return self.settings.home

    @property
    def exists(self) -> bool:
        """Return whether the folder was indexed before."""
        return (self.home / DATABASE).exists()

    def source(self, paths: Sequence[str | Path] | None = None) -> FileSource:
        """Return the folder's files as a source, or only some of them."""
        rules = self.settings.sources
        return FileSource(
            self.settings.base,
            include=rules.include,
            exclude=rules.exclude,
            limits=(rules.max_file_bytes, rules.max_files),
            refuse=refusal,
            git=rules.git,
            secret_files=rules.secret_files,
            never_open=database_files(self.home),
            home=self.home,
            only=paths,
        )

    def _beside(self, settings: config.Settings, project: str) -> Self:
        return type(self)(self.folder, settings, project=project, events=self.events)

    def _collection(self, name: str | None) -> str:
        return name or self.settings.rag.vector_store.collection_name

    def _existing(self, name: str | None) -> str:
        """Return the name of a collection that is there; the default one may be yet to come."""
        if name is None:
            return self._collection(None)
        known = [one.name for one in self.collections()]
        if name not in known and name != self._collection(None):
            raise NotFound(f"there is no collection {name!r}", hint=f"there are {', '.join(known) or 'none yet'}")
        return name

    def _scope(self, collection: str | Sequence[str] | None) -> Scope:
        if collection is None:
            return Scope(self.project, None)
        wanted = [collection] if isinstance(collection, str) else collection
        return Scope(self.project, tuple(self._existing(checked.name(one, "a collection")) for one in wanted))

    def _switched_on(self) -> None:
        if not self.enabled:
            raise ConfigError(OFF, hint="set rag.enabled = true")

    def _document_of(self, one: str, collection: str) -> str:
        """Return the uri an id stands for: a document's own, or that of a chunk's document."""
        if self._parts.store.document(self.project, collection, one) is not None:
            return one
        return one.rpartition("__chunk_")[0] or one


def _settings(root: Path, overrides: Mapping[str, Any] | None) -> config.Settings:
    if overrides is not None and not isinstance(overrides, Mapping):
        raise InputError("config maps settings to values", hint='config={"rag.embedding_provider": "minilm"}')
    return config.load(root, overrides=overrides)
