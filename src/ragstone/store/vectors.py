"""Spaces and their vectors: kept under the text they belong to, never mixed, never wiped."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from ragstone.errors import InputError, NotFound, StaleSpace, StoreDamaged
from ragstone.store import catalog, filters
from ragstone.store.catalog import Place
from ragstone.store.codec import fresh_uuid, load
from ragstone.store.connection import Database
from ragstone.store.reading import MOST_ROWS
from ragstone.store.texts import sound
from ragstone.types import DEFAULT_STORAGE, Filter, PendingText, Scope, Space, SpaceInfo, SpaceState, VectorRow

_FIND_SPACE: Final = "SELECT id FROM spaces WHERE project = ? AND fingerprint = ? AND storage = ?"
_STORAGE_IN_USE: Final = """
    SELECT s.storage FROM spaces s JOIN collection_spaces cs ON cs.space = s.id
    WHERE s.project = ? AND s.fingerprint = ? AND cs.state != 'retired'
    ORDER BY cs.collection = ? DESC, cs.state = 'active' DESC LIMIT 1"""
_STORAGE_LEFT: Final = """
    SELECT s.storage FROM spaces s CROSS JOIN vectors v ON v.space = s.id
    WHERE s.project = ? AND s.fingerprint = ? GROUP BY s.id ORDER BY count(*) DESC LIMIT 1"""
_ADD_SPACE: Final = "INSERT INTO spaces (project, fingerprint, spec, storage, epoch) VALUES (?, ?, ?, ?, ?)"
_ATTACH: Final = """
    INSERT INTO collection_spaces (collection, space, state) VALUES (?, ?, ?)
    ON CONFLICT (collection, space) DO UPDATE SET state = excluded.state WHERE state != excluded.state"""
_RETIRE_OTHERS: Final = """
    UPDATE collection_spaces SET state = 'retired' WHERE collection = ? AND space != ? AND state = 'active'"""
_IN_USE: Final = """
    SELECT s.id, s.spec, s.storage, max(cs.state = 'active') FROM collection_spaces cs JOIN spaces s ON s.id = cs.space
    WHERE cs.collection IN (SELECT value FROM json_each(?)) AND cs.state != 'retired' GROUP BY s.id ORDER BY s.id"""
_TEXTS_OF_ONE: Final = "SELECT count(DISTINCT text_id) FROM chunks WHERE collection = ?"
_TEXTS: Final = """
    SELECT count(*) FROM (
        SELECT DISTINCT text_id FROM chunks WHERE collection IN (SELECT value FROM json_each(?)))"""
_EMBEDDED: Final = """
    SELECT count(*) FROM (
        SELECT DISTINCT text_id FROM chunks WHERE collection IN (SELECT value FROM json_each(?))) held
    CROSS JOIN vectors v ON v.text_id = held.text_id AND v.space = ?"""
_PENDING: Final = """
    SELECT t.id, t.hash, CAST(t.body AS BLOB) FROM (
        SELECT DISTINCT c.text_id AS id FROM chunks c
        WHERE c.text_id > ? AND c.collection IN (SELECT value FROM json_each(?))
          AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_id = c.text_id AND v.space = ?)
        ORDER BY c.text_id LIMIT ?) missing
    CROSS JOIN texts t ON t.id = missing.id ORDER BY t.id"""
_OWN_TEXTS: Final = """
    SELECT t.id FROM json_each(?) given CROSS JOIN texts t ON t.id = given.value WHERE t.project = ?"""
_OWN_BETWEEN: Final = """
    SELECT count(*) FROM texts WHERE id BETWEEN ? AND ? AND ((SELECT count(*) FROM projects) = 1 OR project = ?)"""
_PUT: Final = """
    INSERT INTO vectors (space, text_id, data) SELECT ?1, value, substr(?2, 1 + key * ?3, ?3) FROM json_each(?4)
    WHERE true ON CONFLICT (text_id, space) DO NOTHING"""
_AT_ONCE: Final = 1000  # rows to a statement, given as one piece: a third of the time of one row to a statement
MANY: Final = 2000  # rows of which SQLite need not look up text and space again, one by one
_EDGE: Final = 1 << 63  # of the numbers SQLite can hold
_REMOVE: Final = "DELETE FROM vectors WHERE space = ? AND id IN (SELECT value FROM json_each(?))"
_FREE_WIDTHS: Final = """
    UPDATE spaces SET width = NULL
    WHERE width IS NOT NULL AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.space = spaces.id)"""
_VECTORS_IN: Final = """
    SELECT v.id FROM (
        SELECT DISTINCT text_id FROM chunks WHERE collection IN (SELECT value FROM json_each(?))) held
    CROSS JOIN vectors v ON v.text_id = held.text_id AND v.space = ? ORDER BY v.id"""
_VECTORS_FILTERED: Final = """
    SELECT DISTINCT v.id FROM documents d CROSS JOIN chunks c ON c.document = d.id
    CROSS JOIN vectors v ON v.text_id = c.text_id AND v.space = ?
    WHERE d.collection IN (SELECT value FROM json_each(?)) AND {where} ORDER BY v.id"""
_OF_CHUNKS: Final = """
    SELECT c.id, v.data FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value
    CROSS JOIN vectors v ON v.text_id = c.text_id AND v.space = ?"""
_VERSION: Final = """
    SELECT s.epoch, (SELECT value FROM meta WHERE key = 'generation')
    FROM spaces s JOIN projects p ON p.id = s.project WHERE s.id = ? AND p.name = ?"""
_COUNT: Final = "SELECT count(*) FROM vectors WHERE space = ?"
_IDS_AFTER: Final = "SELECT id FROM vectors WHERE space = ? AND id > ? ORDER BY id"
_DATA: Final = """
    SELECT v.id, v.data, v.text_id FROM json_each(?) wanted CROSS JOIN vectors v ON v.id = wanted.value
    WHERE v.space = ?"""
_FEW: Final = 64  # ids that go in one by one: a seventh quicker than as JSON, and a statement for each number of them
_DATA_OF: Final = """
    WITH wanted (id) AS (VALUES {})
    SELECT v.id, v.data, v.text_id FROM wanted CROSS JOIN vectors v ON v.id = wanted.id WHERE v.space = ?"""
_LOCATE: Final = """
    SELECT v.id, min(c.id) FROM json_each(?) wanted CROSS JOIN vectors v ON v.id = wanted.value AND v.space = ?
    CROSS JOIN chunks c ON c.text_id = v.text_id CROSS JOIN documents d ON d.id = c.document
    WHERE c.collection IN (SELECT value FROM json_each(?)) AND {where} GROUP BY v.id"""
_LOCATE_ALL: Final = """
    SELECT v.id, min(c.id) FROM json_each(?) wanted CROSS JOIN vectors v ON v.id = wanted.value AND v.space = ?
    CROSS JOIN chunks c ON c.text_id = v.text_id
    WHERE c.collection IN (SELECT value FROM json_each(?)) GROUP BY v.id"""
_LOCATE_TEXTS: Final = """
    SELECT c.text_id, min(c.id) FROM json_each(?) wanted CROSS JOIN chunks c ON c.text_id = wanted.value
    WHERE c.collection IN (SELECT value FROM json_each(?)) GROUP BY c.text_id"""


class Fetched(threading.local):
    """Of which texts the rows are that a thread fetched last: a search looks for their chunks right after."""

    space = 0
    texts: Mapping[int, int] = MappingProxyType({})

    def of(self, space: int, rows: Sequence[int]) -> dict[int, int] | None:
        """Return the text of each row, None unless all of them are of this space and among those fetched last."""
        texts = self.texts
        return {row: texts[row] for row in rows} if self.space == space and all(row in texts for row in rows) else None


def ensure_space(db: sqlite3.Connection, place: Place, space: Space, *, storage: str | None, state: SpaceState) -> int:
    """Return the number of a collection's space, made now if it was not there."""
    storage = storage or _kept_storage(db, place, space)
    found = db.execute(_FIND_SPACE, (place.project, space.fingerprint, storage)).fetchone()
    number = int(found[0]) if found else None
    rows = db.execute("SELECT space, state FROM collection_spaces WHERE collection = ?", (place.collection,)).fetchall()
    states = dict(rows)
    active = next((one for one, its_state in states.items() if its_state == "active"), None)
    if state == "active" and active is not None and active != number:
        raise StaleSpace(
            "the collection's vectors were made by another model or setting",
            hint="go back to it, or run `ragstone reembed` to build the new vectors beside the old ones",
        )
    if number is None:
        fields = (place.project, space.fingerprint, json.dumps(asdict(space)), storage, fresh_uuid())
        number = db.execute(_ADD_SPACE, fields).lastrowid or 0
    if states.get(number) != "active":
        db.execute(_ATTACH, (place.collection, number, state))
    return number


