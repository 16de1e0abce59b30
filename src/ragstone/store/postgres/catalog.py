"""Projects, collections and their generations in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, get_args

from ragstone.errors import InputError, NotFound
from ragstone.store.catalog import CollectionIds, check_name
from ragstone.store.codec import dump, fresh_uuid
from ragstone.store.fetch import fetch_column, fetch_value
from ragstone.store.postgres.connection import PostgresDatabase, Transaction
from ragstone.store.rows import collection_from
from ragstone.types import Collection, CollectionKey, CollectionKind, Scalar, Scope

_KINDS: Final = get_args(CollectionKind)
_LARGEST_ID: Final = (1 << 63) - 1
_FIND: Final = """
    SELECT c.project, c.id FROM projects p JOIN collections c ON c.project = p.id
    WHERE p.name = %s AND c.kind = %s AND c.name = %s"""
_PROJECT: Final = "SELECT id FROM projects WHERE name = %s"
_PROJECTS: Final = """
    SELECT p.name FROM projects p WHERE EXISTS (SELECT 1 FROM collections c WHERE c.project = p.id) ORDER BY p.name"""
_IN_PROJECT: Final = """
    SELECT c.name, c.id FROM projects p JOIN collections c ON c.project = p.id
    WHERE p.name = %s AND c.kind = %s ORDER BY c.name"""
_COLLECTION: Final = """
    SELECT c.uuid, p.name, c.name, c.description, c.settings, c.documents, c.chunks, c.updated_at, c.kind
    FROM projects p JOIN collections c ON c.project = p.id WHERE p.name = %s AND c.kind = %s"""
_ONE: Final = _COLLECTION + " AND c.name = %s"
_ALL: Final = _COLLECTION + " ORDER BY c.name"
_ADD: Final = """
    INSERT INTO collections (uuid, project, kind, name, description, settings) VALUES (%s, %s, %s, %s, %s, %s)
    RETURNING id"""
_ADD_TO_COUNTS: Final = """
    UPDATE collections SET documents = documents + %s, chunks = chunks + %s, terms = terms + %s, updated_at = %s
    WHERE id = %s"""
_NEXT_GENERATION: Final = """
    UPDATE projects SET generation = generation + 1
    WHERE id IN (SELECT project FROM collections WHERE id = ANY(%s))"""
_MARK_CHANGED: Final = """
    INSERT INTO generations (project, kind, name, value)
    SELECT c.project, c.kind, c.name, p.generation FROM collections c JOIN projects p ON p.id = c.project
    WHERE c.id = ANY(%(ids)s)
    UNION
    SELECT c.project, c.kind, '', p.generation FROM collections c JOIN projects p ON p.id = c.project
    WHERE c.id = ANY(%(ids)s)
    ON CONFLICT (project, kind, name) DO UPDATE SET value = excluded.value"""
_GENERATION: Final = """
    SELECT max(g.value) FROM projects p JOIN generations g ON g.project = p.id
    WHERE p.name = %s AND g.kind = %s AND g.name = ANY(%s)"""


def id_list(numbers: Iterable[int]) -> list[int]:
    """Return the numbers that can be ids of rows; others, which no row has, are left out."""
    return [int(number) for number in numbers if 0 < number <= _LARGEST_ID]


def project_id(db: Transaction, project: str) -> int | None:
    """Return the id of a project, or None."""

    def ask() -> int | None:
        number: int | None = fetch_value(db, _PROJECT, project)
        return number

    return db.ask_once((_PROJECT, project), ask)


def find(db: Transaction, key: CollectionKey) -> CollectionIds | None:
    """Return the ids of a collection, or None."""
    row = db.execute(_FIND, (key.project, key.kind, key.name)).fetchone()
    if row:
        return CollectionIds(*row)
    return None


def collection_id(db: Transaction, key: CollectionKey) -> int:
    """Return the id of a collection; 0 if it is missing, which no row has."""
    ids = find(db, key)
    if ids:
        return ids.collection
    return 0


def find_existing(db: Transaction, key: CollectionKey) -> CollectionIds:
    """Return the ids of a collection, or raise `NotFound`."""
    ids = find(db, key)
    if ids is None:
        raise NotFound(
            f"no collection {key.name!r} in project {key.project!r}", hint="make it first"
        )
    return ids


def in_scope(db: Transaction, scope: Scope) -> dict[str, int]:
    """Return the ids of the collections in scope by name, in order of name; unknown names are left out."""

    def ask() -> dict[str, int]:
        return dict(db.execute(_IN_PROJECT, (scope.project, scope.kind)).fetchall())

    rows = db.ask_once((_IN_PROJECT, scope.project, scope.kind), ask)
    if scope.collections is None:
        return rows
    return {name: number for name, number in rows.items() if name in scope.collections}


def scope_ids(db: Transaction, scope: Scope) -> list[int]:
    """Return the ids of the collections in scope."""
    return list(in_scope(db, scope).values())


def get_collection(db: Transaction, key: CollectionKey) -> Collection | None:
    """Return a collection with its counts, or None."""
    row = db.execute(_ONE, (key.project, key.kind, key.name)).fetchone()
    if row:
        return collection_from(row)
    return None


def list_projects(db: Transaction) -> list[str]:
    """Return the names of the projects that have collections, by name."""
    return fetch_column(db, _PROJECTS)


def list_collections(db: Transaction, project: str, kind: CollectionKind) -> list[Collection]:
    """Return the collections of one kind in a project, by name."""
    return [collection_from(row) for row in db.execute(_ALL, (project, kind))]


def check_key(key: CollectionKey) -> None:
    """Raise `InputError` if a collection cannot have this key."""
    if key.kind not in _KINDS:
        raise InputError(
            f"a collection cannot be of kind {key.kind!r}",
            hint=f"known are {', '.join(_KINDS)}",
        )
    check_name(key.name, "collection")
    check_name(key.project, "project")


def add_collection(
    db: Transaction,
    key: CollectionKey,
    description: str,
    settings: Mapping[str, Scalar] | None,
) -> None:
    """Create a collection."""
    packed = dump(settings or {}, "a collection's settings")
    project = project_id(db, key.project)
    fields = (fresh_uuid(), project, key.kind, key.name, description, packed)
    mark_changed(db, [fetch_value(db, _ADD, *fields)])


def add_to_counts(
    db: Transaction, collection: int, *, documents: int, chunks: int, terms: int, now: float
) -> None:
    """Change the counts of a collection, in the transaction that changed its rows."""
    db.execute(_ADD_TO_COUNTS, (documents, chunks, terms, now, collection))


def mark_changed(db: Transaction, collections: Sequence[int]) -> None:
    """Give collections, and all scopes that include them, a new generation."""
    ids = list(collections)
    db.execute(_NEXT_GENERATION, (ids,))
    db.execute(_MARK_CHANGED, {"ids": ids})


def generation(db: Transaction, scope: Scope) -> int:
    """Return the generation of the last write to a collection in scope, 0 if there was none."""
    names = [""] if scope.collections is None else list(scope.collections)
    return fetch_value(db, _GENERATION, scope.project, scope.kind, names) or 0


@contextmanager
def changing(
    database: PostgresDatabase, key: CollectionKey
) -> Iterator[tuple[Transaction, CollectionIds]]:
    """Give a write transaction and the ids of a collection; if rows change, its generation changes too."""
    with database.writing(key.project) as db:
        ids = find_existing(db, key)
        changes_before = db.total_changes
        yield db, ids
        if db.total_changes != changes_before:
            mark_changed(db, [ids.collection])
