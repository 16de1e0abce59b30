"""Which files changed since the last call: reported by the operating system, or assumed after an interval."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from ragstone.sources.files import identities
from ragstone.sources.folder.selection import OWN_FOLDERS

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

ListFolders = Callable[[Sequence[str] | None], set[str]]
"""Returns the folders below the root, or below some of its folders, that may hold files of the source."""

_MAX_PATHS: Final = 10_000
_MAX_ROUNDS: Final = 8
_POLL_SECONDS: Final = 0.05
_GROUP_MS: Final = 10
_STEP_MS: Final = 0
_TIMEOUT_MS: Final = 2000
_MODIFIED: Final = 2
"""The code of `watchfiles` for a change that neither adds nor deletes."""


class Watch(Protocol):
    """Reports the changes below a root."""

    @property
    def way(self) -> str:
        """Return how changes are noticed: `events` or `interval`."""

    def changed(self) -> set[str] | None:
        """Return the paths that changed since the last call; None if any path may have changed."""

    def wait(self, seconds: float) -> bool:
        """Wait for a change, at most this long, and return whether there may be one."""

    def close(self) -> None:
        """Stop watching."""


def open_watch(
    root: Path, folders: ListFolders, *, interval: float, events: bool = True
) -> Watch:
    """Return a watch on file events, or an interval if `events` is False or the system has no more room for it."""
    if events:
        try:
            return EventWatch(root, folders)
        except (OSError, ImportError):
            pass
    return Interval(interval)


class Interval:
    """Assumes that anything may have changed whenever the interval has passed."""

    way: Final = "interval"

    def __init__(self, seconds: float) -> None:
        """Start the interval."""
        self._seconds = seconds
        self._last = time.monotonic()

    def changed(self) -> set[str] | None:
        """Return None if the interval has passed, else an empty set."""
        if self._seconds_left() > 0:
            return set()
        self._last = time.monotonic()
        return None

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the interval, at most this long, and return whether it has passed."""
        time.sleep(max(0.0, min(seconds, self._seconds_left())))
        return self._seconds_left() <= 0

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _seconds_left(self) -> float:
        return self._last + self._seconds - time.monotonic()


class EventWatch:
    """Reports file events through `watchfiles`. Ignored folders are not watched.

    A change made before `changed` is called is always in its answer: `changed` touches a marker file and waits for the
    marker's event, which the system delivers after all earlier ones.
    """

    way: Final = "events"

    def __init__(self, root: Path, folders: ListFolders) -> None:
        """Start to watch; raise `OSError` if the system has no more room for watches."""
        from watchfiles._rust_notify import (
            RustNotify,
        )  # its documented backend; compiled code that few runs need

        self._notifier_class = RustNotify
        self._root = os.path.realpath(root)
        self._list_folders = folders
        self._lock = threading.Lock()
        self._changed: set[str] | None = set()
        self._marker_folder = tempfile.TemporaryDirectory(prefix="ragstone-watch-")
        self._marker = os.path.join(os.path.realpath(self._marker_folder.name), "marker")
        Path(self._marker).touch()
        self._folders: set[str] = set()
        self._notifier: RustNotify | None = None
        self._identity = identities([self._root])
        self._watch_folders()

    def changed(self) -> set[str] | None:
        """Return the paths that changed since the last call, folders for all in them; None: any path."""
        with self._lock:
            self._collect()
            changed, self._changed = self._changed, set()
            return changed

    def wait(self, seconds: float) -> bool:
        """Wait for a change, at most this long, and return whether there is one."""
        end = time.monotonic() + seconds
        while True:
            with self._lock:
                self._collect()
                if self._changed != set():
                    return True
            if time.monotonic() >= end:
                return False
            time.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """Stop watching and remove the marker."""
        with self._lock:
            if self._notifier is not None:
                self._notifier.close()
                self._notifier = None
            self._marker_folder.cleanup()

    def _collect(self) -> None:
        """Add the paths of all events so far to `_changed`."""
        if self._notifier is None or identities([self._root]) != self._identity:
            self._start_again()
            return
        try:
            events = self._read_events()
        except (OSError, RuntimeError):  # the marker was removed, or a name cannot be decoded
            self._start_again()
            return
        changes: set[tuple[int, str]] = set()
        for change, full_path in events:
            path = os.path.relpath(full_path, self._root).replace(os.sep, "/")
            if OWN_FOLDERS.isdisjoint(path.split("/")):
                changes.add((change, path))
        if self._has_new_folder(changes):
            self._start_again()
            return
        self._add_changed({path for _, path in changes if path != "."})

    def _add_changed(self, paths: set[str]) -> None:
        if self._changed is not None:
            self._changed |= paths
            if len(self._changed) > _MAX_PATHS:
                self._changed = None

    def _read_events(self) -> set[tuple[int, str]]:
        """Return all events up to now, as pairs of change and path."""
        assert self._notifier is not None  # noqa: S101 - checked by the caller
        events: set[tuple[int, str]] = set()
        os.utime(self._marker)
        while not any(path == self._marker for _, path in events):
            # A call that times out drops events, so it may do so only if the watch is given up.
            answer = self._notifier.watch(_GROUP_MS, _STEP_MS, _TIMEOUT_MS, None)
            if isinstance(answer, str):
                raise OSError("no file events arrive")
            events |= answer
        return {(change, path) for change, path in events if path != self._marker}

    def _has_new_folder(self, events: set[tuple[int, str]]) -> bool:
        """Return whether a folder of the source appeared; also forget folders that were deleted or replaced."""
        for change, path in events:
            if change != _MODIFIED:
                self._forget_folder(path)
        paths = {path for _, path in events} - self._folders
        candidates = sorted(path for path in paths if self._is_folder(path))
        if not candidates:
            return False
        return not self._list_folders(candidates) <= self._folders

    def _forget_folder(self, path: str) -> None:
        """Forget a folder and all folders below it."""
        below = [folder for folder in self._folders if folder.startswith(f"{path}/")]
        self._folders = self._folders - {path, *below}

    def _is_folder(self, path: str) -> bool:
        full = os.path.join(self._root, path)
        return os.path.isdir(full) and not os.path.islink(full)

    def _start_again(self) -> None:
        """Watch the folders that exist now; any path may have changed since."""
        self._changed = None
        self._notifier = None
        self._identity = identities([self._root])
        if self._identity:
            self._watch_folders()

    def _watch_folders(self) -> None:
        """Watch all folders of the source; repeat if some appeared or vanished while the watch was opened."""
        folders = self._list_folders(None)
        for _ in range(_MAX_ROUNDS):
            self._folders = folders
            self._notifier = self._open_notifier(folders)
            folders = self._list_folders(None)
            if self._notifier is not None and folders <= self._folders:
                return
        if self._notifier is None:
            raise OSError("the folders keep changing")

    def _open_notifier(self, folders: set[str]) -> RustNotify | None:
        """Return a notifier for these folders, or None if one of them has vanished."""
        paths = [os.path.join(self._root, path) for path in sorted(folders)]
        paths = [path for path in paths if _is_unicode(path)]
        try:
            return self._notifier_class(
                [*paths, os.path.dirname(self._marker)],
                debug=False,
                force_polling=False,
                poll_delay_ms=0,
                recursive=False,
                ignore_permission_denied=True,
            )
        except FileNotFoundError:
            return None
        except RuntimeError as error:
            raise OSError(str(error)) from error


def _is_unicode(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
