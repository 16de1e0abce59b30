"""Which files changed since the last look: told by the system where it does that, else found by looking now and then.

On Linux nothing that happened before a call is missed by it. Elsewhere events come a few hundredths of a second late.
What no way is told of, such as a write to memory that is a file, only a look at the whole folder finds.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol

from ragstone.sources.folder.names import OWN_FOLDERS
from ragstone.sources.safe_open import identities

FoldersOf = Callable[[Sequence[str] | None], set[str]]
"""Gives the folders that count below a root, or below some folders of it, as paths from the root on."""

_GROUP_MS: Final = 50
_QUIET_MS: Final = 5
_LOOK_MS: Final = 200
_READY_SECONDS: Final = 5.0
_MOST_PATHS: Final = 10_000


class Watch(Protocol):
    """Tells what changed below a root."""

    @property
    def way(self) -> str:
        """Return how it knows: `events`, or `interval`."""

    def changed(self) -> set[str] | None:
        """Return the paths that changed since the last call, folders for all in them; None: maybe everything."""

    def wait(self, seconds: float) -> bool:
        """Return whether there may be something to be told, waiting for it so long at most."""

    def close(self) -> None:
        """Watch no more."""


def open_watch(root: Path, folders: FoldersOf, *, interval: float, events: bool = True) -> Watch:
    """Return the best watch there is here: `events=False` where the system would not tell of all changes."""
    if events:
        try:
            return _by_events(root, folders, interval)
        except (OSError, ImportError, AttributeError):
            pass  # no room for more watches, or a system that has none
    return Interval(interval)


def _by_events(root: Path, folders: FoldersOf, interval: float) -> Watch:
    if sys.platform == "linux":
        from ragstone.sources.inotify import Inotify  # brings ctypes, which a short run never needs

        return Inotify(root, folders)
    return Notified(root, interval)


class Interval:
    """Everything may have changed whenever so many seconds have passed."""

    way: Final = "interval"

    def __init__(self, seconds: float) -> None:
        """Take how long a look at everything is good for."""
        self._seconds = seconds
        self._last = time.monotonic()

    def changed(self) -> set[str] | None:
        """Return None where it is time to look at everything again, else nothing."""
        if not self._due():
            return set()
        self._last = time.monotonic()
        return None

    def wait(self, seconds: float) -> bool:
        """Return whether it is time to look again, waiting for it so long at most."""
        if not self._due():
            time.sleep(max(0.0, min(seconds, self._last + self._seconds - time.monotonic())))
        return self._due()

    def close(self) -> None:
        """Return nothing: there is nothing to let go of."""

    def _due(self) -> bool:
        return time.monotonic() - self._last >= self._seconds


class Notified:
    """Asks the `watchfiles` package, in a thread of its own; falls back to an interval where that gives up."""

    def __init__(self, root: Path, interval: float) -> None:
        """Begin to watch; `ImportError` where the package is not there, `OSError` where it cannot begin."""
        import watchfiles  # compiled code, which nothing else needs

        self._root = os.path.realpath(root)
        self._identity = identities([self._root])
        if not self._identity:
            raise OSError("no file events here")
        self._paths: set[str] | None = set()
        self._guard = threading.Condition()
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._instead: Interval | None = None
        self._interval = interval
        self._watch = watchfiles.watch
        self._thread = threading.Thread(target=self._listen, name="ragstone-watch", daemon=True)
        self._thread.start()
        self._ready.wait(_READY_SECONDS)
        if self._instead is not None:
            raise OSError("no file events here")

    @property
    def way(self) -> str:
        """Return `events`, or `interval` once events have failed."""
        return "events" if self._instead is None else self._instead.way

    def changed(self) -> set[str] | None:
        """Return the paths that changed since the last call, folders for all in them; None: maybe everything."""
        with self._guard:
            found, self._paths = self._paths, set()
            if self._instead is None and identities([self._root]) != self._identity:
                self._instead, found = Interval(self._interval), None  # another folder now, of which nothing is told
        if self._instead is None or found is None:
            return found
        return None if self._instead.changed() is None else found

    def wait(self, seconds: float) -> bool:
        """Return whether there may be something to be told, waiting for it so long at most."""
        with self._guard:
            if self._paths == set():
                self._guard.wait(seconds)
            return self._paths != set() or (self._instead is not None and self._instead.wait(0.0))

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join(_READY_SECONDS)

    def _listen(self) -> None:
        try:
            told = self._watch(
                self._root,
                watch_filter=None,
                debounce=_GROUP_MS,
                step=_QUIET_MS,
                rust_timeout=_LOOK_MS,
                yield_on_timeout=True,  # its first word says that it has begun
                stop_event=self._stop,
                raise_interrupt=False,
                ignore_permission_denied=True,
            )
            for changes in told:
                self._ready.set()
                self._take({path for _, path in changes})
        except (OSError, RuntimeError):  # a root that went away, no room for watches; their own error is a RuntimeError
            pass
        finally:
            with self._guard:
                if not self._stop.is_set():
                    self._instead, self._paths = Interval(self._interval), None
                self._guard.notify_all()
            self._ready.set()

    def _take(self, full: set[str]) -> None:
        relative = {os.path.relpath(path, self._root).replace(os.sep, "/") for path in full}
        ours = {path for path in relative if path != "." and not OWN_FOLDERS & set(path.split("/"))}
        if not ours:
            return
        with self._guard:
            if self._paths is not None:
                self._paths |= ours
                if len(self._paths) > _MOST_PATHS:
                    self._paths = None
            self._guard.notify_all()
