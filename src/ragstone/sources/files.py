"""Files below a root: their uris and stamps, and the only function that opens files of a user.

A uri is the path below the root with `/` between its parts. It is valid Unicode, even if the path is not: bytes of a
name that are not UTF-8 are written as `%FF`, and a `%` that would read as such a byte as `%25`. All other names stay
as they are, `100%.txt` and `a%20b` included.

`safe_open` follows no link below the root, opens only regular files, and reads no file beyond a limit. Files in `never`
are not opened at all: closing any descriptor of a SQLite database drops this process's locks on it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import BinaryIO

from ragstone.errors import ReadError
from ragstone.types import FileContent, Stamp

Identity = tuple[int, int]
"""Device and inode: the same for every name of a file."""

ATTEMPTS = 3
RACY_NS = 2_000_000_000
"""A file changed more recently than this may change again without a new time stamp, if the clock is coarse."""

_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC
_FILE = os.O_RDONLY | _NOFOLLOW | _CLOEXEC
_FILE |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
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


def identities(paths: Iterable[Path | str]) -> frozenset[Identity]:
    """Return the identities of the paths that exist; no file is opened."""
    seen: set[Identity] = set()
    for path in paths:
        try:
            info = os.stat(path)
        except OSError:
            continue
        seen.add((info.st_dev, info.st_ino))
    return frozenset(seen)


def output_files() -> frozenset[Identity]:
    """Return the identities of the regular files that this process writes its output to."""
    files: set[Identity] = set()
    for descriptor in (1, 2):
        try:
            info = os.fstat(descriptor)
        except OSError:
            continue
        if stat.S_ISREG(info.st_mode):
            files.add((info.st_dev, info.st_ino))
    return frozenset(files)


def stamp_of(info: os.stat_result) -> Stamp:
    """Return the stamp of a file from its status."""
    return Stamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)


def safe_open(
    root: Path, relative: str, *, max_bytes: int, never: Collection[Identity] = ()
) -> FileContent:
    """Return the content of one regular file below a root, or raise `ReadError`."""
    parts = split_path(relative)
    try:
        for _ in range(ATTEMPTS):
            opened = _attempt(root, parts, max_bytes, never)
            if opened is not None:
                return opened
    except OSError as error:
        raise _read_error(error) from error
    raise ReadError("kept changing while it was read", hint="run sync again when it is at rest")


def safe_stream(root: Path, relative: str, *, never: Collection[Identity] = ()) -> BinaryIO:
    """Return one regular file of any size below a root, open for reading, or raise `ReadError`."""
    parts = split_path(relative)
    try:
        descriptor = _reach(root, parts, never)
    except OSError as error:
        raise _read_error(error) from error
    try:
        _refuse(os.fstat(descriptor), None)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def split_path(relative: str) -> list[str]:
    """Return the parts of a path below a root; raise `ReadError` if it could lead out of the root."""
    parts = relative.split("/")
    is_odd = "\0" in relative or not {"", ".", ".."}.isdisjoint(parts)
    has_windows_sign = os.sep == "\\" and ("\\" in relative or ":" in relative)
    if is_odd or has_windows_sign:
        raise ReadError("not opened: its path leads out of the folder")
    return parts


def _read_error(error: OSError) -> ReadError:
    unusual = f"cannot be opened: {error.strerror or error}"
    return ReadError(_REASONS.get(error.errno or 0, unusual))


def _attempt(
    root: Path, parts: list[str], max_bytes: int, never: Collection[Identity]
) -> FileContent | None:
    """Return the file's content, or None if it changed while it was read."""
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
    last_change = max(stamp.mtime_ns, stamp.ctime_ns)
    return FileContent(data, stamp, is_settled=last_change < started - RACY_NS)


def _reach(root: Path, parts: list[str], never: Collection[Identity]) -> int:
    """Return a descriptor of the file."""
    if _BY_DESCRIPTOR:
        return _descend(root, parts, never)
    return _open_portably(root, parts, never)