def _kept_storage(db: sqlite3.Connection, place: Place, space: Space) -> str:
    """Return how the vectors of a space are kept already, so that none is made again; else the default."""
    of_it = (place.project, space.fingerprint)
    found = db.execute(_STORAGE_IN_USE, (*of_it, place.collection)).fetchone()
    # What no collection uses any more, after a change of model or a drop, still has the vectors of texts that are here.
    found = found or db.execute(_STORAGE_LEFT, of_it).fetchone()
    return str(found[0]) if found else DEFAULT_STORAGE


def activate_space(db: sqlite3.Connection, place: Place, space_id: int) -> None:
    """Make a space of a collection the one that answers, and retire the one before it."""
    row = db.execute(
        "SELECT state FROM collection_spaces WHERE collection = ? AND space = ?", (place.collection, _number(space_id))
    ).fetchone()
    if row is None:
        raise NotFound(f"the collection has no space {space_id}", hint="make it first")
    db.execute(_RETIRE_OTHERS, (place.collection, space_id))
    db.execute(_ATTACH, (place.collection, space_id, "active"))


def info(db: sqlite3.Connection, place: Place, space_id: int) -> SpaceInfo:
    """Return one space of a collection with its coverage."""
    spec, storage, state = db.execute(
        "SELECT s.spec, s.storage, cs.state FROM spaces s JOIN collection_spaces cs ON cs.space = s.id"
        " WHERE s.id = ? AND cs.collection = ?",
        (space_id, place.collection),
    ).fetchone()
    return _info(db, (space_id, spec, storage, state), [place.collection])


