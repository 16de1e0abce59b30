"""The one way this project opens a file of someone else's.

No link is followed below the root, nothing but a regular file is opened, nothing is read beyond a limit, and files in
`never` are not even opened: closing any descriptor of a SQLite database drops this process's locks on it.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ragstone.errors import ReadError
from ragstone.types import Stamp

Identity = tuple[int, int]
"""Device and inode: what a file is, whatever it is called."""

ATTEMPTS = 3
RACY_NS = 2_000_000_000
"""A file touched this short before it was read may change again without its times moving on a coarse clock."""

_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = os.O_RDONLY | _NOFOLLOW
for _flag in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _FILE |= getattr(os, _flag, 0)
_REASONS = {
    errno.ENOENT: "vanished",
    errno.ENOTDIR: "vanished: a folder on its path is now something else",
    errno.ELOOP: "not opened: it is a link",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENXIO: "not a regular file",
    errno.ENAMETOOLONG: "its path is too long",
}
_LIMIT = "sources.max_file_bytes sets the limit, sources.max_document_bytes that of PDF, office and web files"
_held: list[int] = []


@dataclass(frozen=True, slots=True)
class Opened:
    """The bytes of a file, and the stamp they had both before and after they were read."""

    data: bytes
    stamp: Stamp
    settled: bool
    """Whether the stamp is old enough to prove, next time, that nothing has changed."""


def identities(paths: Iterable[Path | str]) -> frozenset[Identity]:
    """Return what the paths that exist are, by looking at them only."""
    found: set[Identity] = set()
    for path in paths:
        try:
            info = os.stat(path)
        except OSError:
            continue
        found.add((info.st_dev, info.st_ino))
    return frozenset(found)


def stamp_of(info: os.stat_result) -> Stamp:
    """Return the stamp in what the operating system says of a file."""
    return Stamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)


def safe_open(root: Path, relative: str, *, max_bytes: int, never: Collection[Identity] = ()) -> Opened:
    """Return the whole of one regular file below a root, or raise `ReadError`."""
    parts = _parts(relative)
    try:
        for _ in range(ATTEMPTS):
            opened = _attempt(root, parts, max_bytes, never)
            if opened is not None:
                return opened
    except OSError as error:
        raise _told(error) from error
    raise ReadError("kept changing while it was read", hint="run sync again when it is at rest")


def safe_stream(root: Path, relative: str, *, never: Collection[Identity] = ()) -> BinaryIO:
    """Return one regular file below a root, open to be read line by line whatever its size, or raise `ReadError`."""
    parts = _parts(relative)
    try:
        descriptor = _reach(root, parts, never)
    except OSError as error:
        raise _told(error) from error
    try:
        _refuse(os.fstat(descriptor), None)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _told(error: OSError) -> ReadError:
    return ReadError(_REASONS.get(error.errno or 0, f"cannot be opened: {error.strerror or error}"))


def _parts(relative: str) -> list[str]:
    parts = relative.split("/")
    odd = any(part in ("", ".", "..") or "\0" in part for part in parts)
    if odd or (os.sep == "\\" and any(sign in relative for sign in "\\:")):
        raise ReadError("not opened: its path leads out of the folder")
    return parts


def _attempt(root: Path, parts: list[str], max_bytes: int, never: Collection[Identity]) -> Opened | None:
    """Return the file, or None when it changed while it was read."""
    started = time.time_ns()
    descriptor = _reach(root, parts, never)
    try:
        before = os.fstat(descriptor)
        _refuse(before, max_bytes)
        data = _read(descriptor, before.st_size)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    stamp = stamp_of(after)
    if stamp_of(before) != stamp or len(data) != after.st_size:
        return None
    return Opened(data, stamp, settled=max(stamp.mtime_ns, stamp.ctime_ns) < started - RACY_NS)


def _reach(root: Path, parts: list[str], never: Collection[Identity]) -> int:
    return _descend(root, parts, never) if _BY_DESCRIPTOR else _open_portably(root, parts, never)


def _descend(root: Path, parts: list[str], never: Collection[Identity]) -> int:
    """Return a descriptor reached step by step, so that no folder can be swapped for a link on the way."""
    folder = os.open(root, _FOLDER)
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER | _NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        seen = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        _refuse_unopened(seen, never)
        return _keep_ours(os.open(parts[-1], _FILE, dir_fd=folder), never)
    finally:
        os.close(folder)


def _open_portably(root: Path, parts: list[str], never: Collection[Identity]) -> int:
    """Return a descriptor where folders cannot be opened: the resolved path must stay below the root."""
    path = os.path.join(root, *parts)
    seen = os.lstat(path)
    _refuse_unopened(seen, never)
    if os.path.realpath(path) != os.path.join(os.path.realpath(root), *parts):
        raise ReadError("not opened: a link is on its path")
    return _keep_ours(os.open(path, _FILE), never)


def _refuse_unopened(seen: os.stat_result, never: Collection[Identity]) -> None:
    if stat.S_ISLNK(seen.st_mode):
        raise ReadError("not opened: it is a link")
    if not stat.S_ISREG(seen.st_mode):
        raise ReadError("not a regular file")
    if (seen.st_dev, seen.st_ino) in never:
        raise ReadError("never opened: it belongs to Ragstone's own index")


def _keep_ours(descriptor: int, never: Collection[Identity]) -> int:
    """Return the descriptor, unless our own file was slipped in since it was looked at."""
    info = os.fstat(descriptor)
    if (info.st_dev, info.st_ino) in never:
        _held.append(descriptor)  # closing it is what would drop the database's locks
        raise ReadError("never opened: it belongs to Ragstone's own index")
    return descriptor


def _refuse(info: os.stat_result, max_bytes: int | None) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise ReadError("not a regular file")
    if max_bytes is not None and info.st_size > max_bytes:
        raise ReadError(f"too large: {info.st_size:,} bytes (limit {max_bytes:,})", hint=_LIMIT)


def _read(descriptor: int, size: int) -> bytes:
    """Return all there is, one byte more than there should be at most: that byte shows that the file grew."""
    pieces: list[bytes] = []
    left = size + 1
    while left > 0:
        piece = os.read(descriptor, left)
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
