"""One value for a whole folder: equal means that nothing seems to have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from ragstone.types import Item, Skip


def fingerprint(found: Iterable[Item | Skip]) -> str:
    """Return the SHA-256 over path, size and mtime of every item found, in order of path."""
    digest = hashlib.sha256()
    items = (one for one in found if isinstance(one, Item))
    for uri, size, mtime_ns in sorted((item.uri, item.stamp.size, item.stamp.mtime_ns) for item in items):
        digest.update(f"{uri}\0{size}\0{mtime_ns}\0".encode())
    return digest.hexdigest()