def _descend(root: Path, parts: list[str], never: Collection[Identity]) -> int:
    """Open the file folder by folder, so that no folder can be replaced by a link on the way."""
    folder = os.open(root, _FOLDER)
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER | _NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        name = parts[-1]
        _refuse_unopened(os.stat(name, dir_fd=folder, follow_symlinks=False), never)
        return _check_descriptor(os.open(name, _FILE, dir_fd=folder), never)
    finally:
        os.close(folder)


def _open_portably(root: Path, parts: list[str], never: Collection[Identity]) -> int:
    """Open the file on a system that cannot open folders: the resolved path must be below the root."""
    path = os.path.join(root, *parts)
    _refuse_unopened(os.lstat(path), never)
    path_without_links = os.path.join(os.path.realpath(root), *parts)
    if os.path.realpath(path) != path_without_links:
        raise ReadError("not opened: a link is on its path")
    return _check_descriptor(os.open(path, _FILE), never)


def _refuse_unopened(info: os.stat_result, never: Collection[Identity]) -> None:
    if stat.S_ISLNK(info.st_mode):
        raise ReadError("not opened: it is a link")
    if not stat.S_ISREG(info.st_mode):
        raise ReadError("not a regular file")
    if (info.st_dev, info.st_ino) in never:
        raise ReadError("never opened: it belongs to Ragstone's own index")


def _check_descriptor(descriptor: int, never: Collection[Identity]) -> int:
    """Return the descriptor; raise `ReadError` if our own file replaced the one that was checked."""
    info = os.fstat(descriptor)
    if (info.st_dev, info.st_ino) in never:
        _held.append(descriptor)  # closing it would drop the database's locks
        raise ReadError("never opened: it belongs to Ragstone's own index")
    return descriptor


def _refuse(info: os.stat_result, max_bytes: int | None) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise ReadError("not a regular file")
    size = info.st_size
    if max_bytes is not None and size > max_bytes:
        raise ReadError(f"too large: {size:,} bytes (limit {max_bytes:,})", hint=_LIMIT)


def _read(descriptor: int, size: int) -> bytes:
    """Return all bytes, at most one more than `size`: that byte shows that the file grew."""
    pieces: list[bytes] = []
    unread = size + 1
    while unread > 0:
        piece = os.read(descriptor, unread)
        if not piece:
            break
        pieces.append(piece)
        unread -= len(piece)
    return b"".join(pieces)


_FIRST_SURROGATE = 0xDC00
"""`surrogateescape` adds this to a byte that is not UTF-8."""
_BAD = re.compile("[\udc80-\udcff]")
_LIKE_BAD = re.compile("%(?=(?:25)*[89A-F][0-9A-F])")
_BACK = re.compile("%25(?=(?:25)*[89A-F][0-9A-F])|%([89A-F][0-9A-F])")


def to_uri(relative: str) -> str:
    """Return the uri of a path as the operating system spells it, `/` between its parts."""
    if relative.isascii() and "%" not in relative:
        return relative
    text = os.fsencode(relative).decode("utf-8", "surrogateescape")
    escaped = _LIKE_BAD.sub("%25", text)
    return _BAD.sub(_encode_byte, escaped)


def from_uri(uri: str) -> str:
    """Return the path of a uri."""
    if "%" not in uri:
        return uri
    text = _BACK.sub(_decode_byte, uri)
    return os.fsdecode(text.encode("utf-8", "surrogateescape"))


def _encode_byte(surrogate: re.Match[str]) -> str:
    byte = ord(surrogate[0]) - _FIRST_SURROGATE
    return f"%{byte:02X}"


def _decode_byte(escape: re.Match[str]) -> str:
    digits = escape[1]
    if digits is None:
        return "%"
    return chr(_FIRST_SURROGATE + int(digits, 16))
