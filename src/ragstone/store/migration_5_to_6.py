"""From version 5 to 6: collections get a kind, and state gets its own tables.

Version 5 kept the conversations of project `P` in a project named `P\\x1fmemory`, and the documents of an agent in
`P\\x1fagent:NAME`. Now both are collections of `P`: one of kind "session" for each conversation, and one of kind
"agent" for each agent. State was text under keys such as `last_sync:docs`.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from typing import Any, Final

from ragstone.errors import StoreDamaged
from ragstone.store.catalog import is_control
from ragstone.store.codec import (
    dump_stamp,
    fresh_uuid,
    pack,
    pack_row,
    unpack,
    unpack_body,
)
from ragstone.store.fetch import Row, fetch_value
from ragstone.store.rows import hash_of
from ragstone.store.tables import create_statement
from ragstone.types import CollectionKind, Stamp

_SEPARATOR: Final = "\x1f"
_MEMORY: Final = "memory"
_AGENT: Final = "agent:"
_STATE_TABLES: Final = ("collection_state", "unread_recipes", "unread_files", "session_state")
_REBUILD_COLLECTIONS: Final = (
    """INSERT INTO new_collections
       SELECT id, uuid, project, 'documents', name, description, settings, documents, chunks, updated_at
       FROM collections""",
    """UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'collections')
       WHERE name = 'new_collections'""",
    "DROP TABLE collections",
    "ALTER TABLE new_collections RENAME TO collections",
)
_NOTES: Final = """
    SELECT n.project, n.key, n.value, c.id FROM notes n
    LEFT JOIN collections c ON c.project = n.project AND c.name = substr(n.key, instr(n.key, ':') + 1)"""
_ADD_STATE: Final = """
    INSERT INTO collection_state (collection, synced_at, follows_folder, fingerprint, root, relative_root,
                                  needs_vectors, graph_seconds, graph_remarks)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_ADD_SESSION_STATE: Final = """
    INSERT INTO session_state (collection, next_turn, version) VALUES (?, CAST(? AS INTEGER), ?)"""
_ADD_SHOWN: Final = (
    "INSERT OR IGNORE INTO shown_passages (project, session, mark) VALUES (?, ?, ?)"
)
_ADD_UNREAD_RECIPE: Final = "INSERT INTO unread_recipes (collection, recipe) VALUES (?, ?)"
_ADD_UNREAD_FILE: Final = """
    INSERT INTO unread_files (collection, uri, stamp, reason, failed) VALUES (?, ?, ?, ?, ?)"""
_HIDDEN_PROJECTS: Final = """
    SELECT id, name FROM projects WHERE instr(name, ?) ORDER BY length(name) DESC"""
_SAME_SPACE: Final = (
    "SELECT id FROM spaces WHERE project = ? AND fingerprint = ? AND storage = ?"
)
_SAME_TEXT: Final = "SELECT id, CAST(body AS BLOB) FROM texts WHERE project = ? AND hash = ?"
_COUNT_AGAIN: Final = """
    UPDATE collections SET documents = (SELECT count(*) FROM documents d WHERE d.collection = ?1),
                           chunks = (SELECT count(*) FROM chunks c WHERE c.collection = ?1)
    WHERE id = ?1"""
_SESSION_KEYS: Final = {"next_turn", "stamp"}
_GRAPH_TABLES: Final = ("graph_nodes", "graph_links", "graph_aliases", "graph_unresolved")


def run(db: sqlite3.Connection) -> None:
    """Change the tables and move the rows, inside the transaction of the caller, with foreign keys off."""
    db.execute(create_statement("collections").replace("collections", "new_collections", 1))
    for statement in _REBUILD_COLLECTIONS:
        db.execute(statement)
    for table in ("generations", "shown_passages", *_STATE_TABLES):
        db.execute(create_statement(table))
    _move_notes(db)
    db.execute("DROP TABLE notes")
    # Longer names first: the sessions of an agent become sessions of its project.
    for project, name in db.execute(_HIDDEN_PROJECTS, (_SEPARATOR,)).fetchall():
        _move_hidden_project(db, project, name)
    _rename_control_characters(db)


# ── state ─────────────────────────────────────────────────────────────────────────────────────────


def _move_notes(db: sqlite3.Connection) -> None:
    """Turn keys such as `last_sync:docs` into rows of the state tables; values that cannot be read are dropped."""
    by_collection: dict[int, dict[str, str]] = {}
    for project, key, value, collection in db.execute(_NOTES).fetchall():
        field, _, name = key.partition(":")
        if field == "sent":
            _add_shown(db, project, name, value)
        elif collection is not None:
            by_collection.setdefault(collection, {})[field] = value
    for collection, notes in by_collection.items():
        if _SESSION_KEYS & notes.keys():
            next_turn = _number(notes.get("next_turn"))
            db.execute(_ADD_SESSION_STATE, (collection, next_turn, notes.get("stamp")))
        if notes.keys() - _SESSION_KEYS:
            db.execute(_ADD_STATE, (collection, *_state_columns(notes)))
        _add_unread(db, collection, notes.get("unread"))


