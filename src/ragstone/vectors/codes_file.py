"""turbovec's file: written whole, and not believed unless it is as it was written.

It says nothing about damage itself, so a CRC-32 stands in a small file beside it, written after it: without that, or
where the two do not agree, it counts for nothing and is made again.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from ragstone.vectors.private_files import private

SUFFIX = ".turbovec"
HEAD_SUFFIX = ".head.turbovec"
_HEAD = struct.Struct("<IIQ")  # format, CRC-32 of turbovec's file, slots covered
_FORMAT = 2
_READ = 1 << 20


def write_codes(folder: Path, generation: str, write: Callable[[str], None], *, covered: int) -> None:
    """Have turbovec write what it made of so many slots to a path, then write what that must look like."""
    from tempfile import TemporaryDirectory  # not for those who only read

    # In a folder only its owner can look into: turbovec knows nothing of permissions.
    with TemporaryDirectory(SUFFIX, f"{generation}-", folder, ignore_cleanup_errors=True) as rough:
        codes, head = Path(rough) / "codes", Path(rough) / "head"
        write(os.fspath(codes))
        with contextlib.suppress(OSError):
            codes.chmod(0o600)
        with open(head, "wb", opener=private) as file:
            file.write(_HEAD.pack(_FORMAT, _checksum(codes), covered))
        os.replace(codes, folder / f"{generation}{SUFFIX}")
        os.replace(head, folder / f"{generation}{HEAD_SUFFIX}")


def covered(folder: Path, generation: str) -> int:
    """Return how many slots a saved file is said to cover."""
    head = _head(folder, generation)
    return head[1] if head and (folder / f"{generation}{SUFFIX}").exists() else 0


def _head(folder: Path, generation: str) -> tuple[int, int] | None:
    """Return the CRC-32 that turbovec's file must have and how many slots it covers, None where nothing says so."""
    try:
        with open(folder / f"{generation}{HEAD_SUFFIX}", "rb") as file:
            head = file.read(_HEAD.size + 1)
    except OSError:
        return None
    if len(head) != _HEAD.size:
        return None
    number, checksum, covered = _HEAD.unpack(head)
    return (checksum, covered) if number == _FORMAT else None


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(_READ):
            checksum = zlib.crc32(piece, checksum)
    return checksum


def sound_codes(folder: Path, generation: str) -> Path | None:
    """Return where turbovec's file is, None where it is missing or damaged."""
    path = folder / f"{generation}{SUFFIX}"
    head = _head(folder, generation)
    with contextlib.suppress(OSError):
        if head is not None and head[0] == _checksum(path):
            return path
    # Removed, so that the next flush sees that there is none.
    for name in (path, folder / f"{generation}{HEAD_SUFFIX}"):
        with contextlib.suppress(OSError):
            name.unlink()
    return None
