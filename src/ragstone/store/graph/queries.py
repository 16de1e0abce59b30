"""Reads nodes, aliases, links, paths and unresolved references."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Final

from ragstone.errors import InputError
from ragstone.store import catalog
from ragstone.store.codec import pack, unpack
from ragstone.store.documents import row_limit
from ragstone.store.graph.rows import (
    Row,
    link_from,
    merge_nodes,
    node_from,
    outside_node,
    unresolved_from,
)
from ragstone.types import Alias, Link, Node, Scope, Step, Unresolved, Walked

MOST_STEPS: Final = 8
# Of several rows with one key, the row of a framework comes first.
_NODES: Final = """
    SELECT n.key, n.kind, n.name, n.uri, n.line, n.line_end, n.signature, n.doc, n.language, n.framework, n.attributes
    FROM graph_nodes n JOIN graph_owners o ON o.id = n.owner WHERE n.collection = ?1 AND {condition}
    ORDER BY n.key, n.framework = '', o.owner"""
_NODE_BY_KEY: Final = _NODES.format(condition="n.key = ?2")
_ALL_NODES: Final = _NODES.format(condition="?2 = ''")
_KEY_WITH: Final = "n.key IN (SELECT key FROM graph_nodes WHERE collection = ?1 AND {condition})"
_NODES_OF_KINDS: Final = _NODES.format(
    condition=_KEY_WITH.format(condition="kind IN (SELECT value FROM json_each(?2))")
)
_NODES_OF_URI: Final = _NODES.format(condition=_KEY_WITH.format(condition="uri = ?2"))
_ALIASES: Final = """
    SELECT DISTINCT name, key, kind, uri FROM graph_aliases WHERE collection = ? AND folded = ?
    ORDER BY kind, key, uri"""
_LINKS: Final = """
    SELECT kind, source, target, uri, line, confidence, conditional, ord, attributes FROM graph_links
    WHERE collection = ? AND {end} = ? AND (? = '[]' OR kind IN (SELECT value FROM json_each(?)))
    ORDER BY kind, ord, id LIMIT ?"""
_LINKS_FROM: Final = _LINKS.format(end="source")
_LINKS_TO: Final = _LINKS.format(end="target")
_UNRESOLVED: Final = """
    SELECT kind, source, name, receiver, uri, line, reason FROM graph_unresolved WHERE collection = ? AND {condition}
    ORDER BY uri, line, id LIMIT ?"""
_ALL_UNRESOLVED: Final = _UNRESOLVED.format(condition="1")
_UNRESOLVED_BY_NAME: Final = _UNRESOLVED.format(condition="name = ?")
_UNRESOLVED_BY_SOURCE: Final = _UNRESOLVED.format(
    condition="source = ? AND (? IS NULL OR name = ?)"
)
_ALL_LINKS: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class NodeConditions:
    """Conditions on nodes: keys, kinds and files. None allows any."""

    keys: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    uris: Sequence[str] | None = None

    def holds(self, node: Node) -> bool:
        """Return whether a node has one of the kinds and one of the files."""
        has_kind = self.kinds is None or node.kind in self.kinds
        return has_kind and (self.uris is None or node.uri in self.uris)

    def queries(self) -> list[tuple[str, str | bytes]]:
        """Return the statements with their parameters that select all nodes that can pass."""
        if self.keys is not None:
            return [(_NODE_BY_KEY, pack(key)) for key in dict.fromkeys(self.keys)]
        if self.uris is not None:
            return [(_NODES_OF_URI, pack(uri)) for uri in dict.fromkeys(self.uris)]
        if self.kinds is not None:
            return [(_NODES_OF_KINDS, json.dumps(list(self.kinds)))]
        return [(_ALL_NODES, "")]


def nodes(
    db: sqlite3.Connection, scope: Scope, conditions: NodeConditions, limit: int
) -> list[Node]:
    """Return nodes that pass all conditions, in the order of the keys, else by collection and key."""
    matching = (node for node in _candidates(db, scope, conditions) if conditions.holds(node))
    return list(islice(matching, row_limit(limit)))


def _candidates(db: sqlite3.Connection, scope: Scope, conditions: NodeConditions) -> Iterator[Node]:
    for name, number in catalog.in_scope(db, scope).items():
        for statement, parameter in conditions.queries():
            yield from _merged_nodes(db.execute(statement, (number, parameter)), name)


def _merged_nodes(rows: sqlite3.Cursor, collection: str) -> Iterator[Node]:
    """Yield one node for all rows of a key."""
    for _, same in groupby(rows, key=itemgetter(0)):
        yield merge_nodes([node_from(row, collection) for row in same])


def find_aliases(db: sqlite3.Connection, scope: Scope, names: Sequence[str]) -> list[Alias]:
    """Return the aliases with one of these names, ignoring case, in the order of the names."""
    collections = catalog.in_scope(db, scope).items()
    aliases = []
    for folded in dict.fromkeys(name.casefold() for name in names):
        for collection, number in collections:
            for name, key, kind, uri in db.execute(_ALIASES, (number, pack(folded))):
                aliases.append(
                    Alias(unpack(name), unpack(key), unpack(kind), unpack(uri), collection)
                )
    return aliases


def links(
    db: sqlite3.Connection, scope: Scope, keys: Sequence[str], step: Step, limit: int
) -> list[Link]:
    """Return the links of one step from these nodes: by key, then by kind, in their order."""
    result: list[Link] = []
    for name, number in catalog.in_scope(db, scope).items():
        for key in dict.fromkeys(keys):
            missing = row_limit(limit) - len(result)
            if missing <= 0:
                return result
            result += _links_at(db, (name, number), key, step, missing)
    return result


def _links_at(
    db: sqlite3.Connection,
    collection: tuple[str, int],
    key: str,
    step: Step,
    limit: int = _ALL_LINKS,
) -> list[Link]:
    name, number = collection
    kinds = json.dumps(step.kinds)
    rows = db.execute(
        _LINKS_TO if step.back else _LINKS_FROM, (number, pack(key), kinds, kinds, limit)
    )
    return [link_from(row, name) for row in rows]


def unresolved(
    db: sqlite3.Connection,
    scope: Scope,
    *,
    name: str | None,
    sources: Sequence[str] | None,
    limit: int,
) -> list[Unresolved]:
    """Return references that could not be resolved, by name, by source node, or all."""
    references: list[Unresolved] = []
    packed = None if name is None else pack(name)
    for number in catalog.in_scope(db, scope).values():
        queries: list[tuple[str, Row]]
        if sources is not None:
            queries = [
                (_UNRESOLVED_BY_SOURCE, (pack(key), packed, packed))
                for key in dict.fromkeys(sources)
            ]
        elif packed is not None:
            queries = [(_UNRESOLVED_BY_NAME, (packed,))]
        else:
            queries = [(_ALL_UNRESOLVED, ())]
        for statement, parameters in queries:
            missing = row_limit(limit - len(references))
            references += map(
                unresolved_from, db.execute(statement, (number, *parameters, missing))
            )
    return references


# ── paths ─────────────────────────────────────────────────────────────────────────────────────────


def walk(
    db: sqlite3.Connection,
    scope: Scope,
    anchors: Sequence[str],
    steps: Sequence[Step],
    *,
    limit: int,
) -> list[Walked]:
    """Return the paths from the anchors along all of the steps; no path visits a node twice."""
    if len(steps) > MOST_STEPS:
        raise InputError(f"a path has at most {MOST_STEPS} steps", hint="ask for the parts of it")
    return list(islice(_all_paths(db, scope, anchors, steps), row_limit(limit)))


def _all_paths(
    db: sqlite3.Connection, scope: Scope, anchors: Sequence[str], steps: Sequence[Step]
) -> Iterator[Walked]:
    for name, number in catalog.in_scope(db, scope).items():
        walker = _PathWalker(db, name, number)
        for anchor in dict.fromkeys(anchors):
            for path in walker.paths([anchor], steps):
                if path or walker.node(anchor):
                    yield walker.walked(anchor, path, steps)


class _PathWalker:
    """Follows links inside of one collection; links and nodes are read once."""

    def __init__(self, db: sqlite3.Connection, name: str, number: int) -> None:
        self._db = db
        self._name = name
        self._number = number
        self._nodes: dict[str, Node | None] = {}
        self._links: dict[tuple[str, Step], list[Link]] = {}

    def paths(self, visited: list[str], steps: Sequence[Step]) -> Iterator[tuple[Link, ...]]:
        """Yield the links of every path from the last visited node, in the order of the links."""
        if not steps:
            yield ()
            return
        step = steps[0]
        for link in self._links_of(visited[-1], step):
            key = _end(link, step)
            if key in visited or (step.to and self._kind(key) not in step.to):
                continue
            for rest in self.paths([*visited, key], steps[1:]):
                yield (link, *rest)

    def walked(self, anchor: str, path: Sequence[Link], steps: Sequence[Step]) -> Walked:
        """Return a path with its nodes."""
        keys = [anchor, *(_end(link, step) for link, step in zip(path, steps, strict=True))]
        nodes = tuple(self.node(key) or outside_node(key, self._name) for key in keys)
        return Walked(nodes, tuple(path))

    def node(self, key: str) -> Node | None:
        """Return the node of a key, or None."""
        if key not in self._nodes:
            rows = self._db.execute(_NODE_BY_KEY, (self._number, pack(key)))
            self._nodes[key] = next(_merged_nodes(rows, self._name), None)
        return self._nodes[key]

    def _kind(self, key: str) -> str:
        return (self.node(key) or outside_node(key, self._name)).kind

    def _links_of(self, key: str, step: Step) -> list[Link]:
        if (key, step) not in self._links:
            self._links[key, step] = _links_at(self._db, (self._name, self._number), key, step)
        return self._links[key, step]


def _end(link: Link, step: Step) -> str:
    """Return the node that a step along a link leads to."""
    return link.source if step.back else link.target