def _state_columns(notes: dict[str, str]) -> Row:
    roots = _parsed(notes.get("root"), [])
    root, relative_root = roots if len(roots) == 2 else (None, None)
    return (
        _number(notes.get("last_sync")),
        "whole" in notes,
        notes.get("fingerprint"),
        *pack_row((root, relative_root)),
        bool(notes.get("behind")),
        _number(notes.get("graph_seconds")),
        json.dumps(_parsed(notes.get("graph_remarks"), [])),
    )


def _add_shown(db: sqlite3.Connection, project: int, session: str, value: str) -> None:
    for mark in _parsed(value, []):
        db.execute(_ADD_SHOWN, (project, pack(session), pack(mark)))


def _add_unread(db: sqlite3.Connection, collection: int, value: str | None) -> None:
    recipe, files = _parsed(value, ["", {}])
    if not recipe:
        return
    db.execute(_ADD_UNREAD_RECIPE, (collection, pack(recipe)))
    for uri, (stamp, reason, failed) in files.items():
        packed_stamp = dump_stamp(Stamp(*stamp))
        row = (collection, pack(uri), packed_stamp, pack(reason), failed)
        db.execute(_ADD_UNREAD_FILE, row)


def _parsed(value: str | None, default: list[Any]) -> list[Any]:
    if value is not None:
        with suppress(ValueError):
            parsed = json.loads(value)
            if isinstance(parsed, list):
                return parsed
    return default


def _number(value: str | None) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


# ── projects that were hidden by their name ───────────────────────────────────────────────────────


def _move_hidden_project(db: sqlite3.Connection, project: int, name: str) -> None:
    """Move the collections of a hidden project into the project it belongs to."""
    owner, _, rest = name.partition(_SEPARATOR)
    kind = _kind_of(rest)
    if not owner or kind is None:
        return  # a name that a user chose: it gets a new one, and stays a project
    if kind == "agent":
        _merge_collections(db, project, rest.strip(_SEPARATOR).removeprefix(_AGENT))
    target = _project(db, owner)
    _move_spaces(db, project, target)
    _move_texts(db, project, target)
    collections = db.execute("SELECT id, name FROM collections WHERE project = ?", (project,))
    for collection, old_name in collections.fetchall():
        new_name = _free_name(db, target, kind, old_name)
        db.execute(
            "UPDATE collections SET project = ?, kind = ?, name = ? WHERE id = ?",
            (target, kind, new_name, collection),
        )
    db.execute(
        "UPDATE OR IGNORE shown_passages SET project = ? WHERE project = ?", (target, project)
    )
    db.execute("DELETE FROM shown_passages WHERE project = ?", (project,))
    db.execute("DELETE FROM projects WHERE id = ?", (project,))


def _kind_of(rest: str) -> CollectionKind | None:
    """Return the kind that a hidden name means, None if it means none; `rest` follows the project's own name."""
    if rest == _MEMORY:
        return "session"
    agent, _, inner = rest.partition(_SEPARATOR)
    if not agent.startswith(_AGENT):
        return None
    if inner == _MEMORY:
        return "session"
    return None if inner else "agent"


def _project(db: sqlite3.Connection, name: str) -> int:
    db.execute("INSERT OR IGNORE INTO projects (name) VALUES (?)", (name,))
    return int(fetch_value(db, "SELECT id FROM projects WHERE name = ?", name))


def _free_name(db: sqlite3.Connection, project: int, kind: CollectionKind, name: str) -> str:
    """Return the name, or the name with a number if a collection of the project has it."""
    candidate, number = name, 1
    statement = "SELECT 1 FROM collections WHERE project = ? AND kind = ? AND name = ?"
    while fetch_value(db, statement, project, kind, candidate):
        number += 1
        candidate = f"{name} ({number})"
    return candidate


def _move_spaces(db: sqlite3.Connection, project: int, target: int) -> None:
    """Give the spaces of a project to another one; if that has the same space, the vectors move into it."""
    spaces = db.execute(
        "SELECT id, fingerprint, storage, width FROM spaces WHERE project = ?", (project,)
    )
    for space, fingerprint, storage, width in spaces.fetchall():
        same = fetch_value(db, _SAME_SPACE, target, fingerprint, storage)
        if same is None:
            db.execute("UPDATE spaces SET project = ? WHERE id = ?", (target, space))
            continue
        db.execute("UPDATE vectors SET space = ? WHERE space = ?", (same, space))
        db.execute("UPDATE collection_spaces SET space = ? WHERE space = ?", (same, space))
        # Rows with small ids came in, so an index of this space must be rebuilt from the stored vectors.
        db.execute(
            "UPDATE spaces SET epoch = ?, width = coalesce(width, ?) WHERE id = ?",
            (fresh_uuid(), width, same),
        )
        db.execute("DELETE FROM spaces WHERE id = ?", (space,))


