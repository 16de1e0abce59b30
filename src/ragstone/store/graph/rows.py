"""Nodes, links, aliases and unresolved references as rows of their tables, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragstone import types
from ragstone.errors import InputError, StoreDamaged
from ragstone.store.codec import dump, load, pack, unpack
from ragstone.store.failures import RESTORE
from ragstone.store.fetch import Row

_FIND: Final = "SELECT {columns}, id FROM graph_{table} WHERE owner = ?"
_ADD: Final = "INSERT INTO graph_{table} ({columns}) VALUES ({values})"
_REMOVE: Final = "DELETE FROM graph_{table} WHERE id = ?"


@dataclass(frozen=True, slots=True)
class GraphTable:
    """The name and the columns of one table; its rows end with the collection and the owner."""

    name: str
    columns: tuple[str, ...]

    @property
    def find(self) -> str:
        """Return the statement that selects the columns and ids of an owner's rows."""
        return _FIND.format(columns=", ".join(self.columns), table=self.name)

    @property
    def add(self) -> str:
        """Return the statement that inserts a row."""
        columns = (*self.columns, "collection", "owner")
        values = ", ".join("?" * len(columns))
        return _ADD.format(columns=", ".join(columns), table=self.name, values=values)

    @property
    def remove(self) -> str:
        """Return the statement that deletes a row by id."""
        return _REMOVE.format(table=self.name)


NODES: Final = GraphTable(
    "nodes",
    (
        *("key", "kind", "name", "uri", "line", "line_end"),
        *("signature", "doc", "language", "framework", "attributes"),
    ),
)
LINKS: Final = GraphTable(
    "links",
    (
        "kind",
        "source",
        "target",
        "uri",
        "line",
        "confidence",
        "conditional",
        "ord",
        "attributes",
    ),
)
ALIASES: Final = GraphTable("aliases", ("folded", "name", "key", "kind", "uri"))
UNRESOLVED: Final = GraphTable(
    "unresolved", ("kind", "source", "name", "receiver", "uri", "line", "reason")
)
TABLES: Final = (NODES, LINKS, ALIASES, UNRESOLVED)


def graph_rows(graph: types.Graph) -> dict[GraphTable, list[Row]]:
    """Return the rows of a graph by table, each row once."""
    return {
        NODES: _unique(map(_node_row, _merge_by_key(graph.nodes))),
        LINKS: _unique(map(_link_row, graph.links)),
        ALIASES: _unique(map(_alias_row, graph.aliases)),
        UNRESOLVED: _unique(map(_unresolved_row, graph.unresolved)),
    }


def _unique(rows: Iterable[Row]) -> list[Row]:
    return list(dict.fromkeys(rows))


# ── nodes ─────────────────────────────────────────────────────────────────────────────────────────


def _merge_by_key(nodes: Iterable[types.Node]) -> list[types.Node]:
    """Return one node for each key; the node of a framework comes first, then the order in the graph."""
    by_key: dict[str, list[types.Node]] = {}
    for node in nodes:
        by_key.setdefault(node.key, []).append(node)
    return [
        merge_nodes(sorted(same, key=lambda node: not node.framework))
        for same in by_key.values()
    ]


def merge_nodes(same: Sequence[types.Node]) -> types.Node:
    """Return the first of several nodes with one key; its empty fields are filled from the others."""
    first = same[0]
    if len(same) == 1:
        return first
    attributes: dict[str, types.Json] = {}
    for node in reversed(same):
        attributes.update(node.attributes)
    located = next((node for node in same if node.uri), first)
    return replace(
        first,
        signature=_first_value(same, "signature"),
        doc=_first_value(same, "doc"),
        language=_first_value(same, "language"),
        framework=_first_value(same, "framework"),
        uri=located.uri,
        line=located.line,
        line_end=max(node.line_end for node in same if node.place == located.place),
        attributes=attributes,
    )


def _first_value(nodes: Sequence[types.Node], field: str) -> str:
    """Return the first value of a field that is not empty."""
    values = (getattr(node, field) for node in nodes)
    return next((value for value in values if value), "")


def _node_row(node: types.Node) -> Row:
    if not node.key:
        raise InputError("a node needs a key", hint="give it one, such as `class:App\\Song`")
    return (
        pack(node.key),
        pack(node.kind),
        pack(node.name),
        pack(node.uri),
        node.line,
        node.line_end,
        pack(node.signature),
        pack(node.doc),
        pack(node.language),
        pack(node.framework),
        dump(node.attributes, f"the attributes of {node.key}"),
    )


def node_from(row: Row, collection: str) -> types.Node:
    """Return the node of a row."""
    key, kind, name, uri, line, line_end, signature, doc, language, framework, attributes = row
    return types.Node(
        key=unpack(key),
        kind=unpack(kind),
        name=unpack(name),
        uri=unpack(uri),
        line=line,
        line_end=line_end,
        signature=unpack(signature),
        doc=unpack(doc),
        language=unpack(language),
        framework=unpack(framework),
        attributes=load(attributes),
        collection=collection,
    )


def outside_node(key: str, collection: str) -> types.Node:
    """Return a node for a link target that no owner put, such as a class of a library."""
    kind, colon, name = key.partition(":")
    return types.Node(key, kind if colon else "", name or key, collection=collection)


# ── links, aliases and unresolved references ──────────────────────────────────────────────────────


def _link_row(link: types.Link) -> Row:
    if link.confidence not in types.CONFIDENCES:
        raise InputError(
            f"a link's confidence is not {link.confidence!r}",
            hint=f"known: {', '.join(types.CONFIDENCES)}",
        )
    return (
        pack(link.kind),
        pack(link.source),
        pack(link.target),
        pack(link.uri),
        link.line,
        link.confidence,
        int(link.conditional),
        link.order,
        dump(link.attributes, f"the attributes of {link.source} {link.kind} {link.target}"),
    )


def link_from(row: Row, collection: str) -> types.Link:
    """Return the link of a row."""
    kind, source, target, uri, line, confidence, conditional, order, attributes = row
    if confidence not in types.CONFIDENCES:
        raise StoreDamaged("the store is damaged: a link of no known confidence", hint=RESTORE)
    return types.Link(
        kind=unpack(kind),
        source=unpack(source),
        target=unpack(target),
        uri=unpack(uri),
        line=line,
        confidence=confidence,
        conditional=bool(conditional),
        order=order,
        attributes=load(attributes),
        collection=collection,
    )


def _alias_row(alias: types.Alias) -> Row:
    return (
        pack(alias.name.casefold()),
        pack(alias.name),
        pack(alias.key),
        pack(alias.kind),
        pack(alias.uri),
    )


def _unresolved_row(reference: types.Unresolved) -> Row:
    return (
        pack(reference.kind),
        pack(reference.source),
        pack(reference.name),
        pack(reference.receiver),
        pack(reference.uri),
        reference.line,
        pack(reference.reason),
    )


def unresolved_from(row: Row) -> types.Unresolved:
    """Return the unresolved reference of a row."""
    kind, source, name, receiver, uri, line, reason = row
    return types.Unresolved(
        unpack(kind),
        unpack(source),
        unpack(name),
        unpack(receiver),
        unpack(uri),
        line,
        unpack(reason),
    )
