"""Following a folder: what has changed since the last look is noticed, and brought in before anybody asks for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from ragstone.errors import InputError, RagstoneError, StoreBusy, StoreDamaged, StoreTooNew
from ragstone.indexing.sync import Keeper
from ragstone.sources.file_changes import Interval, Watch, open_watch
from ragstone.sources.folder.tree import GIT_RULES, OWN_RULES
from ragstone.sources.uris import from_uri
from ragstone.store.disk import network_type
from ragstone.types import SyncReport

MOST_PATHS: Final = 500
"""Beyond so many changed paths a look at the whole folder is quicker than one at each."""
SECONDS_FOR_A_WRITER: Final = 0.5
"""How long a search waits for another writer: an answer from what is stored, with a word about it, is worth more."""
AGAIN_AFTER_SECONDS: Final = 5.0
LATER_SECONDS: Final = 60.0
"""What could not be brought in is not tried again with every search; a folder that is not fit to be, later still."""

Place = tuple[str, str]
"""A document: its collection and its uri."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What was brought in: the documents that were read again, each collection's ledger, and what should be known."""

    places: frozenset[Place] = frozenset()
    reports: tuple[tuple[str, SyncReport], ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: Brought) -> Brought:
        """Return both together."""
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        return Brought(self.places | other.places, (*self.reports, *other.reports), notes)


NOTHING: Final = Brought()


@dataclass(slots=True)
class Follower:
    """Keeps the collections that are meant to match a folder level with it; safe to use from several threads."""

    keeper: Keeper
    _watch: Watch | None = None
    _owed: dict[str, set[str] | None] = field(default_factory=dict)
    """What changed and is not brought in yet, for each collection; None: look at everything."""
    _bare: set[str] = field(default_factory=set)
    """Collections that were given texts without vectors."""
    _known: tuple[int, list[str]] = (-1, [])
    _not_before: float = 0.0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def catch_up(self, *, vectors: bool) -> Brought:
        """Bring in all that changed below the folder since the last look, and return what that was."""
        if not self.active:
            return NOTHING
        with self._lock:
            names = self._followed()
            if not names:
                return NOTHING
            self.look(names)
            brought = NOTHING
            if time.monotonic() >= self._not_before:
                for name in names:
                    if self._owed[name] != set():
                        brought += self._bring(name, self._owed[name])
            return brought + self._vectors() if vectors else brought

    def bring_in(self, places: Sequence[Place], *, vectors: bool) -> Brought:
        """Bring in documents that are known to have changed, and return what came of it."""
        with self._lock:
            brought = NOTHING
            for name in dict.fromkeys(collection for collection, _ in places):
                brought += self._bring(name, {from_uri(uri) for collection, uri in places if collection == name})
            return brought + self._vectors() if vectors else brought

    @contextmanager
    def whole(self, collections: Callable[[], Sequence[str]]) -> Iterator[None]:
        """Hold while collections are synced from the whole folder: what changed before needs no look of its own."""
        if not self.active:
            yield
            return
        with self._lock:
            self._watch = self._watch or self._opened()
            self.look(())
        yield
        with self._lock:
            for name in collections():
                # What changed meanwhile is told at the next look.
                self._owed[name] = set()

    def look(self, names: Sequence[str]) -> None:
        """Ask what has changed, for these collections and those that were followed before."""
        with self._lock:
            self._watch = self._watch or self._opened()
            for name in names:
                self._owed.setdefault(name, None)
            try:
                changed = self._watch.changed()
            except OSError:  # no room for more watches
                self._watch.close()
                self._watch, changed = Interval(self._interval()), None
            for name, owed in self._owed.items():
                together = None if changed is None or owed is None else owed | changed
                self._owed[name] = together if together is not None and _narrow(together) else None

    def wait(self, seconds: float) -> bool:
        """Return whether something may have changed, waiting for it so long at most."""
        watch = self._watch
        if watch is None:
            time.sleep(seconds)
            return True
        return watch.wait(seconds)

    def doubt(self) -> None:
        """Look at everything the next time, whatever was told."""
        with self._lock:
            self._owed = dict.fromkeys(self._owed)

    @property
    def active(self) -> bool:
        """Return whether changes are noticed at all, and not only those of files that are hit."""
        return self.keeper.parts.settings.search.watch != "off"

    @property
    def way(self) -> str:
        """Return how changes are noticed: `events`, `interval`, or nothing before the first look."""
        return self._watch.way if self._watch else ""

    @property
    def waiting(self) -> int:
        """Return how many paths changed and are not brought in yet; -1: everything is to be looked at."""
        owed = list(self._owed.values())
        return -1 if None in owed else max((len(paths) for paths in owed if paths is not None), default=0)

    def close(self) -> None:
        """Follow no more; the next call begins again with a look at everything."""
        with self._lock:
            if self._watch is not None:
                self._watch.close()
                self._watch = None
            self._owed.clear()
            self._known = (-1, [])

    def _bring(self, name: str, paths: set[str] | None) -> Brought:
        """Return what came of one collection's changes; where it cannot be done now, why."""
        store = self.keeper.parts.store
        try:
            with store.lock_timeout(SECONDS_FOR_A_WRITER):
                report = self.keeper.bring_in(name, None if paths is None else sorted(paths))
        except (StoreDamaged, StoreTooNew):
            raise
        except RagstoneError as error:
            later = LATER_SECONDS if isinstance(error, InputError) else AGAIN_AFTER_SECONDS
            self._not_before = time.monotonic() + later
            why = "another process is at it" if isinstance(error, StoreBusy) else error.message
            return Brought(notes=(f"not brought up to date: {why}; answering from what is stored",))
        owed = self._owed.get(name)
        if paths is None or (owed is not None and owed <= paths):
            self._owed[name] = set()
        if report.chunks_added:
            self._bare.add(name)
        return Brought(frozenset((name, uri) for uri in report.changed), ((name, report),))

    def _vectors(self) -> Brought:
        """Give vectors to what was brought in, while that is quick."""
        seconds = self.keeper.parts.settings.search.refresh_ms / 1000
        notes: list[str] = []
        while self._bare:
            name = self._bare.pop()
            try:
                self.keeper.embed_few(name, seconds=seconds)
            except (StoreDamaged, StoreTooNew):
                raise
            except RagstoneError as error:
                notes.append(f"no vectors for what changed: {error.message}")
        return Brought(notes=tuple(notes))

    def _followed(self) -> list[str]:
        """Return the collections to keep level, asked for again only after a change."""
        generation = self.keeper.parts.store.generation(self.keeper.parts.scope())
        if self._known[0] != generation:
            self._known = (generation, self.keeper.followed())
            self._owed = {name: owed for name, owed in self._owed.items() if name in self._known[1]}
        return self._known[1]

    def _opened(self) -> Watch:
        settings = self.keeper.parts.settings
        told = settings.search.watch == "auto" and not network_type(settings.base)
        return open_watch(settings.base, self._folders, interval=self._interval(), events=told)

    def _interval(self) -> float:
        return float(self.keeper.parts.settings.sources.auto_sync_interval_seconds)

    def _folders(self, below: Sequence[str] | None) -> set[str]:
        return self.keeper.source(None, changed=below).folders()


def _narrow(paths: set[str]) -> bool:
    """Return whether changed paths can be looked at one by one: few, and none that says which others count."""
    rules = any(path.rpartition("/")[2] in (GIT_RULES, OWN_RULES) for path in paths)
    return len(paths) <= MOST_PATHS and not rules
