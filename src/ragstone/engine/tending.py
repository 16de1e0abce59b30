"""The verbs that keep an index sound, true to its folder, and at hand elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ragstone import types
from ragstone.engine import arguments as checked
from ragstone.engine import later
from ragstone.engine.ground import OFF, Ground
from ragstone.errors import StaleSpace
from ragstone.protocols import Progress
from ragstone.sources.folder.fingerprint import fingerprint
from ragstone.store.home import size_on_disk
from ragstone.types import AddReport, Status


class Tending(Ground):
    """The part of an engine that looks after the index."""

    def reembed(self, *, collection: str | None = None, progress: Progress | None = None) -> int:
        """Build the configured embedder's vectors beside the old ones, then switch; return how many were made.

        Without a name it does so for every collection of the project.
        """
        self._switched_on()
        names = [one.name for one in self.collections()] if collection is None else [self._existing(collection)]
        return sum(self._keeper.reembed(name, progress=progress) for name in names)

    def changed(self, *, collection: str | None = None) -> bool:
        """Return whether the folder differs, by names, sizes and times, from what the last sync saw."""
        return self._keeper.fingerprint(self._collection(collection)) != fingerprint(self.source().scan())

    def last_sync(self) -> float | None:
        """Return when the folder was last synced, in seconds since 1970."""
        return self._keeper.last_sync()

    def waiting(self) -> int:
        """Return how many files were changed, made or removed since they were last looked at."""
        return self._keeper.waiting() if self.enabled else 0

    def watcher(self, *, on_sync: later.OnSync | None = None) -> later.Watcher:
        """Return what keeps the index level with the folder in the background, once it is started.

        `on_sync` is called with the ledger whenever something was brought in.
        """
        self._switched_on()
        self._watchers.append(later.Watcher(self._follower, on_sync=on_sync))
        return self._watchers[-1]

    def status(self) -> Status:
        """Return the state of the index at a glance."""
        collections = tuple(self._parts.collections())
        return Status(
            home=str(self.home),
            project=self.project,
            enabled=self.enabled,
            collections=collections,
            documents=sum(one.documents for one in collections),
            chunks=sum(one.chunks for one in collections),
            spaces=tuple(self._parts.store.vectors.spaces(self._parts.scope())),
            generation=self._parts.store.generation(self._parts.scope()),
            last_sync=self.last_sync(),
            bytes_on_disk=size_on_disk(self.home),
        )

    def check(self) -> list[types.Finding]:
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
        from ragstone.indexing import export as portable  # only for whoever takes an index elsewhere

        return portable.export_lines(self._parts.store, self._parts.key(self._existing(collection)), vectors=vectors)

    def load(self, lines: Iterable[str], *, collection: str | None = None) -> AddReport:
        """Take in what `export` gave and return what changed; vectors of the same space are not made again."""
        if not self.enabled:
            return AddReport(0, 0, 0, notes=(OFF,))
        from ragstone.indexing import export as portable  # as above

        name = self._collection(collection)
        notes: tuple[str, ...] = ()
        try:
            self._keeper.space(name)
        except StaleSpace as error:
            notes = (str(error),)
        writer = self._parts.writer(name)
        report = portable.import_lines(self._parts.store, writer, checked.lines(lines), self._parts.codec)
        return replace(report, pending=self._keeper.pending(name), notes=(*notes, *report.notes))
