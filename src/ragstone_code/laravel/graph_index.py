"""An index of a graph: nodes by key, links by source and by target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from ragstone.types import Graph, Link, Node


class GraphIndex:
    """Looks up the nodes and links of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Return the nodes by key; a framework's node wins over a plain one."""
        nodes: dict[str, Node] = {}
        for node in self._graph.nodes:
            existing = nodes.get(node.key)
            if existing is None or (node.framework and not existing.framework):
                nodes[node.key] = node
        return nodes

    @cached_property
    def _by_source(self) -> dict[tuple[str, str], list[Link]]:
        """Return the links by kind and source."""
        links = defaultdict(list)
        for link in self._graph.links:
            links[link.kind, link.source].append(link)
        return links

    @cached_property
    def _by_target(self) -> dict[tuple[str, str], list[Link]]:
        """Return the links by kind and target."""
        links = defaultdict(list)
        for link in self._graph.links:
            links[link.kind, link.target].append(link)
        return links

    def links_from(self, kind: str, key: str) -> list[Link]:
        """Return the links of a kind that start at a node, sorted by their order."""
        return sorted(self._by_source.get((kind, key), ()), key=lambda link: link.order)

    def links_to(self, kind: str, key: str) -> list[Link]:
        """Return the links of a kind that end at a node."""
        return self._by_target.get((kind, key), [])

    def nodes_of(self, *kinds: str) -> Iterator[Node]:
        """Yield the nodes of these kinds."""
        return (node for node in self.nodes.values() if node.kind in kinds)
