"""Reads from a home in SQLite the rows that the protocols of a store do not give: order, times, owners, spaces."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final, NamedTuple

from ragstone import types
from ragstone.store.codec import pack, unpack
from ragstone.store.fetch import fetch_column
from ragstone.store.graph.rows import link_from, node_from, unresolved_from
from ragstone.store.rows import hash_of, sound
from ragstone.store.vectors import load_space
from ragstone.types import CollectionKey, Space, SpaceState

_PROJECTS: Final = "SELECT name FROM projects ORDER BY id"
_COLLECTIONS: Final = """
    SELECT p.name, c.name, c.kind, c.id FROM collections c JOIN projects p ON p.id = c.project ORDER BY c.id"""
_DOCUMENTS: Final = "SELECT uri FROM documents WHERE collection = ? ORDER BY id"
_SPACES: Final = """
    SELECT s.id, s.spec, s.storage, cs.state FROM collection_spaces cs JOIN spaces s ON s.id = cs.space
    WHERE cs.collection = ? AND cs.state != 'retired' ORDER BY s.id"""
_VECTORS: Final = """
    SELECT v.id, t.hash, CAST(t.body AS BLOB), v.data FROM vectors v JOIN texts t ON t.id = v.text_id
    WHERE v.space = ? AND v.id > ? AND EXISTS (SELECT 1 FROM chunks c WHERE c.text_id = v.text_id)
    ORDER BY v.id LIMIT ?"""
_OWNERS: Final = """
    SELECT o.id, o.owner, o.stamp, k.data FROM graph_owners o LEFT JOIN graph_kept k ON k.owner = o.id
    WHERE o.collection = ? ORDER BY o.id"""
_NODES: Final = """
    SELECT key, kind, name, uri, line, line_end, signature, doc, language, framework, attributes
    FROM graph_nodes WHERE owner = ? ORDER BY id"""
_LINKS: Final = """
    SELECT kind, source, target, uri, line, confidence, conditional, ord, attributes
    FROM graph_links WHERE owner = ? ORDER BY id"""
_ALIASES: Final = "SELECT name, key, kind, uri FROM graph_aliases WHERE owner = ? ORDER BY id"
_UNRESOLVED: Final = """
    SELECT kind, source, name, receiver, uri, line, reason FROM graph_unresolved WHERE owner = ? ORDER BY id"""
_SESSIONS: Final = """
    SELECT DISTINCT s.session FROM shown_passages s JOIN projects p ON p.id = s.project WHERE p.name = ?"""


class HomeCollection(NamedTuple):
    """A collection of a home and the id of its row."""

    key: CollectionKey
    number: int


class HomeSpace(NamedTuple):
    """A space that a collection of a home uses."""

    number: int
    space: Space
    storage: str
    state: SpaceState


class HomeVector(NamedTuple):
    """An encoded vector and the hash of its text."""

    number: int
    text_hash: bytes
    data: bytes


class HomeOwner(NamedTuple):
    """The graph of one owner, with its stamp and the data that it asked to keep."""

    name: str
    stamp: str
    data: bytes | None
    graph: types.Graph


def list_projects(db: sqlite3.Connection) -> list[str]:
    """Return all projects, those without a collection too."""
    return fetch_column(db, _PROJECTS)


def list_collections(db: sqlite3.Connection) -> list[HomeCollection]:
    """Return the collections of all projects and kinds, oldest first."""
    rows = db.execute(_COLLECTIONS)
    return [
        HomeCollection(CollectionKey(project, name, kind), number)
        for project, name, kind, number in rows
    ]


def list_documents(db: sqlite3.Connection, collection: HomeCollection) -> list[str]:
    """Return the uris of a collection's documents in the order in which they were added."""
    return [unpack(uri) for uri in fetch_column(db, _DOCUMENTS, collection.number)]


def list_spaces(db: sqlite3.Connection, collection: HomeCollection) -> list[HomeSpace]:
    """Return the spaces that a collection uses; retired ones are left out."""
    rows = db.execute(_SPACES, (collection.number,))
    return [
        HomeSpace(number, load_space(spec), storage, state)
        for number, spec, storage, state in rows
    ]


def vectors_after(
    db: sqlite3.Connection, space: int, number: int, limit: int
) -> list[HomeVector]:
    """Return vectors of a space with a larger id; those of damaged or unused texts are left out."""
    vectors = []
    for row_id, key, body, data in db.execute(_VECTORS, (space, number, limit)):
        text = sound(key, body)
        text_hash = b"" if text is None else hash_of(text)
        vectors.append(HomeVector(row_id, text_hash, data))
    return vectors


def owners(db: sqlite3.Connection, collection: HomeCollection) -> Iterator[HomeOwner]:
    """Yield the graph of each owner of a collection."""
    for number, owner, stamp, data in db.execute(_OWNERS, (collection.number,)).fetchall():
        graph = types.Graph(
            nodes=tuple(node_from(row, "") for row in db.execute(_NODES, (number,))),
            links=tuple(link_from(row, "") for row in db.execute(_LINKS, (number,))),
            aliases=tuple(
                types.Alias(*map(unpack, row)) for row in db.execute(_ALIASES, (number,))
            ),
            unresolved=tuple(map(unresolved_from, db.execute(_UNRESOLVED, (number,)))),
        )
        yield HomeOwner(unpack(owner), unpack(stamp), data, graph)


def sessions_with_marks(db: sqlite3.Connection, project: str) -> list[str]:
    """Return the sessions of a project that were shown passages."""
    return [unpack(session) for session in fetch_column(db, _SESSIONS, pack(project))]
