"""Adds to the metadata of hits what the code graph knows of their lines: framework, routes, tables, symbols."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from ragstone.protocols import GraphReader
from ragstone.types import Hit, Node, Scope
from ragstone.types.documents import Value

_TO_MODELS: Final = ("USES_MODEL", "BINDS")
_TO_TABLES: Final = ("MAPS_TO",)
_MAX_NODES: Final = 5000
_MAX_LINKS: Final = 5000
_MAX_NAMES: Final = 20
"""Routes, tables or symbols of one hit: a base class is connected to all of them."""

_MAX_SOURCE_LINES: Final = 40

LoadText = Callable[[str, str], str | None]
"""Returns the text of a document, by collection and uri; None if it is gone."""
Neighbours = Mapping[str, Sequence[str]]
"""The keys of routes and tables that a node is connected to."""


def with_related(
    graph: GraphReader, scope: Scope, hits: Sequence[Hit], load_text: LoadText
) -> tuple[Hit, ...]:
    """Return the hits with `framework`, `routes`, `tables` and `symbols` in their metadata, as far as they are known.

    The description of a node also gets `source`, the exact lines that it is about, and their numbers as `lines`.
    """
    uris = sorted({_file_of(hit) for hit in hits})
    nodes_by_uri: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for node in graph.nodes(scope, uris=uris, limit=_MAX_NODES):
        nodes_by_uri[node.collection, node.uri].append(node)
    own_nodes = [_nodes_of(hit, nodes_by_uri[hit.collection, _file_of(hit)]) for hit in hits]
    keys = sorted({node.key for node in chain.from_iterable(own_nodes)})
    neighbours = _find_neighbours(graph, scope, keys)
    return tuple(
        _with_metadata(hit, nodes, neighbours, _source_of(hit, nodes, load_text))
        for hit, nodes in zip(hits, own_nodes, strict=True)
    )


def _file_of(hit: Hit) -> str:
    """Return the file of a hit; a description of a node names it in its metadata."""
    if hit.is_summary:
        return str(hit.metadata["file"])
    return hit.source_doc_id


def _nodes_of(hit: Hit, nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes that start on the lines of a hit, or that enclose them."""
    key = hit.metadata.get("key")
    if hit.is_summary:
        return [node for node in nodes if node.key == key]
    first, last = hit.span.line_start, hit.span.line_end
    return [
        node
        for node in nodes
        if first <= node.line <= last or 0 < node.line < first <= node.line_end
    ]


def _find_neighbours(graph: GraphReader, scope: Scope, keys: Sequence[str]) -> Neighbours:
    """Return the routes and tables next to each node; the table of a model that it uses is next to it too."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for link in graph.links(scope, keys, limit=_MAX_LINKS):
        neighbours[link.source].append(link.target)
    for link in graph.links(scope, keys, back=True, limit=_MAX_LINKS):
        neighbours[link.target].append(link.source)
    users: dict[str, list[str]] = defaultdict(list)
    for link in graph.links(scope, keys, kinds=_TO_MODELS, limit=_MAX_LINKS):
        users[link.target].append(link.source)
    for link in graph.links(scope, sorted(users), kinds=_TO_TABLES, limit=_MAX_LINKS):
        for user in users[link.source]:
            neighbours[user].append(link.target)
    return neighbours


def _listed_routes(node: Node) -> list[str]:
    """Return the routes that a group of routes lists."""
    routes = node.attributes.get("routes")
    return [str(route) for route in routes] if isinstance(routes, list) else []


def _source_of(hit: Hit, nodes: Sequence[Node], load_text: LoadText) -> dict[str, Value]:
    """Return the lines of a description's node; nothing for other hits, or if the file is gone."""
    node = next(iter(nodes), None)
    if node is None or not node.line or not hit.is_summary:
        return {}
    text = load_text(hit.collection, node.uri)
    if text is None:
        return {}
    last = min(max(node.line, node.line_end), node.line + _MAX_SOURCE_LINES - 1)
    lines = text.split("\n")[node.line - 1 : last]
    return {"source": "\n".join(lines), "lines": (node.line, node.line + len(lines) - 1)}


def _with_metadata(
    hit: Hit, nodes: Sequence[Node], neighbours: Neighbours, source: Mapping[str, Value]
) -> Hit:
    keys: list[str] = []
    for node in nodes:
        keys.append(node.key)
        keys += [f"route:{route}" for route in _listed_routes(node)]
        keys += neighbours.get(node.key, ())
    frameworks = [node.framework for node in nodes if node.framework]
    related: dict[str, Value] = {
        "framework": next(iter(frameworks), ""),
        "routes": _names(keys, "route"),
        "tables": _names(keys, "table"),
        "symbols": tuple(hit.symbol.split())[:_MAX_NAMES],
        **source,
    }
    known = {name: value for name, value in related.items() if value}
    return replace(hit, metadata={**known, **hit.metadata})


def _names(keys: Iterable[str], kind: str) -> tuple[str, ...]:
    """Return the names in the keys of a kind: `route:GET books` gives `GET books`, `table:books#2` gives `books`."""
    names: dict[str, None] = {}
    for key in keys:
        own_kind, _, name = key.partition(":")
        if own_kind == kind:
            names[name.partition("#")[0]] = None
    return tuple(names)[:_MAX_NAMES]
