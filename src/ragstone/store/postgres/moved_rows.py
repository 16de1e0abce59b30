"""Writes that only a move needs: collections with their own uuid, and documents with their own time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.errors import Conflict
from ragstone.store.postgres import catalog
from ragstone.store.postgres.connection import PostgresDatabase
from ragstone.types import Collection, CollectionKey

_SET_UUID: Final = "UPDATE collections SET uuid = %s WHERE id = %s"
_SET_TIME: Final = """
    UPDATE documents SET added_at = %s WHERE collection = %s AND uri = %s AND added_at != %s"""
_TEXT_IDS: Final = "SELECT hash, id FROM texts WHERE hash = ANY(%s)"


def adopt_collection(
    database: PostgresDatabase, key: CollectionKey, original: Collection
) -> None:
    """Create a collection with the uuid of the original; `Conflict` if there is another one of that name."""
    with database.writing(key.project, create=True) as db:
        existing = catalog.get_collection(db, key)
        if existing is None:
            catalog.add_collection(db, key, original.description, original.settings)
            number = catalog.collection_id(db, key)
            db.execute(_SET_UUID, (original.uuid, number))
        elif existing.uuid != original.uuid:
            raise Conflict(
                f"{database.location} has another collection {key.name!r} in project {key.project!r}",
                hint="drop that collection, or move to an empty database",
            )


def set_times(
    database: PostgresDatabase, key: CollectionKey, times: Mapping[str, float]
) -> None:
    """Set the times at which documents were added."""
    with catalog.changing(database, key) as (db, ids):
        rows = [(added, ids.collection, uri, added) for uri, added in times.items()]
        db.executemany(_SET_TIME, rows)


def text_ids(
    database: PostgresDatabase, project: str, hashes: Sequence[bytes]
) -> dict[bytes, int]:
    """Return the ids of the texts of a project by their hash."""
    with database.reading(project) as db:
        return dict(db.execute(_TEXT_IDS, (list(hashes),)).fetchall())
