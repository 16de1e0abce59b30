"""Engine: the one object a caller holds. It puts the parts together and has no algorithm of its own."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack, get_args

from ragstone import config, portable
from ragstone.errors import InputError
from ragstone.events import Bus
from ragstone.parts import Parts
from ragstone.protocols import Progress
from ragstone.read.choose import refusal
from ragstone.search import Request
from ragstone.sources.files import FileSource
from ragstone.sources.fingerprint import fingerprint
from ragstone.store.filters import parse
from ragstone.store.home import DATABASE, database_files, size_on_disk
from ragstone.types import (
    AddReport,
    Document,
    Explanation,
    Finding,
    Fusion,
    Hit,
    Mode,
    Scope,
    SearchOptions,
    SpaceInfo,
    SpaceState,
    Status,
    StoredDocument,
    SyncReport,
)

MAX_TOP_K = 1000
DEFAULT = "default"
_SYNCED = "last_sync"
_FINGERPRINT = "fingerprint"


class Engine:
    """Knowledge of one folder: add, sync, remove, search. Nothing is opened before it is needed."""

    def __init__(self, folder: Path, settings: config.Settings, *, project: str = DEFAULT) -> None:
        """Keep where and how; use `Engine.open`."""
        self.folder = folder
        self.settings = settings
        self.project = project
        self.events = Bus()
        self._parts = Parts(self.home, settings, self.events, project)

    @classmethod
    def open(cls, folder: str | Path = ".", *, config: Mapping[str, Any] | None = None, project: str = DEFAULT) -> Self:
        """Return an engine for a folder; `config` overrides settings by dotted key."""
        root = Path(folder).expanduser().resolve()
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
        self._parts.close()

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    def add(
        self, documents: Document | Iterable[Document], *, collection: str | None = None, embed: bool = True
    ) -> AddReport:
        """Store given documents, one or many, and return what changed; durable when it returns."""
        if not self.settings.rag.enabled:
            return AddReport(0, 0, 0)
        given = [documents] if isinstance(documents, Document) else documents
        results = self._parts.writer(self._collection(collection)).add(_checked(given))
        embedded = self.embed(collection=collection) if embed else 0
        return AddReport(
            documents=len(results),
            chunks_added=sum(result.added for result in results),
            chunks_skipped=sum(result.kept for result in results),
            embedded=embedded,
            pending=self._pending(collection),
            per_document=tuple(results),
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
        if not self.settings.rag.enabled:
            return SyncReport(0, 0, 0, (), (), 0, 0, 0, 0, 0, 0.0)
        begun = time.monotonic()
        writer = self._parts.writer(self._collection(collection))
        report = writer.sync(self.source(paths), full=full, progress=progress)
        embedded = 0
        if embed:
            seconds = None if embed is True else float(embed)
            embedded = self.embed(collection=collection, seconds=seconds, progress=progress)
        if paths is None:
            self._parts.store.set_note(self.project, _SYNCED, repr(time.time()))
            self._parts.store.set_note(self.project, _FINGERPRINT, report.fingerprint)
        return replace(report, embedded=embedded, pending=self._pending(collection), seconds=time.monotonic() - begun)

    def refresh(self, *, embed: bool | float = True, progress: Progress | None = None) -> SyncReport | None:
        """Sync if the folder seems to have changed and return the ledger; None where there was nothing to do.

        An index that holds only given documents is left alone: its folder was never asked for.
        """
        if not self.settings.rag.enabled:
            return None
        if self.last_sync() is not None:
            return self.sync(embed=embed, progress=progress) if self.changed() else None
        stored = [bool(document.source) for document in self.sources()]
        return self.sync(embed=embed, progress=progress) if not stored or any(stored) else None

    def embed(
        self, *, collection: str | None = None, seconds: float | None = None, progress: Progress | None = None
    ) -> int:
        """Give vectors to texts that have none and return how many; another process at the same work is waited for."""
        name = self._collection(collection)
        info = self._space(name)
        return self._parts.fill(Scope(self.project, (name,)), info, seconds=seconds, progress=progress)

    def reembed(self, *, collection: str | None = None, progress: Progress | None = None) -> int:
        """Build the configured embedder's vectors beside the old ones, then switch; return how many were made."""
        name = self._collection(collection)
        info = self._space(name, state="building")
        done = self._parts.fill(Scope(self.project, (name,)), info, progress=progress)
        self._parts.store.activate_space(self.project, name, info.id)
        return done

    def remove(self, uri: str | None = None, *, ids: Sequence[str] | None = None, collection: str | None = None) -> int:
        """Remove documents by uri or by ids (a chunk's id removes its document) and return how many went."""
        if (uri is None) == (ids is None):
            raise InputError(
                "remove takes either a uri or ids", hint='remove("docs/a.md") or remove(ids=["docs/a.md"])'
            )
        if not self.settings.rag.enabled:
            return 0
        uris = (
            [uri] if uri is not None else list(dict.fromkeys(one.rpartition("__chunk_")[0] or one for one in ids or ()))
        )
        return self._parts.store.remove(self.project, self._collection(collection), uris)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    def search(self, query: str, top_k: int | None = None, **options: Unpack[SearchOptions]) -> list[Hit]:
        """Return the best hits, at most top_k; no match is an empty list. The options are those of `SearchOptions`."""
        return list(self.explain(query, top_k, **options).hits)

    def explain(self, query: str, top_k: int | None = None, **options: Unpack[SearchOptions]) -> Explanation:
        """Return a search told in full: hits, how the query was read, and what was left out and why."""
        enabled, settings = self.settings.rag.enabled, self.settings.search
        wanted = _checked_top_k(settings.top_k if top_k is None else top_k)
        _check_options(options)
        if not enabled or wanted == 0:
            reason = "no hits were asked for" if enabled else "retrieval is switched off"
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
        if not self.settings.rag.enabled:
            return
        after: tuple[str, str] | None = None
        scope = self._scope(collection)
        wanted = parse(filters) if filters else None
        while page := self._parts.store.documents(scope, filter=wanted, after=after, limit=500):
            yield from page
            after = (page[-1].collection, page[-1].uri)

    def text(self, uri: str, *, collection: str | None = None) -> str | None:
        """Return the stored text of a document."""
        return self._parts.store.text(self.project, self._collection(collection), uri)

    def is_empty(self) -> bool:
        """Return whether nothing has been stored."""
        return not self.settings.rag.enabled or not any(
            c.documents for c in self._parts.store.collections(self.project)
        )

    def changed(self) -> bool:
        """Return whether the folder differs, by names, sizes and times, from what the last sync saw."""
        return self._parts.store.note(self.project, _FINGERPRINT) != fingerprint(self.source().scan())

    def last_sync(self) -> float | None:
        """Return when the whole folder was last synced, in seconds since 1970."""
        synced = self._parts.store.note(self.project, _SYNCED)
        return float(synced) if synced else None

    def status(self) -> Status:
        """Return the state of the index at a glance."""
        collections = tuple(self._parts.store.collections(self.project))
        return Status(
            home=str(self.home),
            project=self.project,
            enabled=self.settings.rag.enabled,
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
        """Return what a look at every invariant found."""
        return self._parts.store.check()

    def compact(self, *, secure: bool = False) -> int:
        """Give back the room of what was removed and return the bytes freed."""
        return self._parts.store.compact(secure=secure)

    def backup(self, target: str | Path) -> Path:
        """Write a verified copy of the database and return its path."""
        return self._parts.store.backup(Path(target))

    def export(self, *, collection: str | None = None, vectors: bool = True) -> Iterator[str]:
        """Yield the collection as lines of JSON that `load` reads back."""
        return portable.export_lines(self._parts.store, self.project, self._collection(collection), vectors=vectors)

    def load(self, lines: Iterable[str], *, collection: str | None = None) -> AddReport:
        """Take in what `export` gave and return what changed; vectors of the same space are not made again."""
        writer = self._parts.writer(self._collection(collection))
        self._space(writer.collection)
        report = portable.import_lines(self._parts.store, writer, lines)
        return replace(report, pending=self._pending(collection))

    # ── the parts ─────────────────────────────────────────────────────────────────────────────────

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

    def _space(self, collection: str, *, state: SpaceState = "active") -> SpaceInfo:
        """Return the configured embedder's space of a collection, made now if it was not there."""
        space = self._parts.embedder(self.settings.rag.embedding_provider).space
        storage = self.settings.embed.storage
        self._parts.store.ensure_collection(self.project, collection)
        return self._parts.store.ensure_space(self.project, collection, space, storage=storage, state=state)

    def _collection(self, name: str | None) -> str:
        return name or self.settings.rag.vector_store.collection_name

    def _scope(self, collection: str | Sequence[str] | None) -> Scope:
        if collection is None:
            return Scope(self.project, None)
        return Scope(self.project, (collection,) if isinstance(collection, str) else tuple(collection))

    def _pending(self, collection: str | None) -> int:
        scope = Scope(self.project, (self._collection(collection),))
        return max(
            (info.texts - info.embedded for info in self._parts.store.spaces(scope) if info.state == "active"),
            default=0,
        )


def _settings(root: Path, overrides: Mapping[str, Any] | None) -> config.Settings:
    return config.load(root, overrides=overrides)


def _checked(documents: Iterable[Document]) -> Iterator[Document]:
    for document in documents:
        if not document.uri.strip():
            raise InputError("a document needs a uri", hint='Document(uri="notes/today", text="…")')
        yield document


def _checked_top_k(top_k: int) -> int:
    if top_k < 0:
        raise InputError(f"top_k is {top_k}", hint="give a number from 0 up")
    return min(top_k, MAX_TOP_K)


def _check_options(options: Mapping[str, object]) -> None:
    known = SearchOptions.__annotations__
    for name in options:
        if name not in known:
            raise InputError(f"a search has no option {name!r}", hint=f"the options are {', '.join(known)}")
    for name, choices in (("mode", get_args(Mode)), ("fusion", get_args(Fusion))):
        value = options.get(name)
        if value is not None and value not in choices:
            raise InputError(f"{name} is {value!r}", hint=f"use one of: {', '.join(choices)}")
