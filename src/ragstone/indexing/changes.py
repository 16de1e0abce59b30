"""How changes are found: the three policies, and the paths that file events or an interval name."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone.indexing.collection import folder_source
from ragstone.protocols import Progress
from ragstone.sources.file_changes import Interval, Watch, open_watch
from ragstone.sources.folder.selection import IGNORE_FILES
from ragstone.store.home_folder import network_type
from ragstone.types import SyncReport

if TYPE_CHECKING:
    from ragstone.config import Settings

_MAX_PATHS: Final = 500
"""With more changed paths than this, a scan of the whole folder is faster."""

DocumentId: TypeAlias = tuple[str, str]
"""A document: the name of its collection and its uri."""
OnSync: TypeAlias = Callable[[SyncReport], object]
"""Called with the report of a sync."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Walk the folder and sync every collection that follows it."""

    embed: bool | float = True
    """Whether to make vectors; a number limits the seconds."""
    progress: Progress | None = None
    wait: float | None = None
    """Seconds to wait for other writers; None is the store's default."""
    required: bool = False
    """Whether to raise if an existing index cannot be written now; otherwise the outcome has a note."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Index the files that changed since the last look, as the file events say."""

    embed: bool = True


@dataclass(frozen=True, slots=True)
class Proof:
    """Index documents again whose files are different from the stored state."""

    documents: Sequence[DocumentId]
    embed: bool = True


Policy: TypeAlias = Scan | Changes | Proof


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """The result of `ensure_current`: re-indexed documents, a report per collection, and notes for the user."""

    documents: frozenset[DocumentId] = frozenset()
    reports: tuple[tuple[str, SyncReport], ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: SyncOutcome) -> SyncOutcome:
        """Return both outcomes as one."""
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        return SyncOutcome(
            self.documents | other.documents, (*self.reports, *other.reports), notes
        )

    @property
    def report(self) -> SyncReport | None:
        """Return the reports of all collections as one; None if nothing was indexed."""
        reports = [report for _, report in self.reports]
        return sum(reports[1:], reports[0]) if reports else None


class ChangeTracker:
    """The changed paths of each collection that follows the folder. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        """Keep the settings; the folder is watched from the first `collect` on."""
        self._settings = settings
        self._watch: Watch | None = None
        self._pending: dict[str, set[str] | None] = {}
        self._lock = threading.RLock()

    @property
    def enabled(self) -> bool:
        """Return whether changes are tracked at all; if not, only the files behind hits are checked."""
        return self._settings.search.watch != "off"

    @property
    def method(self) -> str:
        """Return `events` or `interval`; empty before the folder is watched."""
        return self._watch.way if self._watch else ""

    @property
    def waiting(self) -> int:
        """Return how many changed paths are not indexed yet; -1 if the whole folder must be scanned."""
        pending = list(self._pending.values())
        if None in pending:
            return -1
        return max((len(paths) for paths in pending if paths is not None), default=0)

    def collect(self, names: Sequence[str] = ()) -> None:
        """Read the file events. A collection that is new in `names` is marked for a scan."""
        with self._lock:
            if self._watch is None:
                self._watch = self._open_watch()
            for name in names:
                self._pending.setdefault(name, None)
            changed = self._read_events(self._watch)
            for name, paths in self._pending.items():
                self._pending[name] = _combine(paths, changed)

    def pending(self, name: str) -> set[str] | None:
        """Return the changed paths of a collection; None if the whole folder must be scanned."""
        return self._pending.get(name)

    def mark_indexed(self, name: str, paths: set[str] | None) -> None:
        """Forget paths that were indexed; None means the whole folder was scanned."""
        with self._lock:
            pending = self._pending.get(name)
            if paths is None or (pending is not None and pending <= paths):
                self._pending[name] = set()

    def request_scan(self) -> None:
        """Mark every collection for a scan of the whole folder."""
        with self._lock:
            self._pending = dict.fromkeys(self._pending)

    def keep_only(self, names: Sequence[str]) -> None:
        """Forget the changes of collections that no longer follow the folder."""
        with self._lock:
            self._pending = {
                name: paths for name, paths in self._pending.items() if name in names
            }

    def wait(self, seconds: float) -> bool:
        """Wait for a change, at most this long, and return whether something may have changed."""
        watch = self._watch
        if watch is None:
            time.sleep(seconds)
            return True
        return watch.wait(seconds)

    def close(self) -> None:
        """Stop watching. The next `collect` starts again with a scan."""
        with self._lock:
            if self._watch is not None:
                self._watch.close()
                self._watch = None
            self._pending.clear()

    def _read_events(self, watch: Watch) -> set[str] | None:
        """Return the changed paths; None if they are unknown."""
        try:
            return watch.changed()
        except OSError:  # the system has no room for more watches
            watch.close()
            self._watch = Interval(self._interval())
            return None

    def _open_watch(self) -> Watch:
        base = self._settings.base
        use_events = self._settings.search.watch == "auto" and not network_type(base)
        return open_watch(base, self._folders, interval=self._interval(), events=use_events)

    def _interval(self) -> float:
        return float(self._settings.sources.auto_sync_interval_seconds)

    def _folders(self, below: Sequence[str] | None) -> set[str]:
        return folder_source(self._settings, changed=below).folders()


def _combine(pending: set[str] | None, changed: set[str] | None) -> set[str] | None:
    """Return all changed paths; None if a scan is simpler or an ignore file changed."""
    if pending is None or changed is None:
        return None
    paths = pending | changed
    if len(paths) > _MAX_PATHS or any(
        path.rpartition("/")[2] in IGNORE_FILES for path in paths
    ):
        return None
    return paths