def spaces(db: sqlite3.Connection, scope: Scope) -> list[SpaceInfo]:
    """Return the spaces in use, each with its coverage over the scope."""
    wanted = list(catalog.in_scope(db, scope).values())
    rows = db.execute(_IN_USE, (catalog.id_list(wanted),)).fetchall()
    return [
        _info(db, (number, spec, storage, "active" if active else "building"), wanted)
        for number, spec, storage, active in rows
    ]


def _info(db: sqlite3.Connection, row: tuple[int, str, str, SpaceState], collections: list[int]) -> SpaceInfo:
    number, spec, storage, state = row
    try:
        space = Space(**load(spec))
    except TypeError as error:
        raise StoreDamaged("the store is damaged: a space that cannot be read", hint="restore a backup") from error
    texts = _texts(db, collections)
    return SpaceInfo(number, space, storage, state, texts, _embedded(db, collections, number, texts))


def _texts(db: sqlite3.Connection, collections: list[int]) -> int:
    """Return how many different texts collections hold."""
    one = len(collections) == 1
    found = db.execute(_TEXTS_OF_ONE, collections) if one else db.execute(_TEXTS, (catalog.id_list(collections),))
    return int(found.fetchone()[0])


def _embedded(db: sqlite3.Connection, collections: list[int], space: int, texts: int) -> int:
    """Return how many of these collections' texts have a vector in a space."""
    if db.execute("SELECT count(*) FROM texts").fetchone()[0] != texts:
        return int(db.execute(_EMBEDDED, (catalog.id_list(collections), space)).fetchone()[0])
    # There are no other texts, so every vector is of one of these, and whole tables are counted by their pages.
    if db.execute("SELECT count(*) FROM spaces").fetchone()[0] == 1:
        return int(db.execute("SELECT count(*) FROM vectors").fetchone()[0])
    return int(db.execute("SELECT count(*) FROM vectors WHERE space = ?", (space,)).fetchone()[0])


def pending(db: sqlite3.Connection, scope: Scope, space_id: int, *, after: int, limit: int) -> list[PendingText]:
    """Return texts in scope that have no vector in the space, in order of id, damaged ones left out."""
    if not _owned(db, scope.project, space_id):
        return []
    where, behind = catalog.id_list(catalog.in_scope(db, scope)), _number(after)
    found: list[PendingText] = []
    while (missing := min(limit, MOST_ROWS) - len(found)) > 0:
        rows = db.execute(_PENDING, (behind, where, space_id, missing)).fetchall()
        found += [PendingText(number, text) for number, *stored in rows if (text := sound(*stored)) is not None]
        if len(rows) < missing:
            break
        behind = rows[-1][0]
    return found


