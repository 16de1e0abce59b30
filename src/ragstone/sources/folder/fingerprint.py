"""One value for a whole folder; if it is equal, no file seems to have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from ragstone.types import Item, Skip


def fingerprint(entries: Iterable[Item | Skip]) -> str:
    """Return the SHA-256 over path, size and modification time of every item."""
    rows = []
    for entry in entries:
        if isinstance(entry, Item) and entry.stamp is not None:
            stamp = entry.stamp
            rows.append(f"{entry.uri}\0{stamp.size}\0{stamp.mtime_ns}\0")
    rows.sort()
    return hashlib.sha256("".join(rows).encode()).hexdigest()
