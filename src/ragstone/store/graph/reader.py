"""Reads nodes, aliases, links, paths and unresolved references of the code graph."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Final

from ragstone import types
from ragstone.store import catalog
from ragstone.store.codec import pack, unpack
from ragstone.store.connection import ReadSource
from ragstone.store.fetch import Row, row_limit
from ragstone.store.graph.paths import ALL_LINKS, find_links, find_paths
from ragstone.store.graph.rows import (
    link_from,
    merge_nodes,
    node_from,
    unresolved_from,
)
from ragstone.types import CollectionKey, Scope

# Of several rows with one key, the row of a framework comes first.
_NODES: Final = """
    SELECT n.key, n.kind, n.name, n.uri, n.line, n.line_end, n.signature, n.doc, n.language, n.framework, n.attributes
    FROM graph_nodes n JOIN graph_owners o ON o.id = n.owner WHERE n.collection = ?1 AND {condition}
    ORDER BY n.key, n.framework = '', o.owner"""
_NODE_BY_KEY: Final = _NODES.format(condition="n.key = ?2")
_ALL_NODES: Final = _NODES.format(condition="?2 = ''")
_KEY_WITH: Final = (
    "n.key IN (SELECT key FROM graph_nodes WHERE collection = ?1 AND {condition})"
)
_NODES_OF_KINDS: Final = _NODES.format(
    condition=_KEY_WITH.format(condition="kind IN (SELECT value FROM json_each(?2))")
)
_NODES_OF_URI: Final = _NODES.format(
    condition=_KEY_WITH.format(
        condition="uri = ?2 AND (?3 IS NULL OR kind IN (SELECT value FROM json_each(?3)))"
    )
)
# Rows are counted from the index alone, a third of the time. Keys of several rows are then counted once.
_KINDS: Final = """
    WITH repeated AS MATERIALIZED (
        SELECT key FROM graph_nodes WHERE collection = ?1 GROUP BY key HAVING count(*) > 1)
    SELECT kind, sum(nodes) FROM (
        SELECT kind, count(*) AS nodes FROM graph_nodes WHERE collection = ?1 GROUP BY kind
        UNION ALL
        SELECT n.kind, -1 FROM repeated r CROSS JOIN graph_nodes n WHERE n.collection = ?1 AND n.key = r.key
        UNION ALL
        SELECT kind, 1 FROM (
            SELECT n.kind, min(n.framework = '') FROM repeated r CROSS JOIN graph_nodes n
            WHERE n.collection = ?1 AND n.key = r.key GROUP BY n.key)
    ) GROUP BY kind HAVING sum(nodes) > 0"""
# SQLite has no index for a join with counted links, so the links of each node are counted by its key.
_MOST_LINKED: Final = """
    SELECT DISTINCT n.key FROM (
        SELECT key FROM graph_nodes WHERE collection = ?1 AND kind IN (SELECT value FROM json_each(?2))
    ) n
    ORDER BY (SELECT count(*) FROM graph_links WHERE collection = ?1 AND source = n.key)
           + (SELECT count(*) FROM graph_links WHERE collection = ?1 AND target = n.key) DESC, n.key LIMIT ?3"""
_OWNER_STAMPS: Final = "SELECT owner, stamp FROM graph_owners WHERE collection = ?"
_OWNER_STAMP: Final = _OWNER_STAMPS + " AND owner = ?"
_OWNER_DATA: Final = """
    SELECT o.owner, k.data FROM graph_owners o JOIN graph_kept k ON k.owner = o.id WHERE o.collection = ?"""
_ALIASES: Final = """
    SELECT DISTINCT name, key, kind, uri FROM graph_aliases WHERE collection = ? AND folded = ?
    ORDER BY kind, key, uri"""
_LINKS: Final = """
    SELECT kind, source, target, uri, line, confidence, conditional, ord, attributes FROM graph_links
    WHERE collection = ?1 AND {end} = ?2 AND (?3 = '[]' OR kind IN (SELECT value FROM json_each(?3)))
    ORDER BY kind, ord, id LIMIT ?4"""
_LINKS_FROM: Final = _LINKS.format(end="source")
_LINKS_TO: Final = _LINKS.format(end="target")
_UNRESOLVED: Final = """
    SELECT kind, source, name, receiver, uri, line, reason FROM graph_unresolved WHERE collection = ? AND {condition}
    ORDER BY uri, line, id LIMIT ?"""
_ALL_UNRESOLVED: Final = _UNRESOLVED.format(condition="1")
_UNRESOLVED_BY_NAME: Final = _UNRESOLVED.format(condition="name = ?")
_UNRESOLVED_BY_SOURCE: Final = _UNRESOLVED.format(condition="source = ?")
_UNRESOLVED_BY_BOTH: Final = _UNRESOLVED.format(condition="source = ? AND name = ?")


Query = tuple[str, tuple[str | bytes | None, ...]]
"""A statement, and its parameters after the collection."""


@dataclass(frozen=True, slots=True)
class NodeConditions:
    """Conditions on nodes: keys, kinds and files. None allows any."""

    keys: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    uris: Sequence[str] | None = None

    def holds(self, node: types.Node) -> bool:
        """Return whether a node has one of the kinds and one of the files."""
        has_kind = self.kinds is None or node.kind in self.kinds
        has_uri = self.uris is None or node.uri in self.uris
        return has_kind and has_uri

    def queries(self) -> list[Query]:
        """Return the queries that select all nodes that can pass."""
        if self.keys is not None:
            return [(_NODE_BY_KEY, (pack(key),)) for key in dict.fromkeys(self.keys)]
        kinds = None if self.kinds is None else json.dumps(list(self.kinds))
        if self.uris is not None:
            return [(_NODES_OF_URI, (pack(uri), kinds)) for uri in dict.fromkeys(self.uris)]
        if kinds is not None:
            return [(_NODES_OF_KINDS, (kinds,))]
        return [(_ALL_NODES, ("",))]


class SqliteGraphReader:
    """Implements `GraphReader` on a SQLite database or on a snapshot of it."""

    def __init__(self, source: ReadSource) -> None:
        """Take the source of connections."""
        self._source = source

    def owner_stamps(
        self, key: CollectionKey, *, owners: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Return the stamp of each owner of a collection, or of some owners."""
        with self._source.reading() as db:
            collection = catalog.collection_id(db, key)
            if owners is None:
                rows = db.execute(_OWNER_STAMPS, (collection,)).fetchall()
            else:
                rows = []
                for owner in owners:
                    rows += db.execute(_OWNER_STAMP, (collection, pack(owner)))
            return {unpack(owner): unpack(stamp) for owner, stamp in rows}

    def owner_data(self, key: CollectionKey) -> dict[str, bytes]:
        """Return the data that each owner asked to keep for its next run."""
        with self._source.reading() as db:
            rows = db.execute(_OWNER_DATA, (catalog.collection_id(db, key),))
            return {unpack(owner): data for owner, data in rows}

    def nodes(
        self,
        scope: Scope,
        *,
        keys: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        uris: Sequence[str] | None = None,
        limit: int = 1000,
    ) -> list[types.Node]:
        """Return nodes that pass every condition, in the order of the keys, else by collection and key."""
        conditions = NodeConditions(keys, kinds, uris)
        with self._source.reading() as db:
            candidates = _candidates(db, scope, conditions)
            passing = filter(conditions.holds, candidates)
            return list(islice(passing, row_limit(limit)))

    def count_kinds(self, scope: Scope) -> dict[str, int]:
        """Return how many nodes there are of each kind, by kind."""
        counts: Counter[str] = Counter()
        with self._source.reading() as db:
            for number in catalog.in_scope(db, scope).values():
                for kind, count in db.execute(_KINDS, (number,)):
                    counts[unpack(kind)] += count
        return dict(sorted(counts.items()))

    def most_linked(self, scope: Scope, kinds: Sequence[str], *, limit: int) -> list[str]:
        """Return the keys of the nodes of some kinds with the most links, at most so many from each collection."""
        packed = json.dumps(list(kinds))
        keys: list[str] = []
        with self._source.reading() as db:
            for number in catalog.in_scope(db, scope).values():
                rows = db.execute(_MOST_LINKED, (number, packed, row_limit(limit)))
                keys += [unpack(key) for (key,) in rows]
        return keys

    def find_aliases(self, scope: Scope, names: Sequence[str]) -> list[types.Alias]:
        """Return the aliases with one of these names, ignoring case, in the order of the names."""
        folded_names = dict.fromkeys(name.casefold() for name in names)
        aliases = []
        with self._source.reading() as db:
            collections = catalog.in_scope(db, scope).items()
            for folded in folded_names:
                for collection, number in collections:
                    for row in db.execute(_ALIASES, (number, pack(folded))):
                        name, key, kind, uri = map(unpack, row)
                        aliases.append(types.Alias(name, key, kind, uri, collection))
        return aliases

    def links(
        self,
        scope: Scope,
        keys: Sequence[str],
        *,
        kinds: Sequence[str] = (),
        back: bool = False,
        limit: int = 10_000,
    ) -> list[types.Link]:
        """Return the links that start at these nodes, or end at them if `back`: by key, then by kind, in their order."""
        step = types.Step(tuple(kinds), back)
        with self._source.reading() as db:
            return find_links(_graphs(db, scope), keys, step, limit)

    def walk(
        self,
        scope: Scope,
        anchors: Sequence[str],
        steps: Sequence[types.Step],
        *,
        limit: int = 1000,
    ) -> list[types.Walked]:
        """Return the paths from the anchors along all of the steps; no path visits a node twice."""
        with self._source.reading() as db:
            paths = find_paths(_graphs(db, scope), anchors, steps)
            return list(islice(paths, row_limit(limit)))

    def unresolved(
        self,
        scope: Scope,
        *,
        name: str | None = None,
        sources: Sequence[str] | None = None,
        limit: int = 1000,
    ) -> list[types.Unresolved]:
        """Return references that could not be resolved, by name, by source node, or all."""
        queries = _unresolved_queries(name, sources)
        references: list[types.Unresolved] = []
        with self._source.reading() as db:
            for number in catalog.in_scope(db, scope).values():
                for statement, parameters in queries:
                    missing = row_limit(limit - len(references))
                    rows = db.execute(statement, (number, *parameters, missing))
                    references += map(unresolved_from, rows)
        return references


