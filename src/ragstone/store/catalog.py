"""Projects and collections: their generations, their counts, and the limits of a plan.

Limits are checked inside the transaction that would exceed them, so that racing writers cannot.
"""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, get_args

from ragstone.errors import InputError, NotFound, QuotaError
from ragstone.store.codec import dump, fresh_uuid
from ragstone.store.connection import Database
from ragstone.store.fetch import fetch_column, fetch_value
from ragstone.store.rows import collection_from
from ragstone.types import Collection, CollectionKey, CollectionKind, Limits, Scalar, Scope

LONGEST_NAME: Final = 512
_KINDS: Final = get_args(CollectionKind)
_FIND: Final = """
    SELECT c.project, c.id FROM projects p JOIN collections c ON c.project = p.id
    WHERE p.name = ? AND c.kind = ? AND c.name = ?"""
_PROJECTS: Final = """
    SELECT name FROM projects p WHERE EXISTS (SELECT 1 FROM collections c WHERE c.project = p.id) ORDER BY name"""
_IN_PROJECT: Final = """
    SELECT c.name, c.id FROM projects p JOIN collections c ON c.project = p.id
    WHERE p.name = ? AND c.kind = ? ORDER BY c.name"""
_COLLECTION: Final = """
    SELECT c.uuid, p.name, c.name, c.description, c.settings, c.documents, c.chunks, c.updated_at, c.kind
    FROM projects p JOIN collections c ON c.project = p.id WHERE p.name = ? AND c.kind = ?"""
_ONE: Final = _COLLECTION + " AND c.name = ?"
_ALL: Final = _COLLECTION + " ORDER BY c.name"
_ADD: Final = "INSERT INTO collections (uuid, project, kind, name, description, settings) VALUES (?, ?, ?, ?, ?, ?)"
_MARK_CHANGED: Final = """
    INSERT INTO generations (project, kind, name, value)
    SELECT c.project, c.kind, c.name, (SELECT value + 1 FROM meta WHERE key = 'generation')
    FROM collections c WHERE c.id IN (SELECT value FROM json_each(?1))
    UNION
    SELECT c.project, c.kind, '', (SELECT value + 1 FROM meta WHERE key = 'generation')
    FROM collections c WHERE c.id IN (SELECT value FROM json_each(?1))
    ON CONFLICT (project, kind, name) DO UPDATE SET value = excluded.value"""
_GENERATION_OF: Final = """
    SELECT max(g.value) FROM projects p JOIN generations g ON g.project = p.id
    WHERE p.name = ? AND g.kind = ? AND g.name {}"""
_GENERATION_OF_ALL: Final = _GENERATION_OF.format("= ''")
_GENERATION_OF_SOME: Final = _GENERATION_OF.format("IN (SELECT value FROM json_each(?))")


@dataclass(frozen=True, slots=True)
class CollectionIds:
    """The row ids of a collection and of its project."""

    project: int
    collection: int


def check_name(name: str, what: str) -> str:
    """Return the name of a new project or collection, or raise `InputError` if it cannot be stored."""
    if not isinstance(name, str) or not name or len(name) > LONGEST_NAME:
        raise InputError(f"the name of a {what} has 1 to {LONGEST_NAME} characters")
    if any(is_control(character) for character in name):
        raise InputError(
            f"the name of a {what} is plain text without control characters, not {name!r}",
            hint="choose another name",
        )
    return name


def is_control(character: str) -> bool:
    """Return whether a character is a control character or a lone surrogate."""
    return unicodedata.category(character) in ("Cc", "Cs")


def is_storable(name: object) -> bool:
    """Return whether a name could be in the database: SQLite cannot compare NUL and lone surrogates."""
    return (
        isinstance(name, str)
        and "\0" not in name
        and not any("\ud800" <= char <= "\udfff" for char in name)
    )


def project_id(db: sqlite3.Connection, project: str) -> int | None:
    """Return the id of a project, or None."""
    if not is_storable(project):
        return None
    number: int | None = fetch_value(db, "SELECT id FROM projects WHERE name = ?", project)
    return number


def ensure_project(db: sqlite3.Connection, project: str) -> int:
    """Return the id of a project; create it if it is missing."""
    number = project_id(db, check_name(project, "project"))
    if number is None:
        number = db.execute("INSERT INTO projects (name) VALUES (?)", (project,)).lastrowid or 0
    return number


def find(db: sqlite3.Connection, key: CollectionKey) -> CollectionIds | None:
    """Return the ids of a collection, or None."""
    if not is_storable(key.project) or not is_storable(key.name):
        return None
    row = db.execute(_FIND, (key.project, key.kind, key.name)).fetchone()
    return CollectionIds(*row) if row else None