def put_vectors(db: sqlite3.Connection, project: str, space_id: int, rows: Iterable[tuple[int, bytes]]) -> int:
    """Store encoded vectors of a project's texts and return how many were new."""
    owner = catalog.project_id(db, project)
    row = db.execute("SELECT width FROM spaces WHERE id = ? AND project = ?", (_number(space_id), owner)).fetchone()
    if row is None:
        raise _no_space(project, space_id)
    texts, data = zip(*given, strict=True) if (given := list(rows)) else ((), ())
    widths = set(map(len, data)) | ({row[0]} - {None})
    if len(widths) > 1 or 0 in widths:
        raise InputError(f"vectors of one space have one length, at least a byte, not {sorted(widths)} bytes")
    width = max(widths, default=0)
    if not _all_own(db, owner, texts):
        own = set(chain.from_iterable(db.execute(_OWN_TEXTS, (catalog.id_list(list(map(_number, texts))), owner))))
        texts, data = zip(*kept, strict=True) if (kept := [one for one in given if one[0] in own]) else ((), ())
    added = 0
    for at in range(0, len(texts), _AT_ONCE):
        some = slice(at, at + _AT_ONCE)
        added += db.execute(_PUT, (space_id, b"".join(data[some]), width, catalog.id_list(texts[some]))).rowcount
    if added and row[0] is None:
        db.execute("UPDATE spaces SET width = ? WHERE id = ?", (width, space_id))
    return added


def _all_own(db: sqlite3.Connection, owner: int | None, texts: Sequence[int]) -> bool:
    """Return whether texts are all of a project, as far as that can be told at once."""
    first, last = min(texts, default=0), max(texts, default=0)
    if not (-_EDGE <= first <= last < _EDGE and last - first < 2 * len(texts)):
        return False
    # They mostly come in a row, and if all of that row are the project's, these are; the only one's are not read.
    (found,) = db.execute(_OWN_BETWEEN, (first, last, owner)).fetchone()
    return bool(found == last - first + 1)


def remove_vectors(db: sqlite3.Connection, project: str, space_id: int, row_ids: Sequence[int] | None) -> int:
    """Forget vectors of a space, all of them where no rows are named, and return how many went."""
    if not _owned(db, project, space_id):
        raise _no_space(project, space_id)
    if row_ids is None:
        gone = db.execute("DELETE FROM vectors WHERE space = ?", (space_id,)).rowcount
    else:
        gone = db.execute(_REMOVE, (space_id, catalog.id_list(row_ids))).rowcount
    if gone:
        db.execute("UPDATE spaces SET epoch = ? WHERE id = ?", (fresh_uuid(), space_id))
        free_widths(db)
    return gone


def free_widths(db: sqlite3.Connection) -> None:
    """Forget how long the vectors of a space are where none is left: the next ones decide anew."""
    db.execute(_FREE_WIDTHS)


def vectors_in(db: sqlite3.Connection, scope: Scope, space_id: int, *, filter: Filter | None) -> list[int]:
    """Return the row ids of all vectors whose text is in scope and passes the filter."""
    condition = filters.where(filter)
    if not _owned(db, scope.project, space_id):
        return []
    collections = catalog.id_list(catalog.in_scope(db, scope))
    if filter is None:
        found = db.execute(_VECTORS_IN, (collections, space_id))
    else:
        statement = _VECTORS_FILTERED.format(where=condition.sql)
        found = db.execute(statement, (space_id, collections, *condition.parameters))
    return [row[0] for row in found]


def locate(
    db: sqlite3.Connection, scope: Scope, space_id: int, row_ids: Sequence[int], *, filter: Filter | None
) -> dict[int, int]:
    """Return, for each vector row, the first chunk in scope that holds its text and passes the filter."""
    condition = filters.where(filter)
    if not _owned(db, scope.project, space_id):
        return {}
    wanted = (catalog.id_list(row_ids), space_id, catalog.id_list(catalog.in_scope(db, scope)))
    statement = _LOCATE_ALL if filter is None else _LOCATE.format(where=condition.sql)
    return dict(db.execute(statement, (*wanted, *condition.parameters)).fetchall())