def _candidates(
    db: sqlite3.Connection, scope: Scope, conditions: NodeConditions
) -> Iterator[types.Node]:
    for name, number in catalog.in_scope(db, scope).items():
        for statement, parameters in conditions.queries():
            rows = db.execute(statement, (number, *parameters))
            yield from merged_nodes(rows, name)


def merged_nodes(rows: Iterable[Row], collection: str) -> Iterator[types.Node]:
    """Yield one node for all rows of a key."""
    for _, same in groupby(rows, key=itemgetter(0)):
        yield merge_nodes([node_from(row, collection) for row in same])


@dataclass(frozen=True, slots=True)
class _CollectionGraph:
    """Implements `CollectionGraph` inside of a transaction."""

    db: sqlite3.Connection
    name: str
    number: int

    def node(self, key: str) -> types.Node | None:
        rows = self.db.execute(_NODE_BY_KEY, (self.number, pack(key)))
        return next(merged_nodes(rows, self.name), None)

    def links(self, key: str, step: types.Step, limit: int = ALL_LINKS) -> list[types.Link]:
        statement = _LINKS_TO if step.back else _LINKS_FROM
        parameters = (self.number, pack(key), json.dumps(step.kinds), limit)
        return [link_from(row, self.name) for row in self.db.execute(statement, parameters)]


def _graphs(db: sqlite3.Connection, scope: Scope) -> Iterator[_CollectionGraph]:
    """Yield the graph of each collection in scope."""
    for name, number in catalog.in_scope(db, scope).items():
        yield _CollectionGraph(db, name, number)


def _unresolved_queries(name: str | None, sources: Sequence[str] | None) -> list[Query]:
    if sources is None and name is None:
        return [(_ALL_UNRESOLVED, ())]
    if sources is None:
        return [(_UNRESOLVED_BY_NAME, (pack(name or ""),))]
    keys = [pack(key) for key in dict.fromkeys(sources)]
    if name is None:
        return [(_UNRESOLVED_BY_SOURCE, (key,)) for key in keys]
    return [(_UNRESOLVED_BY_BOTH, (key, pack(name))) for key in keys]