def collection_id(db: sqlite3.Connection, key: CollectionKey) -> int:
    """Return the id of a collection; 0 if it is missing, which no row has."""
    ids = find(db, key)
    return ids.collection if ids else 0


def find_existing(db: sqlite3.Connection, key: CollectionKey) -> CollectionIds:
    """Return the ids of a collection, or raise `NotFound`."""
    ids = find(db, key)
    if ids is None:
        raise NotFound(
            f"no collection {key.name!r} in project {key.project!r}", hint="make it first"
        )
    return ids


def in_scope(db: sqlite3.Connection, scope: Scope) -> dict[str, int]:
    """Return the ids of the collections in scope by name, in order of name; unknown names are left out."""
    if not is_storable(scope.project):
        return {}
    rows = dict(db.execute(_IN_PROJECT, (scope.project, scope.kind)).fetchall())
    if scope.collections is None:
        return rows
    return {name: number for name, number in rows.items() if name in scope.collections}


def id_list(numbers: Iterable[int]) -> str:
    """Return numbers as the JSON list that `json_each(?)` takes."""
    return str([int(number) for number in numbers])


def scope_ids(db: sqlite3.Connection, scope: Scope) -> str:
    """Return the ids of the collections in scope as a JSON list."""
    return id_list(in_scope(db, scope).values())


def get_collection(db: sqlite3.Connection, key: CollectionKey) -> Collection | None:
    """Return a collection with its counts, or None."""
    if not is_storable(key.project) or not is_storable(key.name):
        return None
    row = db.execute(_ONE, (key.project, key.kind, key.name)).fetchone()
    return collection_from(row) if row else None


def list_projects(db: sqlite3.Connection) -> list[str]:
    """Return the names of the projects that have collections, by name."""
    return fetch_column(db, _PROJECTS)


def list_collections(
    db: sqlite3.Connection, project: str, kind: CollectionKind
) -> list[Collection]:
    """Return the collections of one kind in a project, by name."""
    if not is_storable(project):
        return []
    return [collection_from(row) for row in db.execute(_ALL, (project, kind))]


def ensure_collection(
    db: sqlite3.Connection,
    key: CollectionKey,
    description: str,
    settings: Mapping[str, Scalar] | None,
) -> Collection:
    """Return a collection; create it if it is missing."""
    if key.kind not in _KINDS:
        raise InputError(
            f"a collection cannot be of kind {key.kind!r}",
            hint=f"known are {', '.join(_KINDS)}",
        )
    check_name(key.name, "collection")
    project = ensure_project(db, key.project)
    if find(db, key) is None:
        packed = dump(settings or {}, "a collection's settings")
        fields = (fresh_uuid(), project, key.kind, key.name, description, packed)
        cursor = db.execute(_ADD, fields)
        mark_changed(db, [cursor.lastrowid or 0])
    row = db.execute(_ONE, (key.project, key.kind, key.name)).fetchone()
    return collection_from(row)


def add_to_counts(
    db: sqlite3.Connection, collection: int, *, documents: int, chunks: int, now: float
) -> None:
    """Change the counts of a collection, in the transaction that changed its rows."""
    db.execute(
        "UPDATE collections SET documents = documents + ?, chunks = chunks + ?, updated_at = ? WHERE id = ?",
        (documents, chunks, now, collection),
    )


def mark_changed(db: sqlite3.Connection, collections: Sequence[int]) -> None:
    """Give collections, and all scopes that include them, the generation that this transaction will commit."""
    db.execute(_MARK_CHANGED, (id_list(collections),))


def generation(db: sqlite3.Connection, scope: Scope) -> int:
    """Return the generation of the last write to a collection in scope, 0 if there was none."""
    if not is_storable(scope.project):
        return 0
    if scope.collections is None:
        value = fetch_value(db, _GENERATION_OF_ALL, scope.project, scope.kind)
    else:
        names = json.dumps([name for name in scope.collections if is_storable(name)])
        value = fetch_value(db, _GENERATION_OF_SOME, scope.project, scope.kind, names)
    return value or 0


@contextmanager
def changing(
    database: Database, key: CollectionKey
) -> Iterator[tuple[sqlite3.Connection, CollectionIds]]:
    """Give a write transaction and the ids of a collection; if rows change, its generation changes too."""
    with database.writing() as db:
        ids = find_existing(db, key)
        changes_before = db.total_changes
        yield db, ids
        if db.total_changes != changes_before:
            mark_changed(db, [ids.collection])


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
