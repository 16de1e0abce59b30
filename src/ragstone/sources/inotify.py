"""Changes below folders as Linux tells them: in order, and there to be read the moment a write returns."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.sources.safe_open import identities

if TYPE_CHECKING:
    from ragstone.sources.file_changes import FoldersOf

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED, _IS_FOLDER = 0x2000, 0x4000, 0x8000, 0x4000_0000
_ONLY_FOLDERS, _NO_LINKS, _NOT_WHEN_UNLINKED = 0x0100_0000, 0x0200_0000, 0x0400_0000
_CHANGES: Final = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_MASK: Final = _CHANGES | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS | _NO_LINKS | _NOT_WHEN_UNLINKED
_HEAD: Final = struct.Struct("iIII")
_BYTES: Final = 1 << 16
_PASSING: Final = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG)
"""Reasons for which one folder cannot be watched, and the others can."""
_ROUNDS: Final = 8


class Lost(Exception):
    """Some changes were not told: everything may be different."""


class Inotify:
    """Watches every folder below a root that may hold files that count; `OSError` where the system has no more room."""

    way: Final = "events"

    def __init__(self, root: Path, folders: FoldersOf) -> None:
        """Begin to watch; `folders` gives those below the root, or below some of its folders."""
        libc = ctypes.CDLL(None, use_errno=True)
        self._add_watch, self._remove_watch = libc.inotify_add_watch, libc.inotify_rm_watch
        self._root, self._folders = os.path.realpath(root), folders
        self._paths: dict[int, str] = {}
        self._lost = False
        self._descriptor = -1
        self._descriptor = _checked(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._identity = identities([self._root])
        try:
            self._watch_all(None)
        except BaseException:
            self.close()
            raise

    def __del__(self) -> None:
        self.close()

    def changed(self) -> set[str] | None:
        """Return the paths that changed since the last call, folders for all in them; None: maybe everything."""
        paths: set[str] = set()
        try:
            if self._lost or identities([self._root]) != self._identity:
                raise Lost
            for _ in range(_ROUNDS):
                made = self._drain(paths)
                if not made:
                    break
                self._watch_all(made)
        except Lost:
            self._begin_again()
            return None
        return paths

    def wait(self, seconds: float) -> bool:
        """Return whether there is something to be told, waiting for it so long at most."""
        if self._lost:
            return True
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def close(self) -> None:
        """Watch no more."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _begin_again(self) -> None:
        """Watch whatever is there now; where nothing is, all is lost until there is."""
        self._lost = True
        for number in list(self._paths):
            self._remove_watch(self._descriptor, number)
        self._paths.clear()
        self._identity = identities([self._root])
        if not self._identity:
            return
        for _ in self._events():  # what was told of the old state says nothing of the new one
            pass
        self._watch_all(None)
        self._lost = False

    def _watch_all(self, below: set[str] | None) -> None:
        """Watch all folders, or those below some; listed until none is new, as one may be made beside the other."""
        for _ in range(_ROUNDS):
            fresh = self._folders(None if below is None else sorted(below)) - set(self._paths.values())
            if not any([self._watch(path) for path in sorted(fresh)]):
                return

    def _watch(self, path: str) -> bool:
        full = os.fsencode(os.path.join(self._root, path) if path else self._root)
        number = self._add_watch(self._descriptor, full, _MASK)
        if number < 0:
            reason = ctypes.get_errno()
            if reason in _PASSING and path:
                return False
            raise OSError(reason, os.strerror(reason))
        self._paths[number] = path
        return True

    def _drain(self, paths: set[str]) -> set[str]:
        """Put what changed into `paths` and return folders that are new; `Lost` where not everything was told."""
        made: set[str] = set()
        for number, mask, name in self._events():
            folder = self._paths.get(number)
            if mask & (_OVERFLOW | _UNMOUNT) or (folder == "" and mask & (_DELETE_SELF | _MOVE_SELF)):
                raise Lost
            if mask & _IGNORED:
                self._paths.pop(number, None)
            if folder is None or not name:
                continue
            path = f"{folder}/{name}" if folder else name
            paths.add(path)
            if mask & _IS_FOLDER and mask & (_MOVED_FROM | _DELETE):
                self._forget(path)
                made -= {one for one in made if one == path or one.startswith(f"{path}/")}
            if mask & _IS_FOLDER and mask & (_CREATE | _MOVED_TO):
                made.add(path)
        return made

    def _forget(self, path: str) -> None:
        """Stop watching a folder that is no longer at this path, and all in it."""
        for number in [n for n, known in self._paths.items() if known == path or known.startswith(f"{path}/")]:
            del self._paths[number]
            self._remove_watch(self._descriptor, number)

    def _events(self) -> Iterator[tuple[int, int, str]]:
        while True:
            try:
                data = os.read(self._descriptor, _BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, mask, _, length = _HEAD.unpack_from(data, at)
                at += _HEAD.size
                yield number, mask, os.fsdecode(data[at : at + length].rstrip(b"\0"))
                at += length


def _checked(number: int) -> int:
    if number < 0:
        reason = ctypes.get_errno()
        raise OSError(reason, os.strerror(reason))
    return number
