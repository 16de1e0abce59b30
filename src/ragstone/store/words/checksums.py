"""Checksums of the files of a derived index. Tantivy reads damaged files without a word, and then misses documents."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Final, Literal, TypeAlias

CHECKSUM_FILE: Final = "checksums.json"
"""Written after every commit, so its change time is the time of the last commit."""
_COMMIT_FILE: Final = "meta.json"
_DRAFT: Final = ".checksums.part"
_PIECE: Final = 1 << 20

FileState: TypeAlias = Literal["intact", "stale", "damaged"]


def write_checksums(folder: Path) -> None:
    """Store the checksum of every file in a folder that a reader needs; hidden files are for writers."""
    checksums = {}
    for name in sorted(os.listdir(folder)):
        if name != CHECKSUM_FILE and not name.startswith("."):
            checksums[name] = _checksum(folder / name)
    draft = folder / _DRAFT
    draft.write_text(json.dumps(checksums), encoding="utf-8")
    draft.chmod(0o600)
    os.replace(draft, folder / CHECKSUM_FILE)


def check_files(folder: Path) -> FileState:
    """Compare the files in a folder with their checksums.

    `stale`: a file is missing, or tantivy has committed since, as a merge that outlives its writer does.
    """
    try:
        checksums = json.loads((folder / CHECKSUM_FILE).read_bytes())
        changed = [name for name in checksums if _checksum(folder / name) != checksums[name]]
    except (OSError, ValueError, TypeError):
        return "stale"
    if not changed:
        return "intact"
    return "stale" if changed == [_COMMIT_FILE] else "damaged"


def _checksum(path: Path) -> int:
    checksum = 0
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            checksum = zlib.crc32(piece, checksum)
    return checksum
