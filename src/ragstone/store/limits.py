"""Limits of a plan, checked inside the transaction that would exceed them, so that racing writers cannot."""

from __future__ import annotations

import sqlite3
from typing import Final

from ragstone.errors import QuotaError
from ragstone.store.fetch import fetch_value
from ragstone.types import CollectionKey, Limits

_HINT: Final = "remove something, or choose a larger plan"
_COUNTS: Final = "SELECT documents, chunks FROM collections WHERE id = ?"
_COLLECTIONS: Final = """
    SELECT count(*) FROM collections c JOIN projects p ON p.id = c.project
    WHERE p.name = ? AND c.kind != 'session'"""


def counts(db: sqlite3.Connection, collection: int) -> tuple[int, int]:
    """Return how many documents and chunks a collection has."""
    row = db.execute(_COUNTS, (collection,)).fetchone()
    return row[0], row[1]


def check_growth(
    db: sqlite3.Connection,
    key: CollectionKey,
    collection: int,
    before: tuple[int, int],
    limits: Limits,
) -> None:
    """Raise `QuotaError` if a collection grew beyond its limit; a collection that shrinks is always allowed."""
    require_growth(key, before, counts(db, collection), limits)


def require_growth(
    key: CollectionKey, before: tuple[int, int], after: tuple[int, int], limits: Limits
) -> None:
    """Raise `QuotaError` if the counts of documents and chunks grew beyond the limits."""
    if key.kind == "session":
        _check(f"the session {key.name!r}", "turns", before[0], after[0], limits.turns)
    else:
        _check(f"the collection {key.name!r}", "chunks", before[1], after[1], limits.chunks)


def check_new_collection(db: sqlite3.Connection, key: CollectionKey, limits: Limits) -> None:
    """Raise `QuotaError` if a project may not have one more collection. Sessions are not counted."""
    if key.kind == "session" or limits.collections is None:
        return
    require_room(key, fetch_value(db, _COLLECTIONS, key.project), limits)


def require_room(key: CollectionKey, existing: int, limits: Limits) -> None:
    """Raise `QuotaError` if a project with so many collections may not have one more."""
    owner = f"the project {key.project!r}"
    _check(owner, "collections", existing, existing + 1, limits.collections)


def _check(owner: str, noun: str, before: int, after: int, limit: int | None) -> None:
    if limit is not None and after > max(limit, before):
        raise QuotaError(
            f"{owner} may have {limit:,} {noun}, and this would make {after:,}", hint=_HINT
        )
