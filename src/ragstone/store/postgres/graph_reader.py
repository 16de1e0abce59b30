"""Reads nodes, aliases, links, paths and unresolved references of the code graph from PostgreSQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from ragstone import types
from ragstone.store.fetch import row_limit
from ragstone.store.graph.paths import ALL_LINKS, find_links, find_paths
from ragstone.store.graph.reader import NodeConditions, merged_nodes
from ragstone.store.graph.rows import (
    link_from,
    unresolved_from,
)
from ragstone.store.postgres import catalog
from ragstone.store.postgres.connection import Transaction, TransactionSource
from ragstone.types import CollectionKey, Scope

# Of several rows with one key, the row of a framework comes first.
_NODES: Final = """
    SELECT n.key, n.kind, n.name, n.uri, n.line, n.line_end, n.signature, n.doc, n.language, n.framework, n.attributes
    FROM graph_nodes n JOIN graph_owners o ON o.id = n.owner WHERE n.collection = %(collection)s {condition}
    ORDER BY n.key, n.framework = '', o.owner"""
_ALL_NODES: Final = _NODES.format(condition="")
_NODES_BY_KEY: Final = _NODES.format(condition="AND n.key = ANY(%(values)s::text[])")
_KEY_WITH: Final = """
    AND n.key IN (SELECT key FROM graph_nodes
                  WHERE collection = %(collection)s AND {column} = ANY(%(values)s::text[]))"""
_NODES_OF_KINDS: Final = _NODES.format(condition=_KEY_WITH.format(column="kind"))
_NODES_OF_URIS: Final = _NODES.format(condition=_KEY_WITH.format(column="uri"))
_KINDS: Final = """
    SELECT kind, count(*) FROM (
        SELECT DISTINCT ON (key) kind FROM graph_nodes WHERE collection = %s ORDER BY key, framework = ''
    ) n GROUP BY kind"""
_MOST_LINKED: Final = """
    WITH degrees AS (
        SELECT key, count(*) AS degree FROM (
            SELECT source AS key FROM graph_links WHERE collection = %(collection)s
            UNION ALL
            SELECT target FROM graph_links WHERE collection = %(collection)s
        ) ends GROUP BY key)
    SELECT n.key FROM (
        SELECT DISTINCT key FROM graph_nodes
        WHERE collection = %(collection)s AND kind = ANY(%(kinds)s::text[])
    ) n LEFT JOIN degrees d ON d.key = n.key ORDER BY coalesce(d.degree, 0) DESC, n.key LIMIT %(limit)s"""
_OWNER_STAMPS: Final = "SELECT owner, stamp FROM graph_owners WHERE collection = %s"
_SOME_STAMPS: Final = _OWNER_STAMPS + " AND owner = ANY(%s::text[])"
_OWNER_DATA: Final = (
    "SELECT owner, data FROM graph_owners WHERE collection = %s AND data IS NOT NULL"
)
_ALIASES: Final = """
    SELECT DISTINCT folded, name, key, kind, uri FROM graph_aliases
    WHERE collection = %s AND folded = ANY(%s::text[]) ORDER BY kind, key, uri"""
_LINKS: Final = """
    SELECT kind, source, target, uri, line, confidence, conditional, ord, attributes FROM graph_links
    WHERE collection = %(collection)s AND {end} = %(key)s
      AND (cardinality(%(kinds)s::text[]) = 0 OR kind = ANY(%(kinds)s::text[]))
    ORDER BY kind, ord, id LIMIT %(limit)s"""
_LINKS_FROM: Final = _LINKS.format(end="source")
_LINKS_TO: Final = _LINKS.format(end="target")
_UNRESOLVED: Final = """
    SELECT kind, source, name, receiver, uri, line, reason FROM graph_unresolved
    WHERE collection = %(collection)s {condition} ORDER BY uri, line, id LIMIT %(limit)s"""
_BY_NAME: Final = "AND name = %(name)s"
_BY_SOURCE: Final = "AND source = %(source)s"


class PostgresGraphReader:
    """Implements `GraphReader` on the database or on a snapshot of it."""

    def __init__(self, source: TransactionSource) -> None:
        """Take the source of transactions."""
        self._source = source

    def owner_stamps(
        self, key: CollectionKey, *, owners: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Return the stamp of each owner of a collection, or of some owners."""
        with self._source.reading(key.project) as db:
            collection = catalog.collection_id(db, key)
            if owners is None:
                rows = db.execute(_OWNER_STAMPS, (collection,)).fetchall()
            else:
                rows = db.execute(_SOME_STAMPS, (collection, list(owners))).fetchall()
        return dict(rows)

    def owner_data(self, key: CollectionKey) -> dict[str, bytes]:
        """Return the data that each owner asked to keep for its next run."""
        with self._source.reading(key.project) as db:
            rows = db.execute(_OWNER_DATA, (catalog.collection_id(db, key),)).fetchall()
        return dict(rows)

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
        with self._source.reading(scope.project) as db:
            passing = filter(conditions.holds, _candidates(db, scope, conditions))
            return list(islice(passing, row_limit(limit)))

    def count_kinds(self, scope: Scope) -> dict[str, int]:
        """Return how many nodes there are of each kind, by kind."""
        counts: Counter[str] = Counter()
        with self._source.reading(scope.project) as db:
            for number in catalog.in_scope(db, scope).values():
                counts.update(dict(db.execute(_KINDS, (number,)).fetchall()))
        return dict(sorted(counts.items()))

    def most_linked(self, scope: Scope, kinds: Sequence[str], *, limit: int) -> list[str]:
        """Return the keys of the nodes of some kinds with the most links, at most so many from each collection."""
        keys: list[str] = []
        with self._source.reading(scope.project) as db:
            for number in catalog.in_scope(db, scope).values():
                parameters = {
                    "collection": number,
                    "kinds": list(kinds),
                    "limit": row_limit(limit),
                }
                keys += [key for (key,) in db.execute(_MOST_LINKED, parameters)]
        return keys

    def find_aliases(self, scope: Scope, names: Sequence[str]) -> list[types.Alias]:
        """Return the aliases with one of these names, ignoring case, in the order of the names."""
        folded_names = list(dict.fromkeys(name.casefold() for name in names))
        by_name: dict[str, list[types.Alias]] = {folded: [] for folded in folded_names}
        with self._source.reading(scope.project) as db:
            for collection, number in catalog.in_scope(db, scope).items():
                for folded, name, key, kind, uri in db.execute(
                    _ALIASES, (number, folded_names)
                ):
                    by_name[folded].append(types.Alias(name, key, kind, uri, collection))
        return list(chain.from_iterable(by_name.values()))

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
        with self._source.reading(scope.project) as db:
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
        with self._source.reading(scope.project) as db:
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
        by_name = "" if name is None else _BY_NAME
        by_source = "" if sources is None else _BY_SOURCE
        statement = _UNRESOLVED.format(condition=f"{by_name} {by_source}")
        keys = [""] if sources is None else list(dict.fromkeys(sources))
        references: list[types.Unresolved] = []
        with self._source.reading(scope.project) as db:
            for number in catalog.in_scope(db, scope).values():
                for key in keys:
                    missing = row_limit(limit - len(references))
                    parameters = {"collection": number, "name": name, "source": key}
                    rows = db.execute(statement, {**parameters, "limit": missing})
                    references += map(unresolved_from, rows)
        return references