def _move_texts(db: sqlite3.Connection, project: int, target: int) -> None:
    """Give the texts of a project to another one; a text that both have is merged with its vectors."""
    rows = db.execute(
        "SELECT id, hash, CAST(body AS BLOB) FROM texts WHERE project = ?", (project,)
    )
    for text_id, key, body in rows.fetchall():
        same = db.execute(_SAME_TEXT, (target, key)).fetchone()
        if same is None:
            db.execute("UPDATE texts SET project = ? WHERE id = ?", (target, text_id))
            continue
        same_id, same_body = same
        if _is_same_text(body, same_body):
            _merge_text(db, text_id, same_id)
        else:
            full_hash = hash_of(unpack_body(body))
            db.execute(
                "UPDATE texts SET project = ?, hash = ? WHERE id = ?",
                (target, full_hash, text_id),
            )


def _merge_text(db: sqlite3.Connection, text_id: int, target: int) -> None:
    """Give the chunks and vectors of a text to another row with the same text."""
    both = (target, text_id)
    db.execute("UPDATE chunks SET text_id = ? WHERE text_id = ?", both)
    db.execute("UPDATE OR IGNORE vectors SET text_id = ? WHERE text_id = ?", both)
    db.execute("DELETE FROM vectors WHERE text_id = ?", (text_id,))
    db.execute("DELETE FROM texts WHERE id = ?", (text_id,))


def _is_same_text(first: bytes, second: bytes) -> bool:
    """Return whether two stored texts are the same; one that is damaged is taken for the text its key names."""
    try:
        return first == second or unpack_body(first) == unpack_body(second)
    except StoreDamaged:
        return True


# ── the collections of an agent ───────────────────────────────────────────────────────────────────


def _merge_collections(db: sqlite3.Connection, project: int, name: str) -> None:
    """Make one collection of all collections in a project, and give it a name."""
    rows = db.execute(
        "SELECT id, name FROM collections WHERE project = ? ORDER BY documents DESC, id",
        (project,),
    )
    collections = rows.fetchall()
    if not collections:
        return
    (largest, _), *others = collections
    for other, other_name in others:
        _move_documents(db, other, largest, other_name)
    db.execute("UPDATE collections SET name = ? WHERE id = ?", (name, largest))
    if others:
        db.execute(_COUNT_AGAIN, (largest,))
        # Paths are part of the word index: it is rebuilt when the store is opened.
        db.execute("UPDATE meta SET value = '' WHERE key = 'words_version'")


def _move_documents(db: sqlite3.Connection, source: int, target: int, prefix: str) -> None:
    """Move all documents into another collection; a uri that is taken there gets a prefix. The source is removed."""
    rows = db.execute("SELECT id, uri FROM documents WHERE collection = ?", (source,))
    for document, uri in rows.fetchall():
        new_uri = _free_uri(db, target, uri, prefix)
        db.execute(
            "UPDATE documents SET collection = ?, uri = ? WHERE id = ?",
            (target, new_uri, document),
        )
    db.execute("UPDATE chunks SET collection = ? WHERE collection = ?", (target, source))
    # The graph is made again by the next sync.
    owners = "(SELECT id FROM graph_owners WHERE collection = ?)"
    db.execute(f"DELETE FROM graph_kept WHERE owner IN {owners}", (source,))  # noqa: S608 - fixed text
    for table in (*_GRAPH_TABLES, "graph_owners", "collection_spaces", *_STATE_TABLES):
        db.execute(f"DELETE FROM {table} WHERE collection = ?", (source,))  # noqa: S608 - fixed text
    db.execute("DELETE FROM collections WHERE id = ?", (source,))


def _free_uri(
    db: sqlite3.Connection, collection: int, uri: str | bytes, prefix: str
) -> str | bytes:
    """Return the uri; with a prefix, as often as necessary, if a document of the collection has it."""
    statement = "SELECT 1 FROM documents WHERE collection = ? AND uri = ?"
    while fetch_value(db, statement, collection, uri):
        uri = pack(f"{prefix}/{unpack(uri)}")
    return uri


# ── names ─────────────────────────────────────────────────────────────────────────────────────────


def _rename_control_characters(db: sqlite3.Connection) -> None:
    """Replace control characters in names, which are refused now, by `_`."""
    for project, name in db.execute("SELECT id, name FROM projects").fetchall():
        clean = _without_control_characters(name)
        if clean != name:
            while fetch_value(db, "SELECT 1 FROM projects WHERE name = ?", clean):
                clean += "_"
            db.execute("UPDATE projects SET name = ? WHERE id = ?", (clean, project))
    rows = db.execute("SELECT id, project, kind, name FROM collections")
    for collection, project, kind, name in rows.fetchall():
        clean = _without_control_characters(name)
        if clean != name:
            clean = _free_name(db, project, kind, clean)
            db.execute("UPDATE collections SET name = ? WHERE id = ?", (clean, collection))


def _without_control_characters(name: str) -> str:
    return "".join("_" if is_control(character) else character for character in name)
