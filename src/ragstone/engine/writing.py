"""The verbs that bring documents in and take them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ragstone import types
from ragstone.chunk.recipes import check_chunking
from ragstone.engine import arguments as checked
from ragstone.engine import later
from ragstone.engine.ground import OFF, Ground
from ragstone.errors import Conflict, InputError, StaleSpace
from ragstone.protocols import Progress
from ragstone.types import AddReport, Document, SyncReport


class Writing(Ground):
    """The part of an engine that documents come in by."""

    def add(
        self, documents: Document | Iterable[Document], *, collection: str | None = None, embed: bool = True
    ) -> AddReport:
        """Store given documents, one or many, and return what changed; durable when it returns."""
        if not self.enabled:
            return AddReport(0, 0, 0, notes=(OFF,))
        name = self._collection(collection)
        writer = self._parts.writer(name)
        results = writer.add(checked.documents(documents))
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
            remarks=writer.remarks(results),
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
        name = self._collection(collection)
        with self._follower.whole(lambda: [name] if paths is None else []):
            return self._keeper.sync(name, paths, full=full, embed=embed, progress=progress)

    def refresh(
        self, *, embed: bool | float = True, progress: Progress | None = None, wait: float | None = None
    ) -> SyncReport | None:
        """Sync every collection that was synced before and return the ledger; None where nothing had changed.

        An index that holds only given documents is left alone. `wait` is how long to queue for another writer.
        """
        if not self.enabled:
            return None
        with self._follower.whole(self._keeper.followed):
            return self._keeper.refresh(self._collection(None), embed=embed, progress=progress, wait=wait)

    def embed(
        self, *, collection: str | None = None, seconds: float | None = None, progress: Progress | None = None
    ) -> int:
        """Give vectors to texts that have none and return how many; another process at the same work is waited for."""
        if not self.enabled:
            return 0
        checked.embed(seconds if seconds is not None else True)
        return self._keeper.embed(self._existing(collection), seconds=seconds, progress=progress)

    def add_page(self, url: str, *, collection: str | None = None, embed: bool = True) -> AddReport:
        """Fetch a web page, store it under the address it was found at, and return what changed."""
        return self._outside().add_page(url, self._collection(collection), embed=embed)

    def recheck_pages(self, *, collection: str | None = None, embed: bool = True) -> SyncReport:
        """Ask the servers of all stored web pages what has changed, follow, and return the ledger."""
        names = [one.name for one in self.collections()] if collection is None else [self._existing(collection)]
        return self._outside().recheck_pages(names, embed=embed)

    def capture(
        self,
        program: str,
        *,
        collection: str = "help",
        limits: later.HelpLimits | None = None,
        embed: bool = True,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Run a program for its help, and that of its commands, store it, and return the ledger."""
        outside = self._outside()
        report = outside.capture(program, collection, limits=limits, inside=self.folder)
        return outside.with_vectors(report, [collection], embed=embed and self.enabled, progress=progress)

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
        return self._parts.store.remove(self._parts.key(name), list(dict.fromkeys(wanted)))

    def create_collection(
        self,
        name: str,
        description: str = "",
        *,
        chunker: str | None = None,
        chunk_size: int | None = None,
        chunk_overlap: int | None = None,
    ) -> types.Collection:
        """Return a new collection, cut in its own way where that is given; `Conflict` if the name is taken."""
        self._switched_on()
        checked.sizes(name, chunk_size, chunk_overlap)
        # A size that makes no sense is told now, and not at the first sync.
        check_chunking(chunker or self.settings.rag.chunker, chunk_size, chunk_overlap)
        if any(one.name == name for one in self.collections()):
            raise Conflict(f"there is a collection {name!r} already", hint="choose another name, or drop it first")
        given = {"chunker": chunker, "chunk_size": chunk_size, "chunk_overlap": chunk_overlap}
        settings = {key: value for key, value in given.items() if value is not None}
        return self._parts.store.ensure_collection(self._parts.key(name), description=description, settings=settings)

    def drop_collection(self, name: str) -> int:
        """Remove a collection with all in it and return how many documents went; `NotFound` if there is none."""
        self._switched_on()
        return self._parts.store.drop_collection(self._parts.key(self._existing(name)))

    def _outside(self) -> later.Outside:
        return later.Outside(self._parts, self._keeper)

    def _document_of(self, one: str, collection: str) -> str:
        """Return the uri an id stands for: a document's own, or that of a chunk's document."""
        if self._parts.store.document(self._parts.key(collection), one) is not None:
            return one
        return one.rpartition("__chunk_")[0] or one