def _candidates(
    db: Transaction, scope: Scope, conditions: NodeConditions
) -> Iterator[types.Node]:
    for name, number in catalog.in_scope(db, scope).items():
        if conditions.keys is not None:
            yield from _nodes_by_key(db, name, number, conditions.keys)
        elif conditions.uris is not None:
            for uri in dict.fromkeys(conditions.uris):
                yield from _nodes(db, name, number, _NODES_OF_URIS, [uri])
        elif conditions.kinds is not None:
            yield from _nodes(db, name, number, _NODES_OF_KINDS, conditions.kinds)
        else:
            yield from _nodes(db, name, number, _ALL_NODES, ())


def _nodes_by_key(
    db: Transaction, name: str, number: int, keys: Sequence[str]
) -> Iterator[types.Node]:
    """Yield the nodes of some keys in the order of the keys."""
    nodes = _nodes(db, name, number, _NODES_BY_KEY, keys)
    by_key = {node.key: node for node in nodes}
    for key in dict.fromkeys(keys):
        if key in by_key:
            yield by_key[key]


def _nodes(
    db: Transaction, name: str, number: int, statement: str, values: Sequence[str]
) -> Iterator[types.Node]:
    rows = db.execute(statement, {"collection": number, "values": list(values)})
    return merged_nodes(rows, name)


@dataclass(frozen=True, slots=True)
class _CollectionGraph:
    """Implements `CollectionGraph` inside of a transaction."""

    db: Transaction
    name: str
    number: int

    def node(self, key: str) -> types.Node | None:
        return next(_nodes(self.db, self.name, self.number, _NODES_BY_KEY, [key]), None)

    def links(self, key: str, step: types.Step, limit: int = ALL_LINKS) -> list[types.Link]:
        statement = _LINKS_TO if step.back else _LINKS_FROM
        parameters = {
            "collection": self.number,
            "key": key,
            "kinds": list(step.kinds),
            "limit": limit,
        }
        return [link_from(row, self.name) for row in self.db.execute(statement, parameters)]


def _graphs(db: Transaction, scope: Scope) -> Iterator[_CollectionGraph]:
    """Yield the graph of each collection in scope."""
    for name, number in catalog.in_scope(db, scope).items():
        yield _CollectionGraph(db, name, number)
