"""One value for a whole folder: equal means that nothing seems to have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from ragstone.types import Item, Skip


def fingerprint(found: Iterable[Item | Skip]) -> str:
    """Return the SHA-256 over path, size and mtime of every item found, in order of path."""
    items = sorted((one.uri, one.stamp.size, one.stamp.mtime_ns) for one in found if isinstance(one, Item))
    told = "".join([f"{uri}\0{size}\0{mtime_ns}\0" for uri, size, mtime_ns in items])
    return hashlib.sha256(told.encode()).hexdigest()