def locate_texts(db: sqlite3.Connection, scope: Scope, texts: Mapping[int, int]) -> dict[int, int]:
    """Return the same for rows whose texts are known, without a look at the rows."""
    # Nor at whose the space is: a text is of one project, and only chunks of the scope's are found.
    wanted = (catalog.id_list(list(texts.values())), catalog.id_list(catalog.in_scope(db, scope)))
    found = dict(db.execute(_LOCATE_TEXTS, wanted).fetchall())
    return {row: found[text] for row, text in texts.items() if text in found}


class StoredRows:
    """One space's vectors, read page by page."""

    def __init__(self, database: Database, project: str, space_id: int, fetched: Fetched) -> None:
        """Take where they are; `NotFound` if the project has no such space."""
        self._database = database
        self._fetched = fetched
        self._space = _number(space_id)
        self._project = project
        if not self.epoch:
            raise _no_space(project, space_id)

    @property
    def epoch(self) -> str:
        """Return what changes when rows were deleted or rewritten."""
        return self.version()[0]

    def version(self) -> tuple[str, int]:
        """Return the epoch, and a number that changes with every commit that may have added rows."""
        for epoch, generation in self._database.rows(_VERSION, (self._space, self._project)):
            return str(epoch), int(generation)
        return "", 0

    def count(self) -> int:
        """Return the number of rows."""
        ((count,),) = self._database.rows(_COUNT, (self._space,))
        return int(count)

    def ids_after(self, row_id: int) -> list[int]:
        """Return all row ids larger than this one, ascending."""
        return [row[0] for row in self._database.rows(_IDS_AFTER, (self._space, _number(row_id)))]

    def after(self, row_id: int, limit: int) -> list[VectorRow]:
        """Return rows with a larger id, in order of id."""
        return self._rows(
            "SELECT id, text_id, data FROM vectors WHERE space = ? AND id > ? ORDER BY id LIMIT ?",
            (self._space, _number(row_id), max(0, min(limit, MOST_ROWS))),
        )

    def by_id(self, ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows with these ids, missing ones left out."""
        return self._rows(
            "SELECT v.id, v.text_id, v.data FROM json_each(?) wanted CROSS JOIN vectors v ON v.id = wanted.value"
            " WHERE v.space = ?",
            (catalog.id_list(ids), self._space),
        )

    def data(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the rows with these ids, missing ones left out."""
        if 0 < len(ids) <= _FEW and -_EDGE <= min(ids) <= max(ids) < _EDGE:
            found = self._database.rows(_data_of(len(ids)), (*ids, self._space))
        else:
            found = self._database.rows(_DATA, (catalog.id_list(ids), self._space))
        self._fetched.space, self._fetched.texts = self._space, {number: text for number, _, text in found}
        return {number: data for number, data, _ in found}

    def by_text(self, text_ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows of these texts, missing ones left out."""
        return self._rows(
            "SELECT v.id, v.text_id, v.data FROM json_each(?) wanted CROSS JOIN vectors v ON v.text_id = wanted.value"
            " WHERE v.space = ?",
            (catalog.id_list(text_ids), self._space),
        )

    def by_chunk(self, chunk_ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of these chunks' texts, missing ones left out."""
        # Not lean: three pages are looked at for each, and a search by words has looked at most of them before.
        with self._database.reading() as db:
            return dict(db.execute(_OF_CHUNKS, (catalog.id_list(chunk_ids), self._space)).fetchall())

    def _rows(self, statement: str, parameters: tuple[Any, ...]) -> list[VectorRow]:
        return [VectorRow(*row) for row in self._database.rows(statement, parameters)]


@cache
def _data_of(count: int) -> str:
    """Return the statement that finds so many rows."""
    return _DATA_OF.format(", ".join(["(?)"] * count))


def _no_space(project: str, space_id: int) -> NotFound:
    return NotFound(f"project {project!r} has no space {space_id}", hint="make it first")


def _owned(db: sqlite3.Connection, project: str, space_id: int) -> bool:
    owner = catalog.project_id(db, project)
    return bool(db.execute("SELECT 1 FROM spaces WHERE id = ? AND project = ?", (_number(space_id), owner)).fetchone())


def _number(value: int) -> int:
    """Return a row number that SQLite can hold; one that it cannot is nobody's."""
    return value if -_EDGE <= value < _EDGE else -1
