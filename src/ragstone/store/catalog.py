"""Projects, collections and notes: who owns what."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.errors import InputError, NotFound
from ragstone.store.codec import dump, fresh_uuid, load
from ragstone.types import Collection, Scalar, Scope

LONGEST_NAME: Final = 512


@dataclass(frozen=True, slots=True)
class Place:
    """A collection and its project, by their numbers."""

    project: int
    collection: int


def named(name: str, what: str) -> str:
    """Return a name that can be stored, or raise `InputError`."""
    if not isinstance(name, str) or not name or len(name) > LONGEST_NAME:
        raise InputError(f"the name of a {what} has 1 to {LONGEST_NAME} characters")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"the name of a {what} must be plain text") from error
    if "\0" in name:
        raise InputError(f"the name of a {what} must be plain text")
    return name


def storable(name: str) -> bool:
    """Return whether a name could be in the database at all."""
    return isinstance(name, str) and "\0" not in name and not any("\ud800" <= char <= "\udfff" for char in name)


def asked(name: str) -> str:
    """Return a name as it may stand in a question to the database: one that cannot be there as one that nobody has."""
    return name if storable(name) else ""


def project_id(db: sqlite3.Connection, project: str) -> int | None:
    """Return a project's number, or nothing."""
    if not storable(project):
        return None
    row = db.execute("SELECT id FROM projects WHERE name = ?", (project,)).fetchone()
    return int(row[0]) if row else None


def ensure_project(db: sqlite3.Connection, project: str) -> int:
    """Return a project's number, made now if it was not there."""
    found = project_id(db, named(project, "project"))
    if found is None:
        found = db.execute("INSERT INTO projects (name) VALUES (?)", (project,)).lastrowid or 0
    return found


def place(db: sqlite3.Connection, project: str, collection: str) -> Place | None:
    """Return where a collection is, or nothing."""
    if not storable(project) or not storable(collection):
        return None
    row = db.execute(
        "SELECT p.id, c.id FROM projects p JOIN collections c ON c.project = p.id WHERE p.name = ? AND c.name = ?",
        (project, collection),
    ).fetchone()
    return Place(*row) if row else None


def existing(db: sqlite3.Connection, project: str, collection: str) -> Place:
    """Return where a collection is, or raise `NotFound`."""
    found = place(db, project, collection)
    if found is None:
        raise NotFound(f"no collection {collection!r} in project {project!r}", hint="make it first")
    return found


def in_scope(db: sqlite3.Connection, scope: Scope) -> dict[str, int]:
    """Return the collections of a scope by name, in order of name; unknown ones are left out."""
    if not storable(scope.project):
        return {}
    rows = db.execute(
        "SELECT c.name, c.id FROM projects p JOIN collections c ON c.project = p.id WHERE p.name = ? ORDER BY c.name",
        (scope.project,),
    )
    wanted = None if scope.collections is None else set(scope.collections)
    return {name: number for name, number in rows if wanted is None or name in wanted}


def id_list(numbers: Sequence[int] | Mapping[str, int]) -> str:
    """Return numbers as the one parameter that `json_each(?)` takes, however many there are."""
    values = numbers.values() if isinstance(numbers, Mapping) else numbers
    return str([int(number) for number in values])  # is JSON, and sooner there than by json.dumps


_COLUMNS: Final = "SELECT c.uuid, p.name, c.name, c.description, c.settings, c.documents, c.chunks, c.updated_at"
_ONE: Final = _COLUMNS + " FROM collections c JOIN projects p ON p.id = c.project WHERE c.id = ?"
_ALL: Final = _COLUMNS + " FROM collections c JOIN projects p ON p.id = c.project WHERE p.id = ? ORDER BY c.name"


def ensure_collection(
    db: sqlite3.Connection, project: str, name: str, *, description: str, settings: Mapping[str, Scalar] | None
) -> Collection:
    """Return the collection of that name, made now if it was not there."""
    owner = ensure_project(db, project)
    found = place(db, project, named(name, "collection"))
    number = found.collection if found else None
    if number is None:
        number = db.execute(
            "INSERT INTO collections (uuid, project, name, description, settings) VALUES (?, ?, ?, ?, ?)",
            (fresh_uuid(), owner, name, description, dump(settings or {}, "a collection's settings")),
        ).lastrowid
    return _collection(db.execute(_ONE, (number,)).fetchone())


def collection(db: sqlite3.Connection, project: str, name: str) -> Collection | None:
    """Return the collection of that name, or nothing."""
    found = place(db, project, name)
    return _collection(db.execute(_ONE, (found.collection,)).fetchone()) if found else None


def collections(db: sqlite3.Connection, project: str) -> list[Collection]:
    """Return a project's collections by name."""
    return [_collection(row) for row in db.execute(_ALL, (project_id(db, project),))]


def counted(db: sqlite3.Connection, collection: int, *, documents: int, chunks: int, now: float) -> None:
    """Keep a collection's counts true, in the transaction that changed them."""
    db.execute(
        "UPDATE collections SET documents = documents + ?, chunks = chunks + ?, updated_at = ? WHERE id = ?",
        (documents, chunks, now, collection),
    )


def note(db: sqlite3.Connection, project: str, key: str) -> str | None:
    """Return a small remembered value."""
    if not storable(key):
        return None
    found = db.execute(
        "SELECT value FROM notes WHERE project = ? AND key = ?", (project_id(db, project), key)
    ).fetchone()
    return str(found[0]) if found else None


def set_note(db: sqlite3.Connection, project: str, key: str, value: str) -> None:
    """Remember a small value; the same one again changes nothing."""
    if not storable(value):
        raise InputError("a note must be plain text")
    if note(db, project, named(key, "note")) != value:
        db.execute(
            "INSERT INTO notes (project, key, value) VALUES (?, ?, ?)"
            " ON CONFLICT (project, key) DO UPDATE SET value = excluded.value",
            (ensure_project(db, project), key, value),
        )


def forget_notes(db: sqlite3.Connection, project: int, collection: str) -> None:
    """Forget what was remembered of a collection, under keys like `what:NAME`: a new one of that name starts afresh."""
    db.execute(
        "DELETE FROM notes WHERE project = ? AND instr(key, ':') AND substr(key, instr(key, ':') + 1) = ?",
        (project, collection),
    )


def _collection(row: tuple[str, str, str, str, str, int, int, float | None]) -> Collection:
    number, project, name, description, settings, documents, chunks, updated_at = row
    return Collection(number, project, name, description, load(settings), documents, chunks, updated_at)
