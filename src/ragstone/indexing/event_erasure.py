"""Overwrites the texts of users in the event log, so that a secure compaction leaves no query on the disk."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ragstone.indexing.events import FREE_TEXTS, SAFE_FLAGS, EventLog, require_regular


def erase_texts(log: EventLog) -> None:
    """Overwrite the queries and tasks in a log of all projects; the events and their figures stay."""
    log.flush()
    for path in log.files:
        if path.exists():
            _overwrite_lines(path)


def _overwrite_lines(path: Path) -> None:
    """Write each complete line anew in its place: no line moves, so other processes may add lines at the same time."""
    flags = os.O_RDWR | SAFE_FLAGS | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "r+b") as file:
        require_regular(file.fileno())
        data = file.read()
        lines = data[: data.rfind(b"\n") + 1].split(b"\n")
        file.seek(0)
        file.write(b"\n".join(map(_without_texts, lines)))
        file.flush()
        os.fsync(file.fileno())


def _without_texts(line: bytes) -> bytes:
    """Return a line of the same length without its free texts; spaces at its end take their place."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(record, dict) or not FREE_TEXTS & record.keys():
        return line
    record |= dict.fromkeys(FREE_TEXTS & record.keys(), "")
    erased = json.dumps(record, separators=(",", ":")).encode()
    return erased.ljust(len(line)) if len(erased) <= len(line) else b" " * len(line)
